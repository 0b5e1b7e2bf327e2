//! Servers that no SDK would make: they write what they want.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

/// Serves in a hostile way until the input ends.
pub(crate) fn serve(mode: &str) {
    let mut output = std::io::stdout().lock();
    let mut asked = 0;
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let Some(id) = request.get("id") else { continue };
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": name(mode), "version": "1"}
            }),
            Some("tools/list") => {
                asked += 1;
                list(mode, asked)
            }
            _ => json!({"content": [{"type": "text", "text": "done"}]}),
        };
        writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result})).unwrap();
        output.flush().unwrap();
        if mode == "asking" && asked == 1 {
            // Asks forever, and reads no answer.
            for id in 0_u64.. {
                if writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "ping"})).is_err() {
                    return;
                }
                eprintln!("{id}");
            }
        }
    }
}

fn name(mode: &str) -> String {
    if mode == "named" { "n".repeat(1 << 20) } else { "hostile".to_owned() }
}

fn list(mode: &str, page: usize) -> Value {
    let tool = |name: &str, description: &str| json!({"name": name, "description": description, "inputSchema": {}});
    let many = |count: usize| -> Vec<Value> { (0..count).map(|_| tool("a", "")).collect() };
    match mode {
        "empty pages" => json!({"tools": [], "nextCursor": format!("{page}")}),
        "long pages" => {
            json!({"tools": [tool(&format!("t{page}"), &"a".repeat(4 << 20))], "nextCursor": format!("{page}")})
        }
        "kept pages" => json!({"tools": [tool(&format!("t{page}"), "")], "ttlMs": 3_600_000}),
        "too many" => json!({"tools": many(10_001)}),
        "alike" => json!({"tools": many(2_000)}),
        _ => json!({"tools": many(1)}),
    }
}

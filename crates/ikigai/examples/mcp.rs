//! A model uses the tools of an MCP server, either a program or a URL:
//! `cargo run -p ikigai-ai --features mcp --example mcp -- PROGRAM [ARGUMENT…]`, or `-- https://example.org/mcp`

#![expect(clippy::print_stdout, reason = "an example shows what it gets")]

use ikigai::mcp::Server;

#[tokio::main]
async fn main() -> Result<(), ikigai::Error> {
    let mut words = std::env::args().skip(1);
    let program = words.next().unwrap_or_else(|| "mcp-server".to_owned());
    let server = if program.starts_with("http") { Server::url(program) } else { Server::command(program, words) };
    let server = server.name("box").connect().await?;
    let tools = server.tools().await?;
    for tool in &tools {
        let name = tool.definition().name().unwrap_or_default();
        println!("{name}{}", if tool.hints().may_change() { " (may change)" } else { "" });
    }
    let model = ikigai::model("anthropic:claude-haiku-4-5")?.tools(tools);
    println!("{}", model.ask("Call box__echo with text=\"hello\".").await?);
    Ok(())
}

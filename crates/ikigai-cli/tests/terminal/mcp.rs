//! MCP servers that do not start.

use std::time::{Duration, Instant};

use crate::support::House;

/// Whether the process with this id is still running.
fn runs(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid.trim()).exists()
}

#[test]
fn a_broken_server_is_told_at_once_and_one_that_never_answers_ends_with_the_chat() {
    let house = House::new("");
    let mute = "echo $$ > mute.pid; trap '' TERM HUP; while :; do sleep 1; done";
    let servers =
        format!("[mcp.broken]\ncommand = [\"no-such-program\"]\n[mcp.mute]\ncommand = [\"sh\", \"-c\", \"{mute}\"]\n");
    std::fs::write(house.home("config.toml"), servers).unwrap();
    let terminal = house.open(100, 20, "-m claude-sonnet-4-5");
    let screen = terminal.settled("MCP server broken:");
    assert!(screen.contains("no-such-program"), "{screen}");
    terminal.line("/mcp");
    let screen = terminal.settled("mute · connecting");
    assert!(screen.contains("✗ broken:"), "{screen}");
    let pid = std::fs::read_to_string(house.work("mute.pid")).unwrap();
    assert!(runs(&pid));
    terminal.press("C-d");
    terminal.wait("ended with 0");
    let began = Instant::now();
    while runs(&pid) {
        assert!(began.elapsed() < Duration::from_secs(5), "the server still runs");
        std::thread::sleep(Duration::from_millis(50));
    }
}

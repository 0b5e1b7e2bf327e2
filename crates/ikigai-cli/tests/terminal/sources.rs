//! Answers for which the provider searched the web: the display during the search, the marks, and the sources.

use crate::support::House;

const SCRIPT: &str = r##"
[[reply]]
when = { text = "Oslo" }
times = 0

[reply.response]
model = "claude-sonnet-4-5"
finish_reason = "stop"
content = [
    { type = "provider_call", id = "srvtoolu_1", tool = "web_search", name = "web_search", arguments = { query = "population of Oslo" } },
    { type = "provider_result", call_id = "srvtoolu_1", tool = "web_search", sources = [
        { url = "https://www.ssb.no/en", title = "Statistics Norway" },
        { url = "https://example.org/cities", title = "A list of cities" },
    ] },
    { type = "text", text = "Oslo is the **capital** of Norway", citations = [
        { source = { type = "url", url = "https://en.wikipedia.org/wiki/Oslo", title = "Oslo \u001b]0;title\u0007\u202e" }, cited_text = "Oslo is the capital of Norway." },
    ] },
    { type = "text", text = " and has 717 710 inhabitants.", citations = [
        { source = { type = "url", url = "https://www.ssb.no/en", title = "Statistics Norway" }, cited_text = "Oslo: 717 710" },
    ] },
]
[reply.response.usage]
input_tokens = 100
output_tokens = 20
provider_calls = { web_search = 1 }

[[reply]]
when = { text = "slow search" }
fault = "slow_drip,ms=700"

[reply.response]
model = "claude-sonnet-4-5"
finish_reason = "stop"
content = [
    { type = "provider_call", id = "srvtoolu_1", tool = "web_search", name = "web_search", arguments = { query = "snails" } },
    { type = "text", text = "They are slow." },
]
"##;

fn searched(columns: u16) {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d\.\d s", "[t] s");
    settings.add_filter(r"--resume [0-9a-f]+", "--resume [id]");
    let _filters = settings.bind_to_scope();
    let house = House::new(SCRIPT);
    let terminal = house.open(columns, 40, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("/tools web_search on");
    terminal.settled("web_search is on in this conversation.");
    terminal.line("Tell me about Oslo");
    let screen = terminal.settled("first text");
    insta::assert_snapshot!(format!("searched-{columns}"), screen);
    terminal.clear();
    terminal.line("/sources");
    insta::assert_snapshot!(format!("sources-{columns}"), terminal.settled("Found, but not cited"));
    terminal.line("/cost");
    terminal.settled("In this branch: 1 web_search not priced");
    terminal.press("C-d");
    terminal.wait("ended with 0");
    drop(terminal);
    // The conversation when shown again, and what it remembers.
    let terminal = house.open(columns, 40, "--continue --no-tools");
    terminal.settled("2 messages");
    terminal.line("/tools");
    insta::assert_snapshot!(format!("resumed-{columns}"), terminal.settled("code_execution"));
}

#[test]
fn an_answer_with_sources_is_seen_at_80_columns() {
    searched(80);
}

#[test]
fn an_answer_with_sources_is_seen_at_120_columns() {
    searched(120);
}

#[test]
fn the_status_says_that_the_provider_searches() {
    let house = House::new(SCRIPT);
    let terminal = house.open(80, 20, "-m claude-sonnet-4-5 --no-tools");
    terminal.line("/tools web_search on");
    terminal.line("a slow search, please");
    terminal.wait("searching: snails");
    terminal.key("Escape");
    terminal.settled("Stopped");
}

#[test]
fn a_model_without_the_tool_is_told_at_once() {
    let house = House::new("");
    let terminal = house.open_with(100, 20, "DEEPSEEK_API_KEY=sk-test", "-m deepseek:deepseek-chat --no-tools");
    terminal.line("/tools web_search on");
    terminal.settled("dropped: web_search (this API has no such tool)");
    terminal.line("/tools telepathy on");
    terminal.settled("no provider runs `telepathy`");
    terminal.line("/sources");
    terminal.settled("There are no sources.");
}

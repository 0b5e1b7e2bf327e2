//! The test server as a program.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a server that fails is a test that fails"
)]

mod hostile_main;
mod server;

use std::time::Duration;

use rmcp::ServiceExt as _;
use server::TestServer;

/// `mcp_test_server [fail|silent|chatty|endless|orphan|HOSTILE] [NOTE]`
#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let mode = words.next().unwrap_or_default();
    let mut server = TestServer { note: words.next().map(Into::into), ..TestServer::default() };
    match mode.as_str() {
        "fail" => {
            eprintln!("reading the settings\nno such database; the token is {}", std::env::var("TOKEN").unwrap());
            std::process::exit(3);
        }
        "silent" => tokio::time::sleep(Duration::from_secs(600)).await,
        "chatty" => {
            // More than a pipe holds: the program hangs unless somebody reads it.
            eprintln!("{}", "blah ".repeat(100_000));
            println!("this line is no JSON");
        }
        "endless" => server.endless = true,
        // Starts another program, which holds its output open.
        "orphan" => {
            server.child = Some(std::process::Command::new("sleep").arg("600").spawn().unwrap().id());
        }
        "" => {}
        hostile => return hostile_main::serve(hostile),
    }
    server.serve(rmcp::transport::stdio()).await.unwrap().waiting().await.unwrap();
}

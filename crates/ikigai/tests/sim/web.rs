//! The web server example, with the simulator as the provider.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use ikigai_sim::Sim;
use pretty_assertions::assert_eq;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::examples::example;
use crate::support;

/// Returns what a browser gets for a message: the data of all events, concatenated.
async fn say(host: &str, text: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
    let request =
        format!("POST / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{text}", text.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("content-type: text/event-stream"), "{answer}");
    answer.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_goes_to_the_browser_as_it_is_written() {
    let sim = Sim::start().await.unwrap();
    let mut command = Command::new(example("web"));
    command.env_clear().envs(support::variables(&sim));
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let host = line.trim().strip_prefix("http://").unwrap().to_owned();
    let first = say(&host, "My favourite number is 7.").await;
    let second = say(&host, "What is my favourite number?").await;
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(first.contains("My favourite number is 7."), "{first}");
    assert_eq!(second, "Your favourite number is 7.");
}

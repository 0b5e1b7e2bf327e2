//! The memory that the gateway holds for a client that waits, and for one whose answer is being written.
//!
//! A separate binary, because its allocator counts. Client and provider are plain sockets, so that only the gateway's
//! memory is counted.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may panic and tell as tests may")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use ikigai::config::Environment;
use ikigai_gateway::{Config, Gateway, Setup};
use peak_alloc::PeakAlloc;
use tokio::runtime::Runtime;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const KEY: &str = "the-key-of-a-client-in-tests";
/// Streams that are opened before anything is counted, and those that are counted.
const BEFORE: usize = 20;
const COUNTED: usize = 200;

const QUESTION: &str = "What is the capital of France?";

/// The beginnings of a streamed answer, in two dialects.
const CHAT: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
                    \"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hello\"}}]}\n\n";
const MESSAGES: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\
    \"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\
    \"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n\
    event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
    event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n";

/// Clients of a gateway, and the provider behind it, with both ends in hand.
struct House {
    address: std::net::SocketAddr,
    provider: TcpListener,
    clients: Vec<TcpStream>,
    providers: Vec<TcpStream>,
}

impl House {
    fn open(runtime: &Runtime) -> (Self, Gateway) {
        let provider = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = provider.local_addr().unwrap();
        let text = format!(
            "listen = \"127.0.0.1:0\"\nauth.keys = [\"env:CLIENT_KEY\"]\n\
             [providers.openai]\nbase_url = \"http://{url}\"\napi_key = \"env:CLIENT_KEY\"\n\
             [providers.anthropic]\nbase_url = \"http://{url}\"\napi_key = \"env:CLIENT_KEY\"\n\
             [models.same]\ntargets = [{{ model = \"openai:m\", dialect = \"openai-chat\" }}]\n\
             [models.other]\ntargets = [\"anthropic:m\"]\n"
        );
        let environment = Environment::of([("CLIENT_KEY", KEY)]);
        let config = Config::read("test.toml", &text, &environment).unwrap();
        let gateway = runtime.block_on(Gateway::start(config, Setup::new(environment).unwrap())).unwrap();
        let room = || Vec::with_capacity(BEFORE + COUNTED);
        (House { address: gateway.address(), provider, clients: room(), providers: room() }, gateway)
    }

    /// This many more clients ask for a stream, and wait.
    fn ask(&mut self, model: &str, count: usize) {
        for _ in 0..count {
            let mut client = TcpStream::connect(self.address).unwrap();
            let body = format!(
                "{{\"model\":\"{model}\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\"content\":\"{QUESTION}\"}}]}}"
            );
            let length = body.len();
            let request = format!(
                "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n\
                 content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            );
            client.write_all(request.as_bytes()).unwrap();
            self.clients.push(client);
            let (mut provider, _) = self.provider.accept().unwrap();
            read_until(&mut provider, QUESTION);
            self.providers.push(provider);
        }
    }

    /// The latest clients get the beginning of their answers.
    fn begin(&mut self, events: &str, count: usize) {
        let new = self.clients.len() - count;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let answer = format!("{head}{:x}\r\n{events}\r\n", events.len());
        for provider in self.providers.iter_mut().skip(new) {
            provider.write_all(answer.as_bytes()).unwrap();
        }
        for client in self.clients.iter_mut().skip(new) {
            read_until(client, "Hello");
        }
    }
}

/// Reads until a word has arrived.
fn read_until(stream: &mut TcpStream, word: &str) {
    let mut piece = [0; 4096];
    let mut read = String::new();
    while !read.contains(word) {
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "closed: {read}");
        read.push_str(&String::from_utf8_lossy(piece.get(..length).unwrap_or_default()));
    }
}

#[test]
fn an_open_stream_takes_little() {
    let runtime = Runtime::new().unwrap();
    for (model, events, most) in [("same", CHAT, 56_000), ("other", MESSAGES, 66_000)] {
        let (mut house, gateway) = House::open(&runtime);
        house.ask(model, BEFORE);
        house.begin(events, BEFORE);
        let before = MEMORY.current_usage();
        house.ask(model, COUNTED);
        let waiting = MEMORY.current_usage().saturating_sub(before) / COUNTED;
        house.begin(events, COUNTED);
        let open = MEMORY.current_usage().saturating_sub(before) / COUNTED;
        // Most of it is hyper's buffers. Half of them is never written to, and so takes none of the system's memory.
        println!("{model}: {waiting} bytes for a client that waits, {open} for an open stream");
        assert!(waiting <= 82_000, "{model}: {waiting} bytes for a client that waits");
        assert!(open <= most, "{model}: {open} bytes for an open stream");
        drop((house, gateway));
    }
}

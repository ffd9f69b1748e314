//! The stub model's server: 127.0.0.1 on a free port, one thread a connection, every request kept in memory.
//!
//! It stops when dropped: the listener is woken, open connections are shut down, a hanging step gives up. A path that is no
//! model request is answered as well as a host needs (`HEAD`, a list of models, a token count) or with 404, and is recorded
//! as [`Kind::Unknown`], so that a host's new habit is seen.

use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::http::{self, HttpReply, HttpRequest};
use super::request::{Kind, Request, containing};
use super::script::Script;
use super::turn::Action;
use super::wire::{self, Wire};

/// A running stub model.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    script: Mutex<Script>,
    requests: Mutex<Vec<Request>>,
    open: Mutex<Vec<TcpStream>>,
    stopping: AtomicBool,
    began: Instant,
}

impl Server {
    /// Listens on a free port of 127.0.0.1 and answers from the script.
    ///
    /// # Errors
    /// The port could not be opened.
    pub fn start(script: Script) -> io::Result<Self> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = socket.local_addr()?;
        let shared = Arc::new(Shared {
            script: Mutex::new(script),
            requests: Mutex::default(),
            open: Mutex::default(),
            stopping: AtomicBool::new(false),
            began: Instant::now(),
        });
        let listener = thread::spawn({
            let shared = Arc::clone(&shared);
            move || listen(&socket, &shared)
        });
        Ok(Self {
            address,
            shared,
            listener: Some(listener),
        })
    }

    /// `http://127.0.0.1:<port>`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, in order.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// How many model requests have come so far.
    #[must_use]
    pub fn model_request_count(&self) -> usize {
        lock(&self.shared.requests)
            .iter()
            .filter(|request| request.is_model())
            .count()
    }

    /// Whether a request was answered, or is being answered, by this step of the script.
    #[must_use]
    pub fn has_reached(&self, step: &str) -> bool {
        lock(&self.shared.requests)
            .iter()
            .any(|request| request.step == step)
    }

    /// The numbers of the model requests in whose body a string contains `text`.
    #[must_use]
    pub fn model_requests_containing(&self, text: &str) -> Vec<usize> {
        containing(&lock(&self.shared.requests), text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Wakes the listener, which sees that it is to stop; after it no connection is added.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_ok();
        if let (Some(listener), true) = (self.listener.take(), woken) {
            let _ = listener.join();
        }
        for stream in lock(&self.shared.open).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn listen(socket: &TcpListener, shared: &Arc<Shared>) {
    for stream in socket.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if let Ok(copy) = stream.try_clone() {
            lock(&shared.open).push(copy);
        }
        let shared = Arc::clone(shared);
        // A connection that breaks is the host's business: it shows in the requests that are missing.
        thread::spawn(move || drop(shared.converse(&stream)));
    }
}

impl Shared {
    fn converse(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        let mut writer = stream;
        while let Some(request) = http::read(&mut reader, &mut writer)? {
            let reply = self.reply(&request);
            http::write(&mut writer, &reply, request.method == "HEAD", request.keep)?;
            if !request.keep {
                break;
            }
        }
        stream.shutdown(Shutdown::Both)
    }

    fn reply(&self, request: &HttpRequest) -> HttpReply {
        let path = request.target.split('?').next().unwrap_or_default();
        if matches!(request.method.as_str(), "HEAD" | "GET") {
            self.note(request, None, Kind::Get, "", Value::Null);
            return other(path);
        }
        if request.encoded {
            self.note(request, None, Kind::Unknown, "", Value::Null);
            return HttpReply::json(
                415,
                &json!({"error": {"message": "the stub model reads no compressed bodies"}}),
            );
        }
        let body = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let lower = path.to_ascii_lowercase();
        if lower.contains("count") && lower.contains("token") {
            self.note(request, None, Kind::Count, "", body);
            return HttpReply::json(200, &json!({"input_tokens": 1000, "totalTokens": 1000}));
        }
        let Some(wire) = wire::serving(path) else {
            self.note(request, None, Kind::Unknown, "", body);
            return HttpReply::json(
                404,
                &json!({"error": {"message": format!("no such path: {path}")}}),
            );
        };
        self.model(wire, request, &body)
    }

    fn model(&self, wire: &'static dyn Wire, request: &HttpRequest, body: &Value) -> HttpReply {
        let turn = wire.read(body);
        let planned = lock(&self.script).plan(&turn);
        self.note(
            request,
            Some(wire.name()),
            planned.kind,
            &planned.step,
            body.clone(),
        );
        self.pause(planned.delay);
        if let Action::Fail(status) = planned.action {
            let retry = planned.retry_after.filter(|_| status == 429);
            let extra = retry.map(|seconds| ("retry-after", seconds.to_string()));
            return HttpReply {
                extra: extra.into_iter().collect(),
                ..HttpReply::json(status, &wire.error(status))
            };
        }
        let answer = wire.answer(body, &turn, &planned.action, planned.tokens);
        if wire.streams(&request.target, body) {
            HttpReply::events(&answer.events)
        } else {
            HttpReply::json(200, &answer.whole)
        }
    }

    fn note(&self, request: &HttpRequest, wire: Option<&'static str>, kind: Kind, step: &str, body: Value) {
        let mut requests = lock(&self.requests);
        let n = requests.len() + 1;
        let (method, path) = (request.method.clone(), request.target.clone());
        requests.push(Request {
            n,
            at: self.began.elapsed(),
            method,
            path,
            wire,
            kind,
            step: step.to_owned(),
            body,
        });
    }

    /// Waits, but not past the end of the server.
    fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.stopping.load(Ordering::SeqCst) && Instant::now() < until {
            thread::sleep(Duration::from_millis(20).min(time));
        }
    }
}

fn other(path: &str) -> HttpReply {
    if path.ends_with("/models") {
        return HttpReply::json(
            200,
            &json!({"object": "list", "data": [{"id": "example-model", "object": "model"}], "models": [], "has_more": false}),
        );
    }
    if path == "/" {
        return HttpReply::json(200, &json!({}));
    }
    HttpReply::json(404, &json!({"error": {"message": "not here"}}))
}

/// A poisoned lock only says that another thread of the stub died: what it guards is still the record of what came.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::path::Path;

    fn exchange(server: &Server, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn post(path: &str, body: &Value) -> String {
        let body = body.to_string();
        format!(
            "POST {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    fn server(steps: &str) -> Server {
        Server::start(Script::new(steps, Path::new("/p")).unwrap()).unwrap()
    }

    #[test]
    fn a_conversation_is_answered_and_recorded() {
        let server = server("bash http429");
        let ask = json!({"model": "m", "stream": true, "tools": [{"name": "Bash"}], "messages": [{"role": "user", "content": "a \"quoted\"\nword"}]});
        let first = exchange(&server, &post("/v1/messages?beta=true", &ask));
        assert!(
            first.starts_with("HTTP/1.1 200") && first.contains("event: message_stop"),
            "{first}"
        );
        let second = exchange(&server, &post("/v1/messages", &ask));
        assert!(
            second.starts_with("HTTP/1.1 429") && second.contains("retry-after: 1"),
            "{second}"
        );
        let other = exchange(&server, &post("/v1/telemetry", &json!({})));
        assert!(other.starts_with("HTTP/1.1 404"), "{other}");
        let kinds: Vec<_> = server.requests().iter().map(|request| request.kind).collect();
        assert_eq!(kinds, [Kind::Main, Kind::Main, Kind::Unknown]);
        assert_eq!(server.model_requests_containing("\"quoted\"\nword"), [1, 2]);
        assert!(server.model_requests_containing("absent").is_empty());
    }

    #[test]
    fn dropping_the_server_ends_a_hanging_answer() {
        let server = server("hang:60");
        let mut stream = TcpStream::connect(server.address).unwrap();
        let ask = json!({"tools": [{"name": "Bash"}], "messages": []});
        stream.write_all(post("/v1/messages", &ask).as_bytes()).unwrap();
        assert!(super::super::wait_until(Duration::from_secs(5), || server
            .model_request_count()
            == 1));
        let began = Instant::now();
        let address = server.address;
        drop(server);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(began.elapsed() < Duration::from_secs(5));
        assert!(TcpStream::connect(address).is_err());
    }
}

//! The frame of a hook process: bounded stdin, decode, handle, encode, exit 0. It knows no host and no store.
//!
//! Whatever goes wrong in here, the host goes on: the exit code is 0 after a panic too (elsewhere a crash
//! denies the user's tool call), nothing is printed on stderr (two hosts read it as the answer), and on
//! stdout stands nothing or exactly one JSON document and a newline.

pub mod payload;
mod signals;
mod stdin;
mod tool_env;

use std::io::Write;

use serde_json::Value;

use crate::clock::{self, Stopwatch};
use crate::config::{self, Config};
use crate::dispatch::{self, Stores};
use crate::event::Event;
use crate::hook::Hook;
use crate::hosts::{self, Host, Surroundings};
use crate::live::duplicate;
use crate::live::key::SessionKey;
use crate::process;
use stdin::Input;

/// What a registration passes on the command line.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// `--host`.
    pub host: Option<Host>,
    /// `--event`, for payloads that do not name theirs.
    pub event: Option<String>,
}

impl Arguments {
    /// Reads the two options; anything else is ignored: a hook never fails for its arguments.
    #[must_use]
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Self {
        let mut parsed = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            match name.as_str() {
                "--host" => {
                    parsed.host = value.or_else(|| arguments.next()).and_then(|v| Host::from_id(&v));
                }
                "--event" => parsed.event = value.or_else(|| arguments.next()),
                _ => {}
            }
        }
        parsed
    }
}

/// Runs one hook process; does not return. A lone `--version` is answered for `bookend doctor`, which looks whether
/// the hooks are of its own version.
pub fn run(hook: Hook) -> ! {
    signals::hold();
    let watch = Stopwatch::start();
    if std::env::args().nth(1).as_deref() == Some("--version") {
        let version = format!("{} {}\n", hook.name(), env!("CARGO_PKG_VERSION"));
        drop(std::io::stdout().lock().write_all(version.as_bytes()));
        std::process::exit(0);
    }
    std::panic::set_hook(Box::new(move |info| {
        // No unwinding, no message, and 0: the neutral answer.
        note_panic(hook, &info.to_string());
        std::process::exit(0);
    }));
    serve(hook, watch);
    std::process::exit(0);
}

fn serve(hook: Hook, watch: Stopwatch) {
    let input = stdin::read();
    let config = Config::from_env();
    if config.disabled {
        stdin::drain();
        return;
    }
    let arguments = Arguments::parse(std::env::args().skip(1));
    let read = match input {
        Input::Nothing => return,
        Input::Useless(why) => Err(why.to_owned()),
        Input::Payload(bytes) => {
            payload::parse(&bytes).map(|value| read(hook, &arguments, &value, &bytes, &config::var))
        }
    };
    let read = read.unwrap_or_else(|why| {
        let mut stores = Stores::open(&config, hook.name());
        stores.fault(&format!("read the payload: {why}"));
        stores.flush_faults();
        None
    });
    if let Some(Read { event, key }) = read {
        let (host, name, prunes) = (event.host, event.name.clone(), dispatch::prunes(&event.kind));
        let mut stores = Stores::open(&config, hook.name());
        stores.of_session(&event.session);
        let reply = dispatch::handle(event, &key, &mut stores, &config, watch);
        if let Some(document) = host.encode(&name, &reply) {
            print(&document);
        }
        if let Some(session) = &reply.log {
            tool_env::tell(host, &name, session);
        }
        if prunes {
            dispatch::tidy(&key, &mut stores, &config, watch);
        }
        stores.flush_faults();
        stdin::drain();
        // What is still held here goes with the process.
        std::process::exit(0);
    }
    stdin::drain();
}

/// A payload that is an event of a session.
#[derive(Debug)]
pub struct Read {
    /// The event.
    pub event: Event,
    /// Its session's key.
    pub key: SessionKey,
}

/// Reads an event from a payload; `None` for what we do not model and for a session without an id.
#[must_use]
pub fn read(
    hook: Hook,
    arguments: &Arguments,
    payload: &Value,
    bytes: &[u8],
    env: &dyn Fn(&str) -> Option<String>,
) -> Option<Read> {
    let around = Surroundings {
        hook,
        event: arguments.event.as_deref(),
        env,
        host_args: &process::host_arguments,
        at: clock::now(),
    };
    let mut event = hosts::decode(arguments.host, payload, &around)?;
    let key = SessionKey::of(hosts::session_id(payload)?)?;
    event.key = duplicate::key(&event, bytes);
    Some(Read { event, key })
}

/// One document and a newline, in one write; a closed pipe is the host's affair.
fn print(document: &Value) {
    let mut text = document.to_string();
    text.push('\n');
    let mut out = std::io::stdout().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

fn note_panic(hook: Hook, what: &str) {
    let config = Config::from_env();
    if let Ok(data) = crate::log::data_dir::DataDir::open(&config.data_dir) {
        data.note(&crate::log::data_dir::Fault::new(
            hook.name(),
            None,
            &format!("go on: {what}"),
        ));
    }
}

//! HTTP/1.1 as far as agent hosts use it: one request in, one reply out, over any pair of streams.
//!
//! Bodies come with a content-length or chunked; replies always have a content-length, so a connection can be kept. Sizes
//! are bounded. Compressed bodies are refused by the server (no host sends one to a provider of its own).

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

use super::wire::Event;

const MAX_HEAD: u64 = 64 * 1024;
const MAX_BODY: u64 = 256 * 1024 * 1024;

/// A request as it arrived.
#[derive(Debug, PartialEq)]
pub(super) struct HttpRequest {
    pub method: String,
    /// With its query.
    pub target: String,
    pub body: Vec<u8>,
    /// The connection stays open after the reply.
    pub keep: bool,
    /// Has a content-encoding.
    pub encoded: bool,
}

/// A reply to write.
#[derive(Debug)]
pub(super) struct HttpReply {
    pub status: u16,
    pub content_type: &'static str,
    pub extra: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl HttpReply {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        let body = body.to_string().into_bytes();
        Self {
            status,
            content_type: "application/json",
            extra: Vec::new(),
            body,
        }
    }

    /// Server-sent events, all at once.
    pub(super) fn events(events: &[Event]) -> Self {
        let mut body = String::new();
        for (name, data) in events {
            if let Some(name) = name {
                body.extend(["event: ", name, "\n"]);
            }
            body.extend(["data: ", &data.to_string(), "\n\n"]);
        }
        let extra = vec![("cache-control", "no-cache".to_owned())];
        Self {
            status: 200,
            content_type: "text/event-stream",
            extra,
            body: body.into_bytes(),
        }
    }
}

/// The next request; none when the peer has closed the connection between two requests.
pub(super) fn read(reader: &mut impl BufRead, writer: &mut impl Write) -> io::Result<Option<HttpRequest>> {
    let Some(first) = line(reader)? else {
        return Ok(None);
    };
    let mut words = first.split(' ');
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
        return Err(bad("no HTTP request line"));
    };
    let (mut length, mut chunked, mut encoded, mut expects) = (0, false, false, false);
    let mut keep = version != "HTTP/1.0";
    let mut head = 0;
    loop {
        let Some(header) = line(reader)? else {
            return Err(bad("the head of the request is cut off"));
        };
        if header.is_empty() {
            break;
        }
        head += header.len() as u64;
        if head > MAX_HEAD {
            return Err(bad("the head of the request is too long"));
        }
        let Some((name, value)) = header.split_once(':') else {
            continue;
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => {
                length = value
                    .parse()
                    .map_err(|_| bad("the content-length is no number"))?
            }
            "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
            "content-encoding" => encoded = !value.eq_ignore_ascii_case("identity"),
            "expect" => expects = value.eq_ignore_ascii_case("100-continue"),
            "connection" => keep = keep && !value.eq_ignore_ascii_case("close"),
            _ => {}
        }
    }
    if expects {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let mut body = Vec::new();
    if chunked {
        read_chunks(reader, &mut body)?;
    } else {
        read_exactly(reader, length, &mut body)?;
    }
    Ok(Some(HttpRequest {
        method: method.to_owned(),
        target: target.to_owned(),
        body,
        keep,
        encoded,
    }))
}

/// Writes a reply; a HEAD request gets its head only.
pub(super) fn write(
    writer: &mut impl Write,
    reply: &HttpReply,
    head_only: bool,
    keep: bool,
) -> io::Result<()> {
    let reason = if reply.status < 400 { "OK" } else { "Error" };
    let mut out = format!(
        "HTTP/1.1 {} {reason}\r\ncontent-type: {}\r\n",
        reply.status, reply.content_type
    );
    for (name, value) in &reply.extra {
        out.extend([*name, ": ", value, "\r\n"]);
    }
    let connection = if keep { "keep-alive" } else { "close" };
    let length = reply.body.len().to_string();
    out.extend([
        "content-length: ",
        &length,
        "\r\nconnection: ",
        connection,
        "\r\n\r\n",
    ]);
    let mut out = out.into_bytes();
    if !head_only {
        out.extend_from_slice(&reply.body);
    }
    writer.write_all(&out)?;
    writer.flush()
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let head = line(reader)?.ok_or_else(|| bad("the chunked body is cut off"))?;
        let digits = head.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(digits, 16).map_err(|_| bad("a chunk size is no number"))?;
        if size == 0 {
            // Trailers, then an empty line.
            while line(reader)?.is_some_and(|trailer| !trailer.is_empty()) {}
            return Ok(());
        }
        read_exactly(reader, size, body)?;
        line(reader)?;
    }
}

fn read_exactly(reader: &mut impl BufRead, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if length.saturating_add(body.len() as u64) > MAX_BODY {
        return Err(bad("the body is too long"));
    }
    let read = reader.take(length).read_to_end(body)?;
    if (read as u64) < length {
        return Err(bad("the body is cut off"));
    }
    Ok(())
}

/// A line without its end; none at the end of the stream.
fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = reader.take(MAX_HEAD).read_until(b'\n', &mut bytes)?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(bad("a line of the request is cut off or too long"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

fn bad(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(mut bytes: &[u8]) -> io::Result<Option<HttpRequest>> {
        read(&mut bytes, &mut io::sink())
    }

    #[test]
    fn a_body_comes_with_a_length_or_in_chunks() {
        let sized = parse(b"POST /a?b HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloREST")
            .unwrap()
            .unwrap();
        let chunked = parse(
            b"POST /a?b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=1\r\nllo\r\n0\r\n\r\n",
        )
        .unwrap()
        .unwrap();
        assert_eq!(sized, chunked);
        assert_eq!(
            (sized.target.as_str(), sized.body.as_slice(), sized.keep),
            ("/a?b", b"hello".as_slice(), true)
        );
    }

    #[test]
    fn what_is_cut_off_is_an_error_and_a_closed_connection_is_not() {
        assert_eq!(parse(b"").unwrap(), None);
        for broken in [
            &b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel"[..],
            b"POST / HT",
            b"POST\r\n\r\n",
            b"POST / HTTP/1.1\r\nA: b\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        ] {
            assert!(parse(broken).is_err());
        }
    }

    #[test]
    fn a_head_request_gets_no_body() {
        let reply = HttpReply {
            status: 200,
            content_type: "application/json",
            extra: vec![("a", "b".into())],
            body: b"{}".to_vec(),
        };
        let mut out = Vec::new();
        write(&mut out, &reply, true, false).unwrap();
        assert_eq!(out, b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\na: b\r\ncontent-length: 2\r\nconnection: close\r\n\r\n");
    }
}

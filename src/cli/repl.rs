//! `bookend repl`: the log's methods over stdin and stdout, one request a line, one answer a line.

use std::io::{BufRead, Read as _};

use super::args::Repl;
use super::machine::Machine;
use super::out::Out;
use super::surroundings::Here;
use super::{Failed, Run};
use crate::log::methods::Service;
use crate::log::methods::envelope::MAX_REQUEST;

impl Run for Repl {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        machine.settle(out);
        let here = Here::new(&machine.config);
        let mut service = Service::new(&machine.config, &here);
        let mut stdin = std::io::stdin().lock();
        while let Some(line) =
            next_line(&mut stdin).map_err(|e| Failed::to(format!("read stdin: {e}; give it requests")))?
        {
            if line.trim_ascii().is_empty() {
                continue;
            }
            out.json_line(&service.answer(&line))?;
            out.flush();
            if out.is_closed() {
                break;
            }
        }
        Ok(())
    }
}

/// The next line, without its newline; of one that is too long only as much as shows that it is.
fn next_line(from: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = MAX_REQUEST as u64 + 2;
    if from.by_ref().take(most).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() > MAX_REQUEST {
        from.skip_until(b'\n')?;
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_passed_over_to_its_end() {
        let long = vec![b'x'; 3 * MAX_REQUEST];
        let input = [b"first\n\n", long.as_slice(), b"\nsecond"].concat();
        let mut from = input.as_slice();
        let mut lines = std::iter::from_fn(|| next_line(&mut from).unwrap());
        assert_eq!(lines.next().unwrap(), b"first");
        assert_eq!(lines.next().unwrap(), b"");
        assert!(lines.next().unwrap().len() > MAX_REQUEST);
        assert_eq!(lines.next().unwrap(), b"second");
        assert_eq!(lines.next(), None);
    }
}

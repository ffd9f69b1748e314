//! Is the host alive? The host's process is the pid that the host gives, else the nearest ancestor that is
//! no shell (hooks run through `sh -c`), with its start time, the boot and the pid namespace: a pid alone
//! is soon somebody else's. A mismatch means *unknown*, and unknown is never "dead".
//!
//! Reads `/proc`; where there is none, everything is unknown. Used for resume and display, never for pruning.

use std::sync::OnceLock;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rustix::buffer::spare_capacity;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::clock;

/// An event within this time means alive when the process cannot tell.
pub const RECENT: Duration = Duration::from_secs(10 * 60);
/// How many ancestors are looked at.
const MAX_ANCESTORS: usize = 8;
/// Programs that only pass the hook on.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "env", "timeout",
    "nice", "setsid", "stdbuf", "sudo", "strace",
];

/// The process of a host, so that it can be known again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HostProcess {
    /// Its process id.
    pub pid: u32,
    /// Its start time in clock ticks since the boot.
    pub start: u64,
    /// The boot.
    pub boot: String,
    /// The pid namespace.
    pub pid_ns: String,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pulse {
    /// It runs.
    Alive,
    /// It is gone, or a zombie.
    Dead,
    /// It cannot be told.
    Unknown,
}

impl HostProcess {
    /// The host of this hook process. `given`: the pid that the host named.
    #[must_use]
    pub fn find(given: Option<u32>) -> Option<Self> {
        let (pid, stat) = match given.and_then(|pid| Some((pid, Stat::of(pid)?))) {
            Some(found) => found,
            None => ancestor()?,
        };
        Some(Self {
            pid,
            start: stat.start,
            boot: boot()?.to_owned(),
            pid_ns: pid_ns()?.to_owned(),
        })
    }

    /// Whether it still runs.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        if boot() != Some(self.boot.as_str()) || pid_ns() != Some(self.pid_ns.as_str()) {
            return Pulse::Unknown;
        }
        match Stat::of(self.pid) {
            None => Pulse::Dead,
            Some(stat) if stat.zombie => Pulse::Dead,
            Some(stat) if stat.start == self.start => Pulse::Alive,
            Some(_) => Pulse::Unknown,
        }
    }
}

/// Whether a session's host is alive: by its process, else by how recent its last event is.
#[must_use]
pub fn alive(
    process: Option<&HostProcess>,
    ended: bool,
    last: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> bool {
    if ended {
        return false;
    }
    match process.map_or(Pulse::Unknown, HostProcess::pulse) {
        Pulse::Alive => true,
        Pulse::Dead => false,
        Pulse::Unknown => last.is_some_and(|at| clock::age(at, now) <= RECENT),
    }
}

/// The arguments of the host's process: some hosts say nowhere else that they run without a person.
#[must_use]
pub fn host_arguments() -> Vec<String> {
    let Some((pid, _)) = ancestor() else {
        return Vec::new();
    };
    let bytes = read(&format!("/proc/{pid}/cmdline"), 64 * 1024).unwrap_or_default();
    bytes
        .split(|b| *b == 0)
        .filter(|a| !a.is_empty())
        .map(|a| String::from_utf8_lossy(a).into_owned())
        .collect()
}

struct Stat {
    name: String,
    zombie: bool,
    parent: u32,
    start: u64,
}

impl Stat {
    /// `/proc/<pid>/stat`: the name stands in parentheses and may hold any character, so the fields count
    /// from the last one.
    fn of(pid: u32) -> Option<Self> {
        let bytes = read(&format!("/proc/{pid}/stat"), 4096)?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, rest) = text.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let start = fields.nth(17)?.parse().ok()?;
        Some(Self {
            name,
            zombie: matches!(state, "Z" | "X"),
            parent,
            start,
        })
    }
}

fn ancestor() -> Option<(u32, Stat)> {
    let mut pid = u32::try_from(rustix::process::getppid()?.as_raw_nonzero().get()).ok()?;
    for _ in 0..MAX_ANCESTORS {
        let stat = Stat::of(pid)?;
        if !SHELLS.contains(&stat.name.as_str()) {
            return Some((pid, stat));
        }
        if stat.parent <= 1 {
            return None;
        }
        pid = stat.parent;
    }
    None
}

fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    BOOT.get_or_init(read_boot).as_deref()
}

fn pid_ns() -> Option<&'static str> {
    static PID_NS: OnceLock<Option<String>> = OnceLock::new();
    PID_NS.get_or_init(read_pid_ns).as_deref()
}

fn read_boot() -> Option<String> {
    let bytes = read("/proc/sys/kernel/random/boot_id", 64)?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

fn read_pid_ns() -> Option<String> {
    let link = rustix::fs::readlink("/proc/self/ns/pid", Vec::new()).ok()?;
    Some(link.to_string_lossy().into_owned())
}

fn read(path: &str, limit: usize) -> Option<Vec<u8>> {
    let fd = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut bytes = Vec::with_capacity(limit.min(4096));
    while bytes.len() < limit {
        bytes.reserve(512);
        let room = bytes.capacity() - bytes.len();
        let n = rustix::io::read(&fd, spare_capacity(&mut bytes)).ok()?;
        // A file of /proc comes whole, if there is room for it.
        if n < room {
            break;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process_is_alive_and_a_mismatch_is_unknown() {
        let me = HostProcess::find(Some(std::process::id())).unwrap();
        assert_eq!(me.pulse(), Pulse::Alive);
        assert_eq!(
            HostProcess {
                start: me.start + 1,
                ..me.clone()
            }
            .pulse(),
            Pulse::Unknown
        );
        assert_eq!(
            HostProcess {
                boot: "another".into(),
                ..me.clone()
            }
            .pulse(),
            Pulse::Unknown
        );
        assert_eq!(
            HostProcess {
                pid_ns: "another".into(),
                ..me.clone()
            }
            .pulse(),
            Pulse::Unknown
        );
        assert_eq!(
            HostProcess {
                pid: u32::MAX - 1,
                ..me
            }
            .pulse(),
            Pulse::Dead
        );
    }

    #[test]
    fn a_child_that_ended_is_dead_even_as_a_zombie() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let process = HostProcess::find(Some(child.id())).unwrap();
        assert_eq!(process.pulse(), Pulse::Alive);
        child.kill().unwrap();
        for _ in 0..200 {
            if process.pulse() == Pulse::Dead {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(process.pulse(), Pulse::Dead, "a zombie is dead");
        child.wait().unwrap();
        assert_eq!(process.pulse(), Pulse::Dead);
    }

    #[test]
    fn unknown_is_alive_only_while_events_are_recent() {
        let now = clock::now();
        assert!(alive(
            None,
            false,
            Some(now - chrono::TimeDelta::minutes(10)),
            now
        ));
        assert!(!alive(
            None,
            false,
            Some(now - chrono::TimeDelta::minutes(11)),
            now
        ));
        assert!(
            alive(None, false, Some(now + chrono::TimeDelta::hours(5)), now),
            "the future counts as now"
        );
        assert!(!alive(None, true, Some(now), now));
        assert!(!alive(None, false, None, now));
    }
}

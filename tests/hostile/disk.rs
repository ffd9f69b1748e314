//! Disks that are really full, and temp directories that are not there.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use bookend::hook::Hook;

use super::{ends, is_root, mkdir, picture, prompt, state_in, stop};
use crate::harness::{Lab, say};

/// Events on a full disk.
const FULL: usize = 6;

/// A small disk of its own, as long as this lives.
struct Disk(PathBuf);

impl Disk {
    /// `None` where nobody may mount one.
    fn new(lab: &Lab, name: &str) -> Option<Self> {
        let path = lab.path(name);
        mkdir(&path);
        let mounted = is_root()
            && Command::new("mount")
                .args(["-t", "tmpfs", "-o", "size=64k,mode=700", "bookend-test"])
                .arg(&path)
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success());
        if !mounted {
            say("SKIPPED: only root can mount a small disk, and not everywhere");
        }
        mounted.then_some(Self(path))
    }

    fn fill(&self) {
        let mut file = std::fs::File::create(self.0.join("filler")).unwrap();
        while file.write_all(&[b'x'; 512]).is_ok() {}
    }

    fn make_room(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg(&self.0).status());
    }
}

#[test]
fn on_a_full_disk_the_host_goes_on_and_with_room_again_the_turn_gets_its_end() {
    for name in ["hooks", "data"] {
        let lab = Lab::new();
        let Some(disk) = Disk::new(&lab, name) else { return };
        lab.call(Hook::TurnStart, &prompt(&lab, "s1")).run().ok();
        disk.fill();
        // Long enough to leave the room that the last page of each file still has.
        let path = format!("/p/{}.rs", "x".repeat(1_000));
        for n in 0..FULL {
            let answer = lab.write("p1", &format!("full-{n}"), &path);
            assert_eq!(answer.stdout, "", "{name}");
        }
        let waiting = std::fs::read_dir(lab.hooks_dir().join("s1")).unwrap();
        let waiting = waiting.filter(|e| {
            let name = e.as_ref().unwrap().file_name();
            name.to_string_lossy().starts_with("pending")
        });
        let waits = waiting.count() > 0;
        // The live state's disk has room: the events wait there for the log's.
        assert_eq!(waits, name == "data", "{name}");
        disk.make_room();
        lab.write("p1", "after", "/p/x.rs");
        lab.call(Hook::Stop, &stop(&lab, "s1")).run().ok();
        let log = lab.log_of("s1");
        assert_eq!((log.turns.len(), log.turns[0].status), (1, "completed"), "{name}");
        assert!(log.problems.is_empty(), "{name}: {:?}", log.problems);
        let calls: Vec<_> = log.turns[0]
            .actions
            .iter()
            .filter_map(|a| a.action.call.as_ref())
            .collect();
        assert!(
            calls.iter().any(|call| call.as_str() == "after"),
            "{name}: {calls:?}"
        );
        assert_eq!(calls.len(), FULL + 1, "{name}: {calls:?}");
        assert!(lab.open_entries().is_empty(), "{name}");
    }
}

#[test]
fn without_a_temp_directory_the_state_is_still_kept_somewhere_of_ours() {
    for gone in ["gone", "gone/deeper"] {
        let lab = Lab::new();
        for event in [prompt(&lab, "s1"), stop(&lab, "s1")] {
            let hook = if event["hook_event_name"] == "Stop" {
                Hook::Stop
            } else {
                Hook::TurnStart
            };
            let call = lab.call(hook, &event);
            let mut command = call.command();
            let mut child = command
                .env_remove("MAESTRO_HOOKS_DIR")
                .env("TMPDIR", lab.path(gone))
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            write!(child.stdin.take().unwrap(), "{event}").unwrap();
            ends(child).0.ok();
        }
        let uid = rustix::process::geteuid().as_raw();
        let wanted = lab.path(gone).join(format!("maestro-hooks-{uid}"));
        let root = if wanted.exists() {
            wanted
        } else {
            lab.data_dir().join("hooks")
        };
        assert_eq!(state_in(&root, "s1").n, 2, "{gone}");
        assert_eq!(lab.log_of("s1").turns[0].status, "completed");
        assert_eq!(picture(&lab.project()).len(), 1, "{gone}");
    }
}

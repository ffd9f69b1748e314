//! `bookend probe`: runs the user's own hosts against a stub model and says which hooks fired. The proof itself is made
//! in `crate::probe`; here hosts are found, the scratch folder is made and removed, Ctrl-C is heard, and it is told.

use std::ffi::OsString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::args::ProbeRun;
use super::machine::Machine;
use super::out::Out;
use super::probed::Probed;
use super::{Failed, Run};
use crate::clock;
use crate::config;
use crate::host::Host;
use crate::probe::{PROBED, Probe, ProbeError, driver};

impl Run for ProbeRun {
    fn run(&self, machine: &mut Machine, out: &mut Out) -> Result<(), Failed> {
        let path = OsString::from(config::var("PATH").unwrap_or_default());
        let hosts = self.hosts(&path)?;
        let executables = executables()?;
        let interrupted = interrupted()?;
        let mut all = Vec::new();
        for (host, program) in hosts {
            let scratch = tempfile::Builder::new()
                .prefix("bookend-probe-")
                .permissions(Permissions::from_mode(0o700))
                .tempdir()
                .map_err(|e| Failed::to(format!("make a scratch folder: {e}; make room, or set TMPDIR")))?;
            let probe = Probe {
                host,
                program: &program,
                executables: &executables,
                scratch: scratch.path(),
                path: &path,
                timeout: self.timeout,
                interrupted: &interrupted,
            };
            let proof = probe.prove(&mut |what| out.progress(&format!("{}: {what} …", host.title())));
            out.progress("");
            let kept = self.put_away(scratch, out);
            let proof = match proof {
                Err(fatal @ (ProbeError::Interrupted | ProbeError::NoHook { .. })) => {
                    if let Some(kept) = kept {
                        out.complain(&format!("kept: {}", kept.display()));
                    }
                    return Err(sentence(&fatal));
                }
                other => other.map_err(|e| format!("failed to {e}")),
            };
            let probed = Probed {
                host,
                program,
                proof,
                kept,
            };
            remember(&probed, machine, out);
            if !self.json {
                if !all.is_empty() {
                    out.gap();
                }
                probed.print(out);
            }
            all.push(probed);
        }
        if self.json {
            let hosts: Vec<Value> = all.iter().map(Probed::document).collect();
            out.json(&json!({"ok": all.iter().all(Probed::is_proven), "hosts": hosts}))?;
        }
        verdict(&all)
    }
}

impl ProbeRun {
    /// The named hosts, else those that are there, with their programs.
    fn hosts(&self, path: &OsString) -> Result<Vec<(Host, PathBuf)>, Failed> {
        let mut found: Vec<(Host, PathBuf)> = Vec::new();
        for host in if self.hosts.is_empty() {
            &PROBED[..]
        } else {
            &self.hosts
        } {
            let driver = driver(*host).map_err(|e| Failed::new(e.to_string()))?;
            match driver.find(None, Some(path)) {
                Ok(_) if found.iter().any(|(known, _)| known == host) => {}
                Ok(program) => found.push((*host, program)),
                Err(_) if self.hosts.is_empty() => {}
                Err(_) => {
                    return Err(Failed::new(format!(
                        "{host} is not on your PATH: install it, or add the folder of `{}` to PATH",
                        driver.program
                    )));
                }
            }
        }
        if found.is_empty() {
            return Err(Failed::new(
                "no host is on your PATH: install Claude Code (`claude`) or Codex (`codex`), or add its folder to PATH",
            ));
        }
        Ok(found)
    }

    fn put_away(&self, scratch: tempfile::TempDir, out: &mut Out) -> Option<PathBuf> {
        if self.keep {
            return Some(scratch.keep());
        }
        let path = scratch.path().to_owned();
        if let Err(e) = scratch.close() {
            out.warn(&format!("failed to remove {}: {e}", path.display()));
        }
        None
    }
}

/// The folder of this command, where the hooks are too.
fn executables() -> Result<PathBuf, Failed> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize());
    let own = own.map_err(|e| Failed::to(format!("find this command's own file: {e}; run ./install.sh")))?;
    Ok(own.parent().map(PathBuf::from).unwrap_or_default())
}

/// Set when we are told to end. The host is in a process group of its own and hears nothing of a Ctrl-C: it is ended,
/// and the scratch folder removed, before this command ends.
fn interrupted() -> Result<Arc<AtomicBool>, Failed> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&flag))
            .map_err(|e| Failed::to(format!("prepare for Ctrl-C: {e}")))?;
    }
    Ok(flag)
}

fn sentence(error: &ProbeError) -> Failed {
    match error {
        ProbeError::Interrupted => Failed::new("interrupted: the host was ended, nothing is proven"),
        other => Failed::to(format!("{other}: run ./install.sh")),
    }
}

/// For whoever asks later how it stands; a machine without a data directory gets none.
fn remember(probed: &Probed, machine: &Machine, out: &mut Out) {
    if let (Ok(proof), Some(data)) = (&probed.proof, &machine.data)
        && proof.is_proven()
        && let Err(e) = proof.record(clock::now()).write(data, probed.host)
    {
        out.warn(&format!(
            "failed to remember this in {}: {e}",
            data.path().display()
        ));
    }
}

fn verdict(all: &[Probed]) -> Result<(), Failed> {
    let open: Vec<String> = all
        .iter()
        .filter(|probed| !probed.is_proven())
        .map(|probed| format!("{} is not proven: {}", probed.host, probed.lacks().join("; ")))
        .collect();
    if open.is_empty() {
        return Ok(());
    }
    Err(Failed::new(format!(
        "{} (to see all that was kept: `bookend probe --keep`)",
        open.join(". ")
    )))
}

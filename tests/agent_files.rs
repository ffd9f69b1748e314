//! The state files of planner, toolkit and builder, kept by the hooks: through the real executables.

mod hostile;
mod keeping;
mod resuming;

use std::path::{Path, PathBuf};

use bookend::hosts::Host;
use serde_json::Value;

use crate::harness::Lab;

/// A planner's file as its agent might have left it: keys of its own around ours.
const PLANNER: &str = r#"{
  "lockedDecisions": [
    { "questionNumber": 1, "question": "Which store?", "answer": "Both", "decidedAt": "2026-02-27T09:00:00Z" }
  ],
  "uiTodos": {
    "flow": "draft",
    "lastSyncedAt": "2026-02-28T10:00:00Z",
    "items": []
  },
  "currentTask": null,
  "estimate": 1.50e300,
  "updatedAt": "2026-02-28T10:00:00Z"
}
"#;

const SESSION: &str = r#"{
  "schemaVersion": 1,
  "sessionId": "2026-03-01-ab12cd",
  "lastHeartbeat": "2026-03-01T09:00:00Z",
  "project": "shop",
  "mode": "prd",
  "status": "in_progress",
  "currentChunk": "US-002-01-cart",
  "currentAction": null,
  "chunks": [
    {"id": "US-001-01-login", "storyId": "US-001", "title": "Login", "status": "completed"},
    {"id": "US-002-01-cart", "storyId": "US-002", "title": "Cart", "status": "in_progress"},
    {"id": "US-003-01-pay", "storyId": "US-003", "title": "Pay", "status": "pending"}
  ]
}
"#;

/// Writes a file below the lab's directory, with its folders.
fn put(lab: &Lab, name: &str, text: &str) -> PathBuf {
    let path = lab.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

fn planner(lab: &Lab) -> PathBuf {
    put(lab, "project/docs/planner-state.json", PLANNER)
}

fn session(lab: &Lab, id: &str, text: &str) -> PathBuf {
    put(lab, &format!("project/docs/sessions/{id}/session.json"), text)
}

fn toolkit(lab: &Lab, text: &str) -> PathBuf {
    put(lab, "home/.config/opencode/.tmp/toolkit-state.json", text)
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|e| panic!("{e}: {}", text(path)))
}

/// All faults that were noted, in journals or besides.
fn faults(lab: &Lab, session: &str) -> Vec<String> {
    let noted = lab.faults().into_iter().map(|f| f.what.into_string());
    let entries = lab.entries(session).into_iter().flat_map(|e| e.faults);
    noted.chain(entries.map(|f| f.into_string())).collect()
}

/// Hosts whose turns have ids of their own.
const HOSTS: [Host; 3] = Host::ALL;

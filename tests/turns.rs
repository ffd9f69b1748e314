//! Every turn that begins gets an ending: the table "Sessions and turns" of the design, through the real
//! executables.

use serde_json::json;

use crate::harness::Lab;

#[test]
fn a_prompt_while_a_turn_is_open_closes_the_old_one_as_interrupted() {
    let lab = Lab::new();
    lab.prompt("p1", "First");
    lab.prompt("p2", "Second");
    let log = lab.log_of("s1");
    let [first, second] = &log.turns[..] else {
        panic!("{:#?}", log.turns)
    };
    assert_eq!((first.status, first.presumed), ("failed", true));
    assert_eq!(first.failure.as_ref().unwrap().code.as_str(), "interrupted");
    assert_eq!(second.status, "in_progress");
}

#[test]
fn a_stop_completes_the_turn_with_the_hosts_last_message() {
    let lab = Lab::new();
    lab.send("SessionStart", json!({"source": "startup", "prompt_id": null}));
    lab.prompt("p1", "Do it");
    lab.stop("p1", "Done.");
    let log = lab.log_of("s1");
    assert_eq!(log.turns.len(), 1);
    assert_eq!(log.turns[0].status, "completed");
    assert_eq!(log.turns[0].response.as_ref().unwrap().as_str(), "Done.");
    assert!(lab.open_entries().is_empty());
    assert!(lab.state("s1").current_task.is_none());
}

//! The desk at which calls are done: one thread, one call after another, in the order in which they came.
//!
//! Calls read and write files and may wait some seconds for the lock of a log. On a thread of their own they hold up
//! nothing else; by one thread they keep their order, so that a turn is begun before something is added to it though
//! a client sends both without waiting. A call that was cancelled before its turn came is not done; one that is
//! being done is finished.

use std::sync::mpsc;

use serde_json::Value;
use tokio::sync::oneshot;

use super::toolset::{Failure, Tool, ToolSet};
use super::workspace::Workspace;

/// What lies on the desk.
pub(super) enum Job {
    /// A tool is called.
    Call {
        /// Its name; one of those that were shown.
        tool: String,
        /// An object.
        params: Value,
        /// Who waits for it; nobody any more when it was cancelled.
        answer: oneshot::Sender<Result<Value, Failure>>,
    },
    /// The client said in which directory it works.
    Moved(Workspace),
}

/// Where a call is put down.
#[derive(Clone)]
pub(super) struct Inbox(mpsc::Sender<Job>);

/// The desk. The thread that has it works at it until nobody can bring anything more.
pub struct Desk {
    jobs: mpsc::Receiver<Job>,
    shown: oneshot::Sender<Vec<Tool>>,
}

/// The sets of tools that are served at a desk.
pub type Sets<'s> = [&'s mut dyn ToolSet];

impl Inbox {
    /// Puts something down. Nobody works there any more: it is dropped, and who waits for an answer hears of it.
    pub(super) fn put(&self, job: Job) {
        drop(self.0.send(job));
    }
}

impl Desk {
    /// A desk, where to put what is to be done, and from where the tools come.
    pub(super) fn new() -> (Self, Inbox, oneshot::Receiver<Vec<Tool>>) {
        let (inbox, jobs) = mpsc::channel();
        let (shown, tools) = oneshot::channel();
        (Self { jobs, shown }, Inbox(inbox), tools)
    }

    /// Shows the tools, then does what comes, until the server is done. `moved` hears where the client works.
    pub fn work(self, sets: &mut Sets<'_>, mut moved: impl FnMut(Workspace)) {
        let tools: Vec<Vec<Tool>> = sets.iter().map(|set| set.tools()).collect();
        drop(self.shown.send(tools.iter().flatten().cloned().collect()));
        for job in self.jobs {
            match job {
                Job::Moved(workspace) => moved(workspace),
                // Cancelled while it waited.
                Job::Call { answer, .. } if answer.is_closed() => {}
                Job::Call { tool, params, answer } => {
                    let has = |tools: &[Tool]| tools.iter().any(|t| t.name == tool);
                    let set = sets.iter_mut().zip(&tools).find(|(_, tools)| has(tools));
                    if let Some((set, _)) = set {
                        drop(answer.send(set.call(&tool, &params)));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::toolset::Effect;
    use super::*;

    /// Writes down what it is called with.
    struct Notes(&'static str, Vec<Value>);

    impl ToolSet for Notes {
        fn tools(&self) -> Vec<Tool> {
            vec![Tool {
                name: self.0,
                about: String::new(),
                schema: json!({}),
                effect: Effect::Adds,
            }]
        }

        fn call(&mut self, _: &str, params: &Value) -> Result<Value, Failure> {
            self.1.push(params.clone());
            Ok(json!(self.1.len()))
        }
    }

    #[test]
    fn calls_are_done_in_their_order_by_their_set_and_cancelled_ones_are_not() {
        let (desk, inbox, tools) = Desk::new();
        let call = |tool: &str, n: u64| {
            let (answer, waits) = oneshot::channel();
            inbox.put(Job::Call {
                tool: tool.to_owned(),
                params: json!(n),
                answer,
            });
            waits
        };
        let first = call("one", 1);
        drop(call("one", 2));
        let other = call("other", 3);
        let last = call("one", 4);
        inbox.put(Job::Moved(Workspace("/somewhere".into())));
        drop(inbox);
        let (mut one, mut two) = (Notes("one", Vec::new()), Notes("other", Vec::new()));
        let mut moved = Vec::new();
        desk.work(&mut [&mut one, &mut two], |to| moved.push(to.0));
        assert_eq!(one.1, [json!(1), json!(4)]);
        assert_eq!(two.1, [json!(3)]);
        assert_eq!(moved, [std::path::PathBuf::from("/somewhere")]);
        let answers = [first, other, last].map(|w| w.blocking_recv().unwrap().unwrap());
        assert_eq!(answers, [json!(1), json!(1), json!(2)]);
        let names: Vec<&str> = tools.blocking_recv().unwrap().iter().map(|t| t.name).collect();
        assert_eq!(names, ["one", "other"]);
    }
}

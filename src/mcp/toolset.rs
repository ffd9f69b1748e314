//! What a set of tools is.

use serde_json::{Value, json};

/// A tool, as a client lists it.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name; no two sets have one in common.
    pub name: &'static str,
    /// What it does, for the model.
    pub about: String,
    /// The JSON Schema of its parameters; the set enforces it.
    pub schema: Value,
    /// What a call of it does to what is there.
    pub effect: Effect,
}

/// What a call does to what is there: what clients decide by whether the user is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it reads.
    Reads,
    /// It adds; the same call again adds again, or is refused.
    Adds,
    /// It adds or sets; the same call again changes nothing more.
    Settles,
    /// It takes away or moves what is there.
    Destroys,
}

/// Why a tool did not do what it was asked. The model is told all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Its name, for programs.
    pub code: String,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What is needed to go on: an object, with what to do next as its `hint`.
    pub details: Value,
}

impl Failure {
    /// As the model reads it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"code": self.code, "message": self.message, "details": self.details})
    }
}

/// A set of tools. It is used by one thread and called for one call at a time.
pub trait ToolSet {
    /// Its tools; always the same.
    fn tools(&self) -> Vec<Tool>;

    /// Calls one of them. `params` is an object.
    ///
    /// # Errors
    /// [`Failure`]; it did nothing then.
    fn call(&mut self, tool: &str, params: &Value) -> Result<Value, Failure>;
}

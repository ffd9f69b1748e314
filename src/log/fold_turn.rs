//! What the records of a turn mean for its view. What a model wrote stands: an update adds to it, and no
//! hook's word takes its place.

use std::path::Path;

use chrono::{DateTime, Utc};

use super::id::RequestId;
#[cfg(feature = "cli")]
use super::record::Update;
use super::record::{Action, ActionKind, By};
use super::turns::{End, Status};
use super::view::{ActionView, Failure, TurnView};
use crate::event::Origin;
use crate::redact::Redacted;

impl TurnView {
    pub(super) fn begun(
        id: RequestId,
        origin: Origin,
        title: Redacted,
        text: Redacted,
        at: DateTime<Utc>,
    ) -> Self {
        Self {
            request_id: id,
            aliases: Vec::new(),
            origin,
            agent: None,
            query_title: title,
            query_text: text,
            response: None,
            interpretation: None,
            status: Status::InProgress.word(),
            presumed: false,
            started_at: at,
            completed_at: None,
            token_count: None,
            tags: Vec::new(),
            context_list: Vec::new(),
            dialog: Vec::new(),
            actions: Vec::new(),
            late: Vec::new(),
            failure: None,
            end_response: None,
            answered: false,
        }
    }

    fn status(&self) -> Status {
        match self.status {
            "in_progress" => Status::InProgress,
            "completed" => Status::Completed,
            _ => Status::Failed {
                code: Redacted::default(),
                presumed: self.presumed,
            },
        }
    }

    /// Whether its end is not final.
    pub(super) fn can_end(&self) -> bool {
        self.status() == Status::InProgress || self.presumed
    }

    pub(super) fn end(&mut self, end: &End, at: DateTime<Utc>) {
        if let Some(status) = self.status().after(end) {
            self.status = status.word();
            self.presumed = status.is_presumed();
            self.completed_at = Some(at);
        }
    }

    /// An end that nobody reports, if it has none yet.
    pub(super) fn presume(&mut self, code: &str, at: DateTime<Utc>) {
        if self.status() == Status::InProgress {
            let code = Redacted::new(code);
            self.end(&End::Presume { code: code.clone() }, at);
            self.failure = Some(Failure {
                code,
                message: Redacted::default(),
            });
        }
    }

    /// Its answer; a hook's takes no model's place.
    pub(super) fn complete(&mut self, response: Option<Redacted>, by: By) {
        self.end_response.clone_from(&response);
        if by != By::Hook || !self.answered {
            self.response = response.or(self.response.take());
        }
        self.failure = None;
    }

    #[cfg(feature = "cli")]
    pub(super) fn update(&mut self, update: Update) {
        let Update {
            alias,
            query_title,
            query_text,
            response,
            interpretation,
            token_count,
            tags,
            context_list,
        } = update;
        if let Some(alias) = alias.filter(|a| *a != self.request_id && !self.aliases.contains(a)) {
            self.aliases.push(alias);
        }
        self.query_title = query_title.unwrap_or(std::mem::take(&mut self.query_title));
        self.query_text = query_text.unwrap_or(std::mem::take(&mut self.query_text));
        self.answered |= response.is_some();
        self.response = response.or(self.response.take());
        self.interpretation = interpretation.or(self.interpretation.take());
        self.token_count = token_count.or(self.token_count);
        add(&mut self.tags, tags);
        add(&mut self.context_list, context_list);
    }

    /// An action. A hook's record of an edit and a model's account of it are one.
    pub(super) fn act(&mut self, mut action: Action, by: By, at: DateTime<Utc>, root: Option<&str>) {
        let hooked = by == By::Hook;
        let order = action.order.take().and_then(|n| usize::try_from(n).ok());
        // No hook asks for it.
        if !(cfg!(feature = "cli") && self.is_told(&action, order, hooked, root)) {
            self.actions.push(ActionView {
                order: order.unwrap_or(self.actions.len() + 1),
                at,
                action,
                hooked,
                told: !hooked,
            });
        }
    }

    /// Whether the other side has told of the same edit; it is then one action, with the model's words and the
    /// host's facts.
    fn is_told(&mut self, action: &Action, order: Option<usize>, hooked: bool, root: Option<&str>) -> bool {
        let free = |a: &&mut ActionView| if hooked { !a.hooked } else { !a.told };
        let mut others = self.actions.iter_mut().filter(free);
        let Some(same) = others.find(|a| same_edit(&a.action, action, root)) else {
            return false;
        };
        if hooked {
            let description = same.action.description.clone();
            same.action = Action {
                description,
                ..action.clone()
            };
        } else {
            same.action.description.clone_from(&action.description);
        }
        same.order = order.unwrap_or(same.order);
        (same.hooked, same.told) = (true, true);
        true
    }
}

/// Adds what is not there yet.
#[cfg(feature = "cli")]
fn add(list: &mut Vec<Redacted>, further: Vec<Redacted>) {
    for item in further {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

fn same_edit(a: &Action, b: &Action, root: Option<&str>) -> bool {
    matches!(a.kind, ActionKind::Edit | ActionKind::Create | ActionKind::Delete)
        && a.kind == b.kind
        && a.status == b.status
        && matches!((&a.file_path, &b.file_path), (Some(a), Some(b)) if same_path(a, b, root))
}

/// Whether two spellings mean one file: hosts give whole paths, models often what stands below the project.
pub(super) fn same_path(a: &str, b: &str, root: Option<&str>) -> bool {
    let (a, b) = (Path::new(a), Path::new(b));
    match root {
        _ if a == b => true,
        // Components, so that `./` before a path is nothing.
        Some(root) => Path::new(root)
            .join(a)
            .components()
            .eq(Path::new(root).join(b).components()),
        None => {
            (a.is_absolute() && b.is_relative() && a.ends_with(b))
                || (b.is_absolute() && a.is_relative() && b.ends_with(a))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_in_both_spellings() {
        for (a, b, root, same) in [
            ("/p/src/a.rs", "/p/src/a.rs", None, true),
            ("/p/src/a.rs", "src/a.rs", Some("/p"), true),
            ("./src/a.rs", "src/a.rs", Some("/p"), true),
            ("/p/src/a.rs", "a.rs", Some("/p"), false),
            ("/p/src/a.rs", "src/a.rs", None, true),
            ("src/a.rs", "/p/src/a.rs", None, true),
            ("/p/src/a.rs", "rc/a.rs", None, false),
            ("/q/src/a.rs", "src/a.rs", Some("/p"), false),
        ] {
            assert_eq!(same_path(a, b, root), same, "{a} {b} {root:?}");
        }
    }
}

//! What is new of what was given: absent and empty keep, list items are taken once. Pure.

use crate::config::LogPrompts;
use crate::log::fold_turn::same_path;
use crate::log::record::{Action, DialogItem, Update};
use crate::log::view::{ActionView, TurnView};
use crate::redact::Redacted;

/// The part of an update that changes something.
pub(super) fn update(turn: &TurnView, given: Update) -> Option<Update> {
    let new = |given: Option<Redacted>, known: Option<&Redacted>| {
        given.filter(|g| !g.is_empty() && Some(g) != known)
    };
    let items = |mut given: Vec<Redacted>, known: &[Redacted]| {
        given.retain(|g| !known.contains(g));
        given
    };
    let update = Update {
        alias: None,
        query_title: new(given.query_title, Some(&turn.query_title)),
        query_text: new(given.query_text, Some(&turn.query_text)),
        // Also one that a hook said before: it is the model's own from now on.
        response: new(given.response, turn.response.as_ref().filter(|_| turn.answered)),
        interpretation: new(given.interpretation, turn.interpretation.as_ref()),
        token_count: given.token_count.filter(|n| Some(*n) != turn.token_count),
        tags: items(given.tags, &turn.tags),
        context_list: items(given.context_list, &turn.context_list),
    };
    (update != Update::default()).then_some(update)
}

/// The dialog items that the turn does not have. One without a time is another one each time it comes, unless
/// `anytime`.
pub(super) fn dialog(turn: &TurnView, given: Vec<DialogItem>, anytime: bool) -> Vec<DialogItem> {
    let mut new: Vec<DialogItem> = Vec::new();
    for item in given {
        let same = |known: &DialogItem| {
            known.role == item.role
                && known.content == item.content
                && known.category == item.category
                && (known.timestamp == item.timestamp && item.timestamp.is_some()
                    || item.timestamp.is_none() && anytime)
        };
        if !turn.dialog.iter().chain(&new).any(same) {
            new.push(item);
        }
    }
    new
}

/// The actions that the turn does not have from a model.
pub(super) fn actions(turn: &TurnView, given: Vec<Action>, root: Option<&str>) -> Vec<Action> {
    let mut new: Vec<Action> = Vec::new();
    for mut action in given {
        // What has no place takes the next one.
        action.order = action.order.filter(|n| *n > 0);
        let place = action.order.and_then(|n| usize::try_from(n).ok());
        let known =
            |a: &ActionView| a.told && place.is_none_or(|n| n == a.order) && same(&a.action, &action, root);
        let twice = |a: &Action| a.order == action.order && same(a, &action, root);
        if !turn.actions.iter().any(known) && !new.iter().any(twice) {
            new.push(action);
        }
    }
    new
}

fn same(a: &Action, b: &Action, root: Option<&str>) -> bool {
    let path = match (&a.file_path, &b.file_path) {
        (Some(a), Some(b)) => same_path(a, b, root),
        (a, b) => a == b,
    };
    path && a.kind == b.kind && a.description == b.description && a.status == b.status
}

/// What the user lets the log keep of a prompt, in a model's words too.
pub(super) fn prompt(title: Redacted, text: Redacted, prompts: LogPrompts) -> (Redacted, Redacted) {
    match prompts {
        LogPrompts::Full => (title, text),
        LogPrompts::Title => (title, Redacted::default()),
        LogPrompts::Off => (Redacted::default(), Redacted::default()),
    }
}

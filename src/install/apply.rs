//! Does what a plan says. Order: the plugin's files, the receipt with the backups, the user's files without
//! what is old, the host's own commands, the user's files in the user's form; then it is read back. A kill in
//! between leaves a registration that works or none, and the receipt by which the next run goes on.

use std::path::Path;

use serde_json::Value;
use walkdir::WalkDir;

use super::assemble;
use super::error::InstallError;
use super::form::Form;
use super::installer::installer;
use super::place::Place;
use super::plan::{Edit, Goal, Plan};
use super::program::Program;
use super::receipt::{self, Means, ToKeep};
use super::user_file::UserFile;

/// Does it. What the user's files were is in the backups then.
///
/// # Errors
/// The first step that failed; what was done before it stays, and the next run goes on from there.
pub fn apply(plan: &mut Plan, place: &Place) -> Result<(), InstallError> {
    for edit in &plan.edits {
        edit.file.sweep()?;
    }
    match plan.goal {
        Goal::Installed if plan.is_done() => Ok(()),
        Goal::Installed => install(plan, place),
        // Also where the host has nothing of ours: an installation that was killed leaves its files.
        Goal::Removed => remove(plan, place),
    }
}

fn install(plan: &mut Plan, place: &Place) -> Result<(), InstallError> {
    let host = plan.host();
    if plan.means == Means::Plugin {
        assemble::write(&place.plugin(host), &plan.parts)?;
    }
    let keep: Vec<ToKeep<'_>> = plan.edits.iter().map(to_keep).collect();
    receipt::save(place, host, plan.means, &keep)?;
    drop(keep);
    for edit in &mut plan.edits {
        match plan.means {
            Means::Settings => write(&mut edit.file, edit.after.as_deref())?,
            // Older registrations go first; trust that the user gave stays.
            Means::Plugin if edit.form != Form::CodexConfig => write(&mut edit.file, edit.base.as_deref())?,
            Means::Plugin => write(&mut edit.file, edit.after.as_deref())?,
        }
    }
    run(plan, place)?;
    if plan.means == Means::Plugin {
        for edit in &mut plan.edits {
            settle(edit)?;
        }
    }
    verify(plan, place)
}

/// The host's own commands.
fn run(plan: &Plan, place: &Place) -> Result<(), InstallError> {
    let Some(program) = Program::of(&plan.survey.found, place) else {
        return Ok(());
    };
    for command in &plan.commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        program.demand(&words)?;
    }
    Ok(())
}

/// Gives the user's file its form back.
fn settle(edit: &mut Edit) -> Result<(), InstallError> {
    let mut now = edit.file.read_again()?;
    if let Some(bytes) = now.content.clone() {
        let text = edit.form.settled(edit.base.as_deref(), &bytes);
        let text = text.map_err(|broken| InstallError::Broken {
            path: now.path.clone(),
            broken,
        })?;
        now.write(&text)?;
    }
    edit.file = now;
    Ok(())
}

fn remove(plan: &mut Plan, place: &Place) -> Result<(), InstallError> {
    let host = plan.host();
    run(plan, place)?;
    for edit in &mut plan.edits {
        let mut now = edit.file.read_again()?;
        let base = edit
            .form
            .base(&now, receipt::before(place, host, &now.path)?, place)?;
        write(&mut now, base.as_deref())?;
        edit.file = now;
    }
    let root = place.plugin(host);
    clear(&(installer(host)?.cache)(&plan.survey.found));
    verify(plan, place)?;
    assemble::remove(&root, &assemble::parts(place, host))?;
    let files: Vec<&Path> = plan.edits.iter().map(|edit| edit.file.path.as_path()).collect();
    receipt::remove(place, host, &files)
}

fn write(file: &mut UserFile, text: Option<&[u8]>) -> Result<(), InstallError> {
    match text {
        Some(text) => file.write(text),
        None if file.content.is_some() => file.remove(),
        None => Ok(()),
    }
}

/// Removes the copies that the host keeps of our plugin, and leaves behind: plain files and directories in a
/// directory that has our name, no link followed.
fn clear(cache: &Path) {
    let below = WalkDir::new(cache)
        .contents_first(true)
        .follow_links(false)
        .max_depth(8);
    for entry in below.into_iter().filter_map(Result::ok) {
        // What cannot be removed stays: it is a copy that nobody reads.
        drop(if entry.file_type().is_dir() {
            std::fs::remove_dir(entry.path())
        } else {
            std::fs::remove_file(entry.path())
        });
    }
}

/// Reads back what was done, from the files and from the host itself.
fn verify(plan: &mut Plan, place: &Place) -> Result<(), InstallError> {
    let host = plan.host();
    let installer = installer(host)?;
    plan.survey = (installer.survey)(place, plan.survey.found.clone(), None)?;
    let goal = plan.goal;
    let wrong = |found: String| InstallError::NotVerified { host, goal, found };
    if plan.goal == Goal::Removed {
        return match plan.survey.registrations.iter().find(|r| r.is_users) {
            Some(left) => Err(wrong(format!(
                "{} is still in {}",
                left.what,
                left.file.display()
            ))),
            None => Ok(()),
        };
    }
    if !plan.survey.is_sound(plan.means) {
        let faults: Vec<String> = plan
            .survey
            .registrations
            .iter()
            .flat_map(|r| r.faults.clone())
            .collect();
        return Err(wrong(if plan.survey.registrations.is_empty() {
            "its own commands ended well, but nothing is registered; try again, or update it".to_owned()
        } else {
            format!(
                "it does not stand there as it should afterwards ({})",
                faults.join("; ")
            )
        }));
    }
    let Some(program) = Program::of(&plan.survey.found, place).filter(|_| plan.means == Means::Plugin) else {
        return Ok(());
    };
    let said = program.demand(&["plugin", "list", "--json"])?;
    let list: Value = serde_json::from_str(&said.out).unwrap_or_default();
    match (installer.list)(&list) {
        None => Err(wrong(
            "its own list of plugins does not name Bookend afterwards".to_owned(),
        )),
        Some(ours) if !ours.enabled => Err(wrong("it lists Bookend as switched off afterwards".to_owned())),
        Some(ours) if !ours.errors.is_empty() => Err(wrong(ours.errors.join("; "))),
        Some(_) => Ok(()),
    }
}

fn to_keep(edit: &Edit) -> ToKeep<'_> {
    ToKeep {
        path: &edit.file.path,
        before: edit.base.as_deref(),
        found: edit.file.content.as_deref(),
    }
}

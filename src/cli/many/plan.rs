//! Plans for several targets.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::{Does, PlansWanted, SeveralTargets, tell_failed, tell_pending};
use crate::address::is_key;
use crate::cli::forms::Forms;
use crate::cli::presenting::{ExitCodes, write};
use crate::cli::{Context, Ended, runtime};
use crate::engine::lasting;
use crate::engine::ledger::unreadable;
use crate::engine::saved::{FAILED, FailedTarget, SAVED, names};
use crate::engine::several::{TargetResult, each};
use crate::engine::target::Shared;
use crate::engine::workspace::{Planned, Workspace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::guard::guards;
use crate::plan::{Choice, Plan};
use crate::render::Format;
use crate::render::many::{self, PlanResult, Several};
use crate::render::plan::NextSteps;
use crate::render::{self, Out, Repetition, Style, one_line};
use crate::text;

/// Makes a plan for each target, several at a time, to be shown only.
pub async fn make(
    workspaces: &[Arc<Workspace>],
    wanted: &PlansWanted,
    context: &Context,
) -> Vec<TargetResult<Planned>> {
    tell_pending(workspaces, context);
    let out = context.out.clone();
    let (wanted, context) = (wanted.clone(), Arc::new(context.clone()));
    let plans = each(Shared::default(), workspaces, move |workspace, opened| {
        let (wanted, context) = (wanted.clone(), context.clone());
        async move {
            workspace.log.kept().map_err(unreadable)?;
            workspace.plan(&opened, &wanted.request(&workspace.target), &context.session).await
        }
    });
    let said = |one: TargetResult<Planned>| {
        let TargetResult { workspace, result: ended } = one;
        let ended = ended.map_err(|failure| out.why(failure, &workspace.target));
        TargetResult { workspace, result: ended }
    };
    plans.await.into_iter().map(said).collect()
}

/// The next steps of all of them.
pub fn told(
    all: &[TargetResult<Planned>],
    asked: &SeveralTargets,
    does: &Does,
    saved: Option<&Path>,
    out: &Out,
) -> Vec<(String, NextSteps)> {
    let ahead = |one: &TargetResult<Planned>| {
        let (choice, refused) = match &one.result {
            Ok(planned) => (planned.plan.choice.clone(), guards(&planned.plan, &one.workspace.limits())),
            Err(_) => Default::default(),
        };
        let refused = out.refused(refused, Some(&one.workspace.target));
        let again = does.again_for(asked, &one.workspace.target, &choice);
        let saved = saved.map(|folder| folder.join(format!("{}{SAVED}", one.workspace.target)).display().to_string());
        (one.workspace.target.clone(), NextSteps { again, saved, refused, on_merge: false })
    };
    all.iter().map(ahead).collect()
}

/// Returns the plans or failures of all targets, in the form that is shown.
pub fn several<'p>(
    all: &'p [TargetResult<Planned>],
    aheads: &'p [(String, NextSteps)],
    again: &'p Repetition,
    saved: Option<&Path>,
) -> Several<'p> {
    let said = all.iter().zip(aheads).map(|(one, (target, ahead))| {
        let said = match &one.result {
            Ok(planned) => PlanResult::Planned(&planned.plan, ahead),
            Err(failure) => PlanResult::Failed(failure),
        };
        (target.as_str(), said)
    });
    Several::new(said.collect(), again, saved.map(|folder| folder.display().to_string()))
}

/// Makes plans, saves them on request, and shows them.
pub fn run(
    asked: &SeveralTargets,
    wanted: &PlansWanted,
    choice: &Choice,
    does: &Does,
    forms: &Forms,
    codes: ExitCodes,
    context: &Context,
) -> Ended {
    let programs = forms.printed() == Some(Format::Json);
    let workspaces = asked.read(context, jiff::Timestamp::now(), programs)?;
    has_room(forms, workspaces.len())?;
    if forms.saved.is_some() && lasting::is_in_ci() {
        workspaces.iter().try_for_each(|workspace| lasting::check(workspace))?;
    }
    let all = runtime()?.block_on(make(&workspaces, wanted, context));
    present(&all, asked, choice, does, forms, codes, context)
}

/// Refuses HTML pages of several targets without a folder.
pub fn has_room(forms: &Forms, targets: usize) -> Result<(), Failure> {
    if targets == 1 {
        return Ok(());
    }
    let mut pages = forms.shown.iter().filter(|(format, _)| *format == Format::Html);
    pages.try_for_each(|(_, file)| has_room_for_pages(file.as_deref()))
}

/// Saves plans on request, and shows them.
pub fn present(
    all: &[TargetResult<Planned>],
    asked: &SeveralTargets,
    choice: &Choice,
    does: &Does,
    forms: &Forms,
    codes: ExitCodes,
    context: &Context,
) -> Ended {
    let aheads = told(all, asked, does, forms.saved.as_deref(), &context.out);
    if let Some(folder) = &forms.saved {
        write_each(folder, SAVED, all, &aheads, |plan, _| plan.save())?;
        write_failed(folder, all)?;
        tell_others(folder, all, context)?;
    }
    let again = does.again(asked, choice);
    let several = several(all, &aheads, &again, forms.saved.as_deref());
    for (format, file) in &forms.shown {
        match (format, file) {
            (Format::Html, Some(file)) if all.len() == 1 && is_page(file) => show_page(file, all, &aheads, context)?,
            (Format::Html, Some(folder)) => {
                let number = write_each(folder, Format::Html.extension(), all, &aheads, render::html::report::html)?;
                context.out.note(&format!("Wrote {} to {}", text::count(number, "page"), folder.display()));
            }
            _ => show(&several, *format, file.as_deref(), context)?,
        }
    }
    let failed = all.iter().filter_map(|one| Some((one.workspace.target.as_str(), one.result.as_ref().err()?)));
    tell_failed(failed, context);
    Ok(Exit::worst(all.iter().zip(&aheads).map(|(one, (_, ahead))| exit(one, ahead, codes))))
}

fn exit(one: &TargetResult<Planned>, ahead: &NextSteps, codes: ExitCodes) -> Exit {
    match &one.result {
        Err(failure) => failure.into(),
        Ok(planned) => codes.exit(&planned.plan, ahead),
    }
}

fn show(several: &Several, format: Format, file: Option<&Path>, context: &Context) -> Result<(), Failure> {
    let out = &context.out;
    let style = if file.is_some() { Style::PLAIN } else { out.style() };
    let text = match format {
        Format::Json => many::json::json(several),
        Format::Markdown => many::markdown::markdown(several),
        _ => many::text::text(several, style),
    };
    match file {
        Some(path) => {
            write(path, &text)?;
            out.note(&format!("Wrote {}", path.display()));
        }
        // Pages go to a folder, so standard output gets text.
        None if format == Format::Html => out.print(&text),
        None => out.show(format, &text),
    }
    Ok(())
}

/// Writes the page of the only target, if it has a plan.
fn show_page(
    file: &Path,
    all: &[TargetResult<Planned>],
    aheads: &[(String, NextSteps)],
    context: &Context,
) -> Result<(), Failure> {
    for (one, (_, ahead)) in all.iter().zip(aheads) {
        if let Ok(planned) = &one.result {
            write(file, &render::html::report::html(&planned.plan, ahead))?;
            context.out.note(&format!("Wrote {}", file.display()));
        }
    }
    Ok(())
}

/// Whether it is the name of a page rather than of a folder.
fn is_page(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "html" || end == "htm")
}

/// Checks that there is a folder, because a page is about one target.
fn has_room_for_pages(folder: Option<&Path>) -> Result<(), Failure> {
    match folder {
        Some(folder) if !is_page(folder) => Ok(()),
        _ => Err(Failure::usage("a page shows one target, but there are several")
            .help("write to a folder: --format html --out DIR; it gets a page for each target")),
    }
}

/// Writes one file for each plan, and returns their number. For a target that could not be planned, a file of an
/// earlier run is removed.
fn write_each(
    folder: &Path,
    end: &str,
    all: &[TargetResult<Planned>],
    aheads: &[(String, NextSteps)],
    text: impl Fn(&Plan, &NextSteps) -> String,
) -> Result<usize, Failure> {
    let shown = folder.display();
    if folder.is_file() {
        return Err(Failure::usage(format!("{shown} is a file, but several targets need a folder"))
            .help("write to a folder: --out DIR; it gets a file for each target"));
    }
    if let Some(one) = all.iter().find(|one| !is_key(&one.workspace.target)) {
        let name = text::short(&one.workspace.target, 60);
        return Err(Failure::usage(format!("the name of the target `{name}` cannot be a file name"))
            .help("save its plan separately: pushplan plan --target NAME --out FILE"));
    }
    fs::create_dir_all(folder).map_err(|error| Failure::new(format!("{shown} cannot be created: {error}")))?;
    for (one, (target, ahead)) in all.iter().zip(aheads) {
        let path = folder.join(format!("{target}{end}"));
        match &one.result {
            Ok(planned) => write(&path, &text(&planned.plan, ahead))?,
            Err(_) => drop(fs::remove_file(&path)),
        }
    }
    Ok(all.iter().filter(|one| one.result.is_ok()).count())
}

/// Writes a file for each target that could not be planned: a comment about the plans names it. For a planned target, a file of
/// an earlier run is removed.
fn write_failed(folder: &Path, all: &[TargetResult<Planned>]) -> Result<(), Failure> {
    for one in all {
        let target = &one.workspace.target;
        let path = folder.join(format!("{target}{FAILED}"));
        match &one.result {
            Err(why) => write(&path, &FailedTarget::save(target, why))?,
            Ok(_) => drop(fs::remove_file(&path)),
        }
    }
    Ok(())
}

/// Reports other plans in a folder.
fn tell_others(folder: &Path, all: &[TargetResult<Planned>], context: &Context) -> Result<(), Failure> {
    let shown = folder.display();
    // A run that applies the folder applies all plans in it.
    let own: Vec<String> = all.iter().map(|one| format!("{}{SAVED}", one.workspace.target)).collect();
    let others: Vec<String> = names(folder)?.into_iter().filter(|name| !own.contains(name)).collect();
    if !others.is_empty() {
        let others = text::short(&text::all_of(&others), 200);
        context.out.note(&one_line(&format!(
            "{shown} also has earlier plans: {others}. `pushplan apply {shown}` applies them too."
        )));
    }
    Ok(())
}

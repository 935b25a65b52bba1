//! Making a plan for one target, saving and showing it.

use std::path::Path;

use super::forms::Forms;
use super::{Context, Ended, runtime};
use crate::address::is_key;
use crate::engine::lasting;
use crate::engine::ledger::{self, unreadable};
use crate::engine::saved::SAVED;
use crate::engine::workspace::{PlanRequest, Prefetch, Prefetched, PrefetchedState, Workspace};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::guard::{Limits, guards};
use crate::plan::{Aim, Plan as Planned};
use crate::private;
use crate::render::Format;
use crate::render::plan::NextSteps;
use crate::render::{self, Repetition, Style};
use crate::text::shell_word;

/// The exit codes other than 0 of a command that shows a plan.
#[derive(Clone, Copy, Debug)]
pub struct ExitCodes {
    /// [`Exit::Refused`] if `apply` would refuse the plan.
    pub refused: bool,
    /// [`Exit::Changes`] if the plan has changes.
    pub changes: bool,
}

impl ExitCodes {
    /// The exit codes of a command whose plan may be applied next.
    pub const TO_APPLY: Self = Self { refused: true, changes: false };

    pub fn exit(self, plan: &Planned, ahead: &NextSteps) -> Exit {
        if self.refused && !ahead.refused.is_empty() {
            return Exit::Refused;
        }
        let has_changes = || !plan.is_empty() || plan.is_beside_others();
        if self.changes && has_changes() { Exit::Changes } else { Exit::Done }
    }
}

/// Makes a plan from prefetched data, if there is any; saves it on request, and shows it. Returns the exit code of the
/// command.
pub fn make(
    prefetch: Option<Prefetch>,
    workspace: &Workspace,
    request: &PlanRequest,
    again: Repetition,
    forms: &Forms,
    codes: ExitCodes,
    context: &Context,
) -> Ended {
    if forms.saved.is_some() && lasting::is_in_ci() {
        lasting::check(workspace)?;
    }
    if let Some(words) = ledger::pending(&workspace.log.kept().map_err(unreadable)?) {
        context.out.note(&words);
    }
    let planned = runtime()?.block_on(async {
        let seen = match prefetch {
            Some(prefetch) => prefetch.finish(&workspace.target).await,
            None => None,
        };
        let Prefetched { opened, state } = match seen {
            Some(seen) => seen,
            None => Prefetched { opened: workspace.open().await?, state: PrefetchedState::default() },
        };
        let planned = workspace.plan_from(state, &opened, request, &context.session).await;
        opened.close().await;
        planned
    })?;
    let ended = present(&planned.plan, workspace, again, forms, codes, context);
    // The process ends here: dropping the plan would only take time.
    std::mem::forget(planned);
    ended
}

/// Saves a plan on request, and shows it.
///
/// Returns the exit code of the command.
pub fn present(
    plan: &Planned,
    workspace: &Workspace,
    again: Repetition,
    forms: &Forms,
    codes: ExitCodes,
    context: &Context,
) -> Ended {
    is_for_files(forms, &workspace.target)?;
    if let Some(path) = &forms.saved {
        write(path, &plan.save())?;
    }
    let saved = forms.saved.as_ref().map(|path| path.display().to_string());
    // `destroy` asks for the name of the target, which allows any number.
    let allow_deletes = (plan.aim == Aim::Nothing).then_some(usize::MAX);
    let refused = context.out.refused(guards(plan, &Limits { allow_deletes, ..workspace.limits() }), None);
    let ahead = NextSteps { again, saved, refused, on_merge: false };
    for (format, file) in &forms.shown {
        show(plan, &ahead, *format, file.as_deref(), context)?;
    }
    Ok(codes.exit(plan, &ahead))
}

/// Refuses folders, which are for several targets and have files with their names.
fn is_for_files(forms: &Forms, target: &str) -> Result<(), Failure> {
    let name = if is_key(target) { target } else { "NAME" };
    let shown = forms.shown.iter().filter_map(|(format, file)| Some((file.as_deref()?, format.extension())));
    for (path, end) in forms.saved.as_deref().map(|path| (path, SAVED)).into_iter().chain(shown) {
        if path.is_dir() {
            let file = path.join(format!("{name}{end}"));
            return Err(Failure::usage(format!(
                "{} is a folder, but a plan for one target is one file",
                path.display()
            ))
            .help(format!("write to a file: --out {}", shell_word(&file.display().to_string()))));
        }
    }
    Ok(())
}

/// Prints a plan in a form, or writes it to a file.
fn show(
    plan: &Planned,
    ahead: &NextSteps,
    format: Format,
    file: Option<&Path>,
    context: &Context,
) -> Result<(), Failure> {
    let Some(path) = file else {
        let out = &context.out;
        match format {
            // It is printed while it is rendered.
            Format::Text => render::plan::text_to(plan, ahead, out.style(), &mut |part| out.print(part)),
            format => out.show(format, &rendered(plan, ahead, format)),
        }
        return Ok(());
    };
    write(path, &rendered(plan, ahead, format))?;
    context.out.note(&format!("Wrote {}", path.display()));
    Ok(())
}

/// A plan in a format, as in a file.
fn rendered(plan: &Planned, ahead: &NextSteps, format: Format) -> String {
    match format {
        Format::Json => render::plan::json(plan, ahead),
        Format::Markdown => render::plan::markdown(plan, ahead),
        Format::Html => render::html::report::html(plan, ahead),
        _ => render::plan::text(plan, ahead, Style::PLAIN),
    }
}

/// Writes a plan readable only by its owner, because it contains future messages and their audiences.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    private::write(path, text.as_bytes())
        .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))
}

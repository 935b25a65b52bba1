//! Drift on several targets.

use std::sync::Arc;

use super::{SeveralTargets, tell_failed, tell_pending};
use crate::cli::{Context, Ended, asking, runtime};
use crate::engine::drift::DriftFound;
use crate::engine::ledger::unreadable;
use crate::engine::several::{TargetResult, each};
use crate::engine::target::Shared;
use crate::exit::Exit;
use crate::plan::Choice;
use crate::render::Format;
use crate::render::Repetition;
use crate::render::many::drift::{self, DriftResult};
use crate::render::plan::drift::ShownDrift;

/// Computes the drift of each target, several at a time, and shows it.
pub fn run(asked: &SeveralTargets, choice: &Choice, format: Format, detailed: bool, context: &Context) -> Ended {
    asking::project(&asked.place(""), "asked", context)?;
    let (workspaces, whole) = asked.open_leniently()?;
    tell_pending(&workspaces, context);
    let (wanted, quiet) = (Arc::new(choice.clone()), Arc::new(context.clone()));
    let all: Vec<TargetResult<DriftFound>> =
        runtime()?.block_on(each(Shared::default(), &workspaces, move |workspace, opened| {
            let (choice, context) = (wanted.clone(), quiet.clone());
            async move {
                workspace.log.kept().map_err(unreadable)?;
                workspace.drift(&opened, &choice, &context.session).await
            }
        }));
    let agains: Vec<Repetition> =
        all.iter().map(|one| asked.place(&one.workspace.target).again("apply", choice)).collect();
    let said = all.iter().zip(&agains).map(|(one, again)| {
        let said = match &one.result {
            Ok(DriftFound { drift, plan }) => {
                let declares = whole && one.workspace.declares();
                DriftResult::Found(ShownDrift { drift, plan, again, unread: !whole, declares })
            }
            Err(failure) => DriftResult::Failed(failure),
        };
        (one.workspace.target.as_str(), said)
    });
    let said: Vec<(&str, DriftResult)> = said.collect();
    let out = &context.out;
    let text = match format {
        Format::Json => drift::json(&said),
        Format::Markdown => drift::markdown(&said),
        _ => drift::text(&said, out.style()),
    };
    out.show(format, &text);
    tell_failed(
        all.iter().filter_map(|one| Some((one.workspace.target.as_str(), one.result.as_ref().err()?))),
        context,
    );
    Ok(Exit::worst(all.iter().map(|one| match &one.result {
        Err(failure) => failure.into(),
        Ok(found) if detailed && !found.drift.is_none() => Exit::Changes,
        Ok(_) => Exit::Done,
    })))
}

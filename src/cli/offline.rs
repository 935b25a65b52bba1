//! Plans without the service: compared with the ledger, or with the manifests of a commit.
//!
//! They need no credentials, so a pull request of an untrusted author can be planned. They cannot be applied.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;

use super::forms::Forms;
use super::many::{self, Does};
use super::places::{Places, Which};
use super::planning::{self, tell};
use super::presenting::ExitCodes;
use super::{Context, Ended, presenting, runtime};
use crate::engine::NotOpened;
use crate::engine::offline::{Against, NotCompared};
use crate::engine::several::TargetResult;
use crate::engine::workspace::{PlanRequest, Planned, Workspace, checkout};
use crate::failure::Failure;
use crate::manifest::{Manifests, read_project};
use crate::render::Format;

/// What a plan is compared with, where that is not the service.
#[derive(Clone, Debug, Args)]
pub struct Offline {
    /// Compare with the ledger, without the service and without credentials. If no ledger can be read, compare with the
    /// commit of --against-git, or in CI with the target branch of the pull request
    #[arg(long, conflicts_with = "on_drift")]
    offline: bool,

    /// Compare with the manifests of a commit, as if they were applied, without the service [default REF: target branch
    /// of the pull request in CI]
    #[arg(long, value_name = "REF", num_args = 0..=1, default_missing_value = "", conflicts_with = "on_drift")]
    against_git: Option<String>,
}

impl Offline {
    /// Whether an offline plan is requested.
    pub fn is_asked(&self) -> bool {
        self.offline || self.against_git.is_some()
    }

    /// Returns these options as text to repeat them, each with a space before it.
    fn again(&self) -> String {
        let offline = if self.offline { " --offline" } else { "" };
        let against = self.against_git.as_ref().map(|name| match name.as_str() {
            "" => " --against-git".to_owned(),
            name => format!(" --against-git {}", crate::text::shell_word(name)),
        });
        format!("{offline}{}", against.unwrap_or_default())
    }

    /// Plans the project's files.
    pub fn run(
        &self,
        places: &Places,
        request: &PlanRequest,
        forms: &Forms,
        codes: ExitCodes,
        context: &Context,
    ) -> Ended {
        let root = places.root()?;
        let against = Against::choose(&root, self.offline, self.against_git.as_deref())?;
        let command = format!("plan{}", self.again());
        let asked = OfflineRequest { places, request, forms, codes, command };
        checkout::ask(&root);
        asked.show(&root, read_project(&root, None), &against, context)
    }
}

/// The settings of an offline plan.
#[derive(Debug)]
pub struct OfflineRequest<'a> {
    pub places: &'a Places,
    pub request: &'a PlanRequest,
    pub forms: &'a Forms,
    pub codes: ExitCodes,
    /// The command that makes the same plan again, such as `diff a..b`.
    pub command: String,
}

impl OfflineRequest<'_> {
    /// Makes plans of manifests and shows them.
    pub fn show(&self, root: &Path, manifests: Manifests, against: &Against, context: &Context) -> Ended {
        let Self { places, request, forms, codes, command } = self;
        let programs = forms.printed() == Some(Format::Json);
        let now = Timestamp::now();
        let wrong = |why: NotOpened| planning::shown(why, programs, context);
        match places.which_of(&manifests.project)?.saved_as(forms, root) {
            Which::One(place) => {
                let workspace = place.open_read(root, manifests, now).map_err(wrong)?;
                let Planned { plan, .. } = planned(&workspace, against, request, now, context)?;
                let again = place.again("apply", &request.choice).looking(command);
                presenting::present(&plan, &workspace, again, forms, *codes, context)
            }
            Which::Several(asked) => {
                let workspaces = asked.open_read(root, manifests, now).map_err(wrong)?;
                many::plan::has_room(forms, workspaces.len())?;
                let one = |workspace: Arc<Workspace>| TargetResult {
                    result: planned(&workspace, against, request, now, context),
                    workspace,
                };
                let all: Vec<TargetResult<Planned>> = workspaces.into_iter().map(one).collect();
                let does = Does::Look(command.clone());
                many::plan::present(&all, &asked, &request.choice, &does, forms, *codes, context)
            }
        }
    }
}

/// Makes a plan. Errors in the manifests of the commit are shown like those of `validate`.
fn planned(
    workspace: &Workspace,
    against: &Against,
    request: &PlanRequest,
    now: Timestamp,
    context: &Context,
) -> Result<Planned, Failure> {
    let planned = runtime()?.block_on(workspace.plan_offline(against, request, now, &context.session));
    if let (Err(NotCompared::BaseInvalid { errors, .. }), Some(base)) = (&planned, against.base())
        && let Some(manifests) = base.manifests()
    {
        tell(manifests, errors.iter(), false, context);
    }
    Ok(planned?)
}

use clap::Args;
use jiff::Timestamp;

use super::forms::{PLAIN, described};
use super::many::each;
use super::places::Places;
use super::planning::TargetArgs;
use super::{Context, Ended, runtime};
use crate::compare;
use crate::engine::target::Opened;
use crate::engine::workspace::{Workspace, same_app};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::kinds::{KINDS, Kind, kind};
use crate::nouns::level::Level;
use crate::plan::Choice;
use crate::render::Format;
use crate::render::unmanaged::{self as shown, Listing, Pattern, ShownThing};
use crate::text;
use crate::unmanaged::{Other, others, read_by_itself, unlistable, users};

/// List resources on the service that are not in git.
#[derive(Debug, Args)]
pub struct Unmanaged {
    /// Kinds (segments) or patterns over their names ('segments/Test *') [default: everything]
    #[arg(value_name = "WHICH")]
    which: Vec<String>,

    /// Form of the list: text for people, JSON for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    places: Places,
}

impl Unmanaged {
    pub fn run(&self, context: &Context) -> Ended {
        for which in &self.which {
            asked(which)?;
        }
        each::run(&self.places, self.format, context, |place, context| self.one(place, context))
    }

    fn one(&self, place: &TargetArgs, context: &Context) -> Ended {
        let workspace = place.read_for(context, Timestamp::now(), self.format == Format::Json)?;
        runtime()?.block_on(async {
            let opened = workspace.open().await?;
            let ended = self.list(place, &workspace, &opened, context).await;
            opened.close().await;
            ended
        })
    }

    async fn list(&self, place: &TargetArgs, workspace: &Workspace, opened: &Opened, context: &Context) -> Ended {
        let (ledger, _) = workspace.ledger().await?;
        same_app(&ledger, opened)?;
        let units = compare::by_key(&workspace.units, &ledger);
        let live = workspace.fetch(opened, &units, &ledger, &read_by_itself(opened.level), &context.session).await?;
        let all = others(&live, &ledger, &units);
        let users = users(&live, &ledger, &units, opened.now());
        let ignore = workspace.ignored();
        let (ignored, listed): (Vec<&Other>, Vec<&Other>) =
            all.iter().filter(|other| self.is_asked(other)).partition(|other| other.is_ignored(&ignore));
        let kinds: Vec<&Kind> = KINDS.iter().filter(|kind| self.is_about(kind)).collect();
        let is_about = |kind: &&Kind| kinds.iter().any(|about| about.key == kind.key);
        let is_idle = |pattern: &&String| !all.iter().any(|other| other.is_like(pattern));
        let thing = |other: &&Other| ShownThing {
            kind: other.kind,
            address: other.address.to_string(),
            name: other.found.name.clone(),
            id: other.found.id.clone(),
            made: other.found.made,
            last_used: other.found.used,
            used_by: users.get(&other.found.id).into_iter().flatten().map(ToString::to_string).collect(),
            over: other.is_over(opened.now()),
            pruned: workspace.prune().contains(other.kind.key),
        };
        let listing = Listing {
            target: &workspace.target,
            level: opened.level,
            now: opened.now(),
            again: place.again("unmanaged", &Choice::default()),
            things: listed.iter().map(thing).collect(),
            ignored: ignored.len(),
            idle: ignore
                .iter()
                .filter(is_idle)
                .filter(|_| self.which.is_empty())
                .map(|it| self.placed(workspace, it))
                .collect(),
            partly: kinds.iter().filter(|kind| is_partly(kind, &live)).map(|kind| kind.key).collect(),
            unlisted: live
                .unlisted
                .iter()
                .filter_map(|(key, why)| Some((kind(key).filter(is_about)?, why.clone())))
                .collect(),
            unlistable: unlistable(opened.level).filter(is_about).collect(),
        };
        match self.format {
            Format::Json => context.out.json(&shown::json(&listing)),
            _ => context.out.print(&shown::text(&listing, context.out.style())),
        }
        Ok(Exit::Done)
    }

    /// A pattern with its line.
    fn placed(&self, workspace: &Workspace, pattern: &str) -> Pattern {
        let project = &workspace.manifests.project;
        let written = project.ignore_unmanaged(&workspace.target).into_iter().find(|at| at.value == pattern);
        let line = written.and_then(|at| {
            let source = workspace.manifests.sources.get(at.span.file()?);
            Some(source.position(at.span.range().start).line)
        });
        Pattern { pattern: pattern.to_owned(), line }
    }

    fn is_asked(&self, other: &Other) -> bool {
        let is_it = |which: &String| {
            which == other.kind.key || other.is_like(which) || text::is_like(which, &other.address.to_string())
        };
        self.which.is_empty() || self.which.iter().any(is_it)
    }

    /// Whether anything of a kind is requested.
    fn is_about(&self, kind: &Kind) -> bool {
        let of_kind = |which: &String| {
            let key = which.split('/').next().unwrap_or_default();
            text::is_like(key, kind.key)
        };
        self.which.is_empty() || self.which.iter().any(of_kind)
    }
}

/// Whether the list of a kind may be incomplete.
fn is_partly(kind: &Kind, live: &crate::live::Live) -> bool {
    live.listed.contains_key(kind.key) && !live.whole.contains(kind.key)
}

/// Refuses a pattern that can match nothing.
fn asked(which: &str) -> Result<(), Failure> {
    let key = which.split('/').next().unwrap_or_default();
    if key.contains('*') {
        return Ok(());
    }
    match kind(key) {
        Some(kind) if kind.api.list(Level::Extended).is_empty() => {
            let singles = kind.api.singles().map_or_else(|| text::many(kind.noun), str::to_owned);
            Err(Failure::usage(format!("{singles} are not listed: they are data of single people"))
                .help(format!("`pushplan pull {}` checks those that it finds", kind.key)))
        }
        Some(_) => Ok(()),
        None => {
            let failure = Failure::usage(format!("`{key}` is not a kind"));
            let keys: Vec<&str> = KINDS.iter().map(|kind| kind.key).collect();
            Err(match text::nearest(key, keys.iter().copied()) {
                Some(near) => failure.help(format!("did you mean `{near}`?")),
                None => failure.help(
                    "write a kind such as segments, or a pattern such as 'segments/Test *'; `*` \
                    matches any characters",
                ),
            })
        }
    }
}

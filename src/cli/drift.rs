use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use clap::Args;

use super::forms::among;
use super::many::{self, Places, Which};
use super::planning::TargetArgs;
use super::{Context, Ended, asking, runtime};
use crate::address::Address;
use crate::compare;
use crate::drift::{self, Situation, drift};
use crate::engine::ledger;
use crate::engine::target::Opened;
use crate::engine::workspace::{Remembered, Workspace, unreadable};
use crate::failure::{Exit, Failure};
use crate::fetch::fetch;
use crate::ledger::Ledger;
use crate::live::{Look, Proof};
use crate::plan::{About, Aim, Choice, Plan};
use crate::planner;
use crate::render::Format;
use crate::render::plan::drift::{ShownDrift, json, markdown, text};
use crate::text;

/// The formats that it prints.
const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Markdown];

/// Show what somebody changed, removed or added on the service since the last apply.
///
/// The service is held against the ledger, which remembers what was applied. Your files decide nothing: they may have errors or
/// be missing. Where they can be read, what `lifecycle.ignore` leaves to the dashboard is counted and not told. Nothing is
/// changed.
///
/// It exits with 0 whatever it finds, and with --detailed-exitcode with 2. What a plan does about drift is for --on-drift of `plan`
/// and `apply`, or `on_drift` of the target, to say: with `stop`, both exit with 7.
#[derive(Debug, Args)]
pub struct Drift {
    #[command(flatten)]
    places: Places,

    /// Leave out everything but these, such as `segments/*`
    #[arg(long, value_name = "ADDRESS")]
    only: Vec<String>,

    /// Leave these out
    #[arg(long, value_name = "ADDRESS")]
    except: Vec<String>,

    /// Form: text for people, Markdown for a pull request (at most 60,000 bytes), JSON for programs
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,

    /// Exit with 2 if somebody changed, removed or added something
    #[arg(long)]
    detailed_exitcode: bool,
}

impl Drift {
    pub fn run(&self, context: &Context) -> Ended {
        let choice = Choice { only: self.only.clone(), except: self.except.clone() };
        match self.places.which()? {
            Which::One(place) => self.one(&place, &choice, context),
            Which::Several(asked) => many::drift::run(&asked, &choice, self.format, self.detailed_exitcode, context),
        }
    }

    fn one(&self, place: &TargetArgs, choice: &Choice, context: &Context) -> Ended {
        asking::project(place, "asked", context)?;
        let (site, whole) = place.open_leniently()?;
        if let Some(words) = ledger::pending(&site.log.kept().map_err(unreadable)?) {
            context.out.note(&words);
        }
        let (drift, plan) = runtime()?.block_on(async {
            let opened = site.open().await?;
            let found = look(&site, &opened, choice, context).await;
            opened.close().await;
            found
        })?;
        let again = place.again("apply", choice);
        let declares = whole && site.declares();
        let shown = ShownDrift { drift: &drift, plan: &plan, again: &again, unread: !whole, declares };
        let out = &context.out;
        let text = match self.format {
            Format::Json => json::json(&shown),
            Format::Markdown => markdown(&shown),
            _ => text(&shown, out.style()),
        };
        out.show(self.format, &text);
        Ok(if self.detailed_exitcode && !drift.is_none() { Exit::Changes } else { Exit::Done })
    }
}

/// What was found: as it is, and as a plan, which all forms know how to show.
pub(super) type DriftFound = (drift::Drift, Plan);

/// Looks at the service for what was done there.
pub(super) async fn look(
    site: &Workspace,
    opened: &Opened,
    choice: &Choice,
    context: &Context,
) -> Result<DriftFound, Failure> {
    let mut remembered = site.settled(opened, Duration::ZERO, &context.session).await?;
    let mut moves = rename(site, &mut remembered.ledger);
    let origin = opened.origin().to_string();
    let look = Look {
        level: opened.level,
        origin: &origin,
        settle: site.settle,
        desired: &BTreeMap::new(),
        ledger: &remembered.ledger,
        all_kinds: true,
        contents: &BTreeSet::new(),
        confirm_absence: true,
        recovers: false,
        proof: Proof::default(),
    };
    let live = fetch(&opened.reading(), look, &|words| site.note(words, &context.session)).await?;
    let mut under_way = BTreeSet::new();
    if remembered.at_work.is_some() {
        (remembered, under_way) = site.since(&remembered).await?;
        moves = rename(site, &mut remembered.ledger);
    }
    for (to, from) in &moves {
        under_way = under_way.into_iter().map(|one: Address| one.renamed(from, to).unwrap_or(one)).collect();
    }
    let Remembered { ledger, position, .. } = remembered;
    let now = opened.now();
    let (ahead, declared) = (opened.ahead(), &site.units);
    let situation = Situation { ledger: &ledger, live: &live, now, ahead, declared, under_way: &under_way, choice };
    let drift = drift(&situation);
    if let Some(pattern) = drift.idle.first() {
        return Err(idle(pattern, &drift));
    }
    let about = About {
        target: site.target.clone(),
        origin: opened.place.clone(),
        app: opened.app.clone(),
        level: opened.level,
        manifests: compare::digest(&site.units),
        ledger: position,
        aim: Aim::Manifests,
        choice: choice.clone(),
        min_lead_seconds: site.min_lead.as_secs(),
    };
    let changes = drift.changes.clone();
    let mut told = site.told();
    planner::annotate(&mut told, &changes, &site.units, &live, site.composites());
    let plan = Plan { told, ..Plan::new(about, changes, Vec::new(), Vec::new(), now) };
    Ok((drift, plan))
}

/// Gives everything the address that the files have for it by now: there it is declared, and commands find it.
fn rename(site: &Workspace, ledger: &mut Ledger) -> BTreeMap<Address, Address> {
    let moves = compare::moves(&site.units, ledger);
    moves.iter().for_each(|(to, from)| ledger.rename(from, to));
    moves
}

fn idle(pattern: &str, drift: &drift::Drift) -> Failure {
    let known: Vec<String> = drift.changes.iter().map(|change| change.address.to_string()).collect();
    let failure = Failure::usage(format!("`{pattern}` means nothing that is ours"));
    match text::nearest(pattern, known.iter().map(String::as_str)) {
        Some(near) => failure.help(format!("did you mean {near}?")),
        None => failure.help("an address is such as segments/lapsed-buyers; `*` stands for any letters"),
    }
}

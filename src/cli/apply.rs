use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::drifting::Drifting;
use super::many::{self, Does, Places, Which};
use super::planning::{Chosen, Planned, Site, Wish};
use super::signals::{Signal, Stop};
use super::target::Opened;
use super::turn::{self, Turn, Waiting};
use super::who::{self, Who};
use super::{Context, Ended, ledger, offline, runtime};
use crate::address::Address;
use crate::apply::{self, Ending, Fate, Notice, OnError, Report, Settings};
use crate::failure::{Exit, Failure};
use crate::guard::{self, Limits};
use crate::ledger::{Done, Entry, Outcome, Record, Verb};
use crate::manifest::files::describe;
use crate::plan::{NoPlan, Plan, Reason};
use crate::render::{self, Again, Progress, Showing, one_line};

/// Make the service what the manifests say.
#[derive(Debug, Args)]
pub struct Apply {
    /// A saved plan; without one, a plan is made, shown and asked about
    #[arg(value_name = "PLAN")]
    plan: Option<PathBuf>,

    #[command(flatten)]
    places: Places,

    #[command(flatten)]
    chosen: Chosen,

    #[command(flatten)]
    drifting: Drifting,

    #[command(flatten)]
    allowed: Allowed,

    #[command(flatten)]
    how: How,

    /// Say that what the plan asks for by hand has been done; where the service lists it, that is checked
    #[arg(long, value_name = "ADDRESS")]
    done: Vec<String>,
}

/// What is allowed beforehand.
#[derive(Clone, Debug, Args)]
pub struct Allowed {
    /// Do not ask
    #[arg(long)]
    pub yes: bool,

    /// Allow so many deletions
    #[arg(long, value_name = "NUMBER")]
    allow_deletes: Option<usize>,

    /// Allow changes that message people at once
    #[arg(long)]
    allow_sends: bool,
}

impl Allowed {
    /// The usual answer to a question.
    pub fn asking<'a>(&self, question: &'a str, again: Again) -> Asking<'a> {
        let Self { yes, allow_deletes, allow_sends } = *self;
        let given = yes.then_some("yes");
        let way_out = "pass --yes, or apply a plan that was looked at: pushplan apply PLAN".to_owned();
        Asking { question, wanted: "yes", given, way_out, allow_deletes, allow_sends, again }
    }
}

/// What is said of an apply that is ended at once.
pub(super) const AT_ONCE: &str = "Ended at once. What was on its way may have been done: `pushplan plan` looks for it.";

/// How a plan is applied.
#[derive(Clone, Debug, Args)]
pub struct How {
    /// Requests under way at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub concurrency: u16,

    /// What to do when a change fails: begin nothing more, or go on with what does not depend on it
    #[arg(long, value_enum, default_value_t = WhenFailed::Stop)]
    pub on_error: WhenFailed,

    /// Form of the report: text for people; one JSON object; a line of JSON for each change
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    #[command(flatten)]
    pub turn: Turn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WhenFailed {
    Stop,
    Continue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Jsonl,
}

impl Apply {
    pub fn run(&self, context: &Context) -> Ended {
        let chosen = !self.chosen.is_all() || !self.done.is_empty() || self.drifting.given().is_some();
        if self.plan.is_some() && chosen {
            return Err(Failure::usage(
                "a saved plan is applied as it is: --only, --except, --done and --on-drift go with a new one",
            ));
        }
        let saved = self.plan.as_deref().map(load).transpose()?;
        let place = match (self.places.which()?, &saved) {
            (Which::One(place), None) => place,
            // A saved plan is for one target, which nobody has to name again.
            (Which::One(place), Some(plan)) => place.or_target(&plan.target),
            (Which::Several(asked), None) => return self.several(&asked, context),
            (Which::Several(_), Some(plan)) => {
                return Err(Failure::usage(format!(
                    "a saved plan is for one target, and this one for {}",
                    plan.target
                ))
                .help("leave --target out: the plan knows it"));
            }
        };
        let site = place.read_for(context, Timestamp::now(), self.how.format != Format::Text)?;
        let mut done = BTreeSet::new();
        for address in &self.done {
            done.insert(Address::try_from(address.clone()).map_err(Failure::usage)?);
        }
        let aim = saved.as_ref().map(|plan| plan.aim.clone()).unwrap_or_default();
        let wish = Wish { choice: self.chosen.choice(), done, aim, on_drift: self.drifting.given() };
        let choice = saved.as_ref().map_or(&wish.choice, |plan| &plan.choice);
        let asking = self.allowed.asking(
            "Apply this plan? Only `yes` goes on:",
            place.again(&format!("apply{}", self.drifting.again()), choice),
        );
        self.how.run(&site, &wish, saved.as_ref(), &asking, context)
    }
}

impl Apply {
    fn several(&self, asked: &many::Asked, context: &Context) -> Ended {
        let done: Result<_, _> = self.done.iter().cloned().map(Address::try_from).collect();
        let done = done.map_err(Failure::usage)?;
        let wish = Wish { choice: self.chosen.choice(), done, on_drift: self.drifting.given(), ..Wish::default() };
        let does = Does::Apply(self.drifting.again().to_owned());
        let again = does.again(asked, &wish.choice);
        let asking = self.allowed.asking("Apply these plans to all of these targets? Only `yes` goes on:", again);
        many::apply::run(asked, &wish, &self.how, &asking, &does, context)
    }
}

/// What a person is asked before a plan is applied.
#[derive(Debug)]
pub struct Asking<'a> {
    pub question: &'a str,
    /// The answer that goes on.
    pub wanted: &'a str,
    /// The answer that was given on the command line.
    pub given: Option<&'a str>,
    /// What to do where nobody can be asked.
    pub way_out: String,
    pub allow_deletes: Option<usize>,
    pub allow_sends: bool,
    /// How the command is said again.
    pub again: Again,
}

/// The plan that a file holds.
fn load(path: &Path) -> Result<Plan, Failure> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("the plan {shown} cannot be read: {}", describe(&error)))
            .help("`pushplan plan --out FILE` writes one")
    })?;
    let plan = Plan::load(&text).map_err(|no| {
        let failure = match no {
            NoPlan::NotAPlan(why) => Failure::new(format!("{shown} is not a plan: {why}")),
            NoPlan::OtherForm(form) => {
                Failure::new(format!("the plan {shown} has the form {form}, which this version does not read"))
            }
            NoPlan::Changed => Failure::new(format!("the plan {shown} is not as it was saved")),
        };
        failure.exit(Exit::Stale).help("make a new one: pushplan plan --out FILE")
    })?;
    offline::not_applied(path, &plan).map_or(Ok(plan), Err)
}

impl How {
    /// Plans, shows, asks, applies, and says what became of it.
    pub fn run(&self, site: &Site, wish: &Wish, saved: Option<&Plan>, asking: &Asking, context: &Context) -> Ended {
        runtime()?.block_on(async {
            let opened = site.open().await?;
            let mut waiting = self.turn.start();
            let ended = loop {
                if let Err(held) = self.await_turn(site, &mut waiting, context).await {
                    break Err(held);
                }
                let ended = self.plan_and_apply(site, &opened, wish, saved, asking, context).await;
                if let Some(ended) = ended.transpose() {
                    break ended;
                }
                context.out.note("Somebody else was quicker. Planning anew.");
            };
            opened.close().await;
            ended
        })
    }

    /// Plans and applies. `None`: somebody else has begun meanwhile, nothing was done, and it is to be planned anew.
    async fn plan_and_apply(
        &self,
        site: &Site,
        opened: &Opened,
        wish: &Wish,
        saved: Option<&Plan>,
        asking: &Asking<'_>,
        context: &Context,
    ) -> Result<Option<Exit>, Failure> {
        let wish = match saved {
            Some(plan) => &chosen_as(plan, wish),
            None => wish,
        };
        ledger::take_in(context, &site.log).await?;
        let planned = site.plan(opened, wish, context).await?;
        if let Some(saved) = saved {
            let moved = saved.moved(&planned.plan);
            if !moved.is_empty() {
                return Err(Failure::new(format!("the plan does not hold any more: {}", moved.join("; ")))
                    .exit(Exit::Stale)
                    .help("nothing was changed; plan again and have it looked at: pushplan plan --out FILE"));
            }
        }
        let plan = &planned.plan;
        let style = context.out.style();
        if self.format == Format::Text {
            context.out.print(&render::plan::before_apply(plan, &asking.again, style));
        } else if asking.given.is_none() && saved.is_none() && io::stdin().is_terminal() {
            // Who is asked about it has seen it.
            context.out.note(&render::plan::before_apply(plan, &asking.again, style));
        }
        if let Err(refused) = self.not_done(plan, wish).and_then(|()| self.guard(site, plan, asking)) {
            // What somebody else made since the ledger was read looks like nobody's.
            let is_overtaken = site.log.position().await.is_ok_and(|now| now.seq != plan.ledger.seq);
            return if is_overtaken { Ok(None) } else { Err(refused) };
        }
        if plan.steps.is_empty() {
            let report = Report {
                run: String::new(),
                ending: Ending::Done,
                ledger: plan.ledger.seq,
                denied: false,
                steps: Vec::new(),
            };
            self.show(&report, plan, &asking.again, context);
            return Ok(Some(Exit::Done));
        }
        if plan.has_news() && saved.is_none() {
            self.ask(asking, context)?;
        }
        let (report, signal) = self.drive(site, opened, planned.clone(), context).await?;
        if report.ending == Ending::Conflict && report.ledger == plan.ledger.seq && self.turn.waits() {
            return Ok(None);
        }
        self.show(&report, plan, &asking.again, context);
        Ok(Some(exit(&report, plan, signal)))
    }

    /// Stops where somebody else is at work, once there is no more time to wait. A lease that is over is taken over.
    pub async fn await_turn(&self, site: &Site, waiting: &mut Waiting, context: &Context) -> Result<(), Failure> {
        let ledger = match waiting.ledger(context, &site.log, &site.target).await? {
            Ok(ledger) => ledger,
            Err(held) => {
                if self.format != Format::Text {
                    context.out.json(&held.json().to_string());
                }
                return Err(held.failure());
            }
        };
        if let Some(over) = ledger.run.as_ref().and_then(|running| turn::over(running, Timestamp::now())) {
            context.out.note(&one_line(&format!("{over} Taking over.")));
        }
        Ok(())
    }

    /// What was said to be done by hand, and is not, or was nothing to be done.
    fn not_done(&self, plan: &Plan, wish: &Wish) -> Result<(), Failure> {
        for address in &wish.done {
            let change = plan.changes.iter().find(|change| change.address == *address);
            let still = change
                .is_some_and(|change| change.reasons.iter().any(|reason| matches!(reason, Reason::InDashboard { .. })));
            if still {
                return Err(Failure::new(format!("{address} is still there and turned on: nothing was changed"))
                    .exit(Exit::Refused)
                    .help("turn it off in the dashboard, then say so again"));
            }
            // What waits for a decision is refused with the way out, like in every other plan.
            let stuck = change.is_some_and(guard::is_stuck);
            let was = plan.steps.iter().any(|step| step.address == *address && step.verb == Verb::Forget);
            if !was && !stuck {
                return Err(Failure::usage(format!("the plan asks for nothing to be done by hand to {address}"))
                    .help("`pushplan plan` says what is to be done by hand"));
            }
        }
        Ok(())
    }

    pub(super) fn guard(&self, site: &Site, plan: &Plan, asking: &Asking) -> Result<(), Failure> {
        let Asking { allow_deletes, allow_sends, .. } = *asking;
        let limits = Limits { allow_deletes, allow_sends, ..site.limits() };
        let refused = guard::guards(plan, &limits);
        let Some((first, rest)) = refused.split_first() else { return Ok(()) };
        let mut message = first.message.clone();
        let mut help = first.help.clone();
        for other in rest {
            message = format!("{message}\n       {}", other.message);
            help = format!("{help}\n          {}", other.help);
        }
        Err(Failure::new(message).exit(Exit::Refused).help(help))
    }

    pub(super) fn ask(&self, asking: &Asking, context: &Context) -> Result<(), Failure> {
        let Asking { question, wanted, given, way_out, .. } = asking;
        let answer = match given {
            Some(given) => (*given).to_owned(),
            None if !io::stdin().is_terminal() => {
                return Err(Failure::new("there is nobody to ask whether this plan is to be applied")
                    .exit(Exit::Refused)
                    .help(way_out.clone()));
            }
            None => {
                let mut answer = String::new();
                context.out.ask(question);
                let _ = io::stdin().read_line(&mut answer);
                answer.trim().to_owned()
            }
        };
        if answer == *wanted {
            return Ok(());
        }
        Err(Failure::new("not applied: nothing was changed")
            .exit(Exit::Refused)
            .help(format!("the answer that goes on is `{wanted}`")))
    }

    pub(super) async fn drive(
        &self,
        site: &Site,
        opened: &Opened,
        planned: Planned,
        context: &Context,
    ) -> Result<(Report, Option<Signal>), Failure> {
        let stop = Stop::listen(AT_ONCE).map_err(|error| Failure::new(error.to_string()))?;
        let report = self.drive_until(&stop, site, opened, planned, context).await;
        Ok((report, stop.by()))
    }

    /// The same, where somebody listens already for being asked to stop.
    pub(super) async fn drive_until(
        &self,
        stop: &Stop,
        site: &Site,
        opened: &Opened,
        planned: Planned,
        context: &Context,
    ) -> Report {
        let settings = Settings {
            concurrency: usize::from(self.concurrency),
            send_within: site.send_within,
            lease: Who::here().lease(site.lease),
            ahead: opened.ahead,
            on_error: match self.on_error {
                WhenFailed::Stop => OnError::Stop,
                WhenFailed::Continue => OnError::Continue,
            },
            ..Settings::new(uuid::Uuid::new_v4().to_string(), who::actor())
        };
        let Planned { plan, ledger } = planned;
        let mut progress = Progress::start(&context.out, &plan, self.showing());
        let asked = async {
            stop.asked().await;
            context
                .out
                .note("Stopping: what is on its way is awaited, nothing more is begun. Ctrl-C again ends at once.");
        };
        let shown = plan.clone();
        let mut tell = |notice: Notice| match notice {
            Notice::Ended(step, fate) => progress.finished(&shown, &[(step, fate.clone())]),
            Notice::Waits(until) => {
                let seconds = until.duration_since(Timestamp::now()).as_secs().max(1);
                progress.says(&format!("The service has too much to do. Waiting {seconds} s."));
            }
        };
        let report = apply::drive(plan, &ledger, settings, &opened.writing(), &site.log, asked, &mut tell).await;
        progress.end();
        keep(&report, site, context);
        // Everything is written; what makes reading faster may fail.
        let _ = site.log.checkpoint(&who::actor(), Timestamp::now()).await;
        report
    }

    fn showing(&self) -> Showing {
        match self.format {
            Format::Text if io::stderr().is_terminal() => Showing::Bar,
            Format::Text => Showing::Lines,
            Format::Json => Showing::Nothing,
            Format::Jsonl => Showing::JsonLines,
        }
    }

    fn show(&self, report: &Report, plan: &Plan, again: &Again, context: &Context) {
        let style = context.out.style();
        match self.format {
            Format::Text if plan.is_empty() && report.ending == Ending::Done => {}
            Format::Text => context.out.print(&render::report::text(report, plan, again, style)),
            Format::Json => context.out.json(&render::report::json(report, plan, again)),
            Format::Jsonl => context.out.json(&render::report::last_line(report, plan, again)),
        }
    }
}

/// What was done and the ledger could not be told is kept beside it, and taken in by the next command that writes.
fn keep(report: &Report, site: &Site, context: &Context) {
    let unrecorded = report.steps.iter().filter(|step| !step.recorded).filter_map(|step| {
        let result = match step.fate.clone() {
            Fate::Done { id, push_ids } => Done::Done { id, push_ids },
            Fate::Failed { why } => Done::Not { why },
            Fate::Unknown { why } => Done::Unknown { why },
            Fate::Skipped { .. } | Fate::NotStarted => return None,
        };
        Some(Outcome { address: step.address.clone(), verb: step.verb, result, unsettled: None })
    });
    let outcomes: Vec<Outcome> = unrecorded.collect();
    if outcomes.is_empty() {
        return;
    }
    let record = Record::Outcomes(outcomes);
    let entry = Entry { seq: report.ledger + 1, at: Timestamp::now(), actor: who::actor(), record };
    context.out.note(&match site.log.keep(&entry) {
        Ok(file) => kept(&file, site),
        Err(why) => {
            format!("What was done could not be kept either ({why}); the next apply looks for it on the service.")
        }
    });
}

/// That results are kept, and how they get into the ledger: by the next command here, or from the file by anybody.
fn kept(file: &str, site: &Site) -> String {
    let target = &site.target;
    format!(
        "What could not be written to the ledger is kept in {file}; the next apply here takes it in. Where this machine goes \
         away, keep that file and run: pushplan ledger restore {file} --target {target}"
    )
}

/// How a command ends that ended so.
pub(super) fn exit(report: &Report, plan: &Plan, signal: Option<Signal>) -> Exit {
    match report.ending {
        Ending::Done => Exit::Done,
        Ending::Interrupted => signal.unwrap_or(Signal::Interrupt).exit(),
        _ if report.did_anything(plan) => Exit::Partly,
        _ if report.denied => Exit::Credentials,
        Ending::Partly | Ending::Conflict | Ending::Ledger { .. } => Exit::Failed,
    }
}

/// A saved plan was made with a choice of its own, which holds for it still.
fn chosen_as(plan: &Plan, wish: &Wish) -> Wish {
    Wish { choice: plan.choice.clone(), done: wish.done.clone(), aim: plan.aim.clone(), on_drift: Some(plan.on_drift) }
}

mod board;
mod round;
mod server;
mod webhook;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::applying::{AT_ONCE, How, WhenFailed};
use super::forms::among;
use super::http_server::Server;
use super::places::Places;
use super::signals::Stop;
use super::turn::Turn;
use super::{Context, Ended, runtime};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::manifest::Project;
use crate::nouns::delay::Delay;
use crate::reconcile::{Counts, Looked, News, Round, Schedule};
use crate::render::Format;
use crate::render::one_line;
use crate::render::reconcile::{self as shown, json};
use board::Board;
use round::Rounds;
use webhook::Webhook;

/// The output formats.
const FORMATS: &[Format] = &[Format::Text, Format::Jsonl];

/// The variable with the webhook, if it is not on the command line.
const WEBHOOK: &str = "PUSHPLAN_WEBHOOK";

/// Report or correct drift at an interval.
///
/// Each round reads the manifests again and plans. If they have errors, nothing is applied. With `--drift fix`, the
/// plan is applied as with `apply --yes`. Changes that a guard refuses are reported and not applied. A target that is
/// locked by another run is skipped in this round. After a failure, the next round waits twice as long, up to eight
/// intervals or one hour.
///
/// On SIGTERM or Ctrl-C it finishes the requests in progress, sends no new ones, and exits with 0.
#[derive(Debug, Args)]
pub struct Reconcile {
    #[command(flatten)]
    places: Places,

    /// Time between the starts of two rounds, such as 90s, 5m or 1h
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = length)]
    every: Duration,

    /// What to do about drift
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = OnDrift::Report)]
    drift: OnDrift,

    /// Address for GET /healthz and Prometheus' GET /metrics, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "once")]
    listen: Option<SocketAddr>,

    /// URL to post a JSON object to when drift appears or changes: https, or on this machine [default:
    /// PUSHPLAN_WEBHOOK]
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,

    /// Do one round and exit: with `--drift fix` like `apply --yes`, otherwise like `plan --detailed-exitcode`
    #[arg(long)]
    once: bool,

    /// How long to wait for one target before giving up
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = length)]
    within: Duration,

    /// Exit with 0 if manual steps are left, with `--once` [default: 6]
    #[arg(long)]
    allow_manual: bool,

    /// Number of parallel writing requests
    #[arg(long, value_name = "NUMBER", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    concurrency: u16,

    /// What to do when a change fails: stop on that target, or continue with changes that do not depend on it
    #[arg(long, value_enum, default_value_t = WhenFailed::Stop)]
    on_error: WhenFailed,

    /// Seed for the random part of waits after failures [default: random]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Form: one line per round and change, as text or JSON
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnDrift {
    /// Apply the manifests
    Fix,
    /// Change nothing
    Report,
}

fn length(text: &str) -> anyhow::Result<Duration> {
    let delay = Delay::parse(text).filter(|delay| delay.0 > 0);
    let delay = delay.context("expected a duration such as 90s, 10m or 1h30m")?;
    Ok(Duration::from_secs(u64::try_from(delay.0)?))
}

impl Reconcile {
    pub fn run(&self, context: &Context) -> Ended {
        let from_env = || std::env::var(WEBHOOK).ok().filter(|url| !url.is_empty());
        let webhook = self.webhook.clone().or_else(from_env).map(|url| Webhook::new(&url)).transpose()?;
        // An invalid command line is reported at once, instead of in every round.
        self.places.which()?;
        runtime()?.block_on(self.rounds(webhook.as_ref(), context))
    }

    async fn rounds(&self, webhook: Option<&Webhook>, context: &Context) -> Ended {
        let stop = Stop::listen(AT_ONCE).map_err(|error| Failure::new(error.to_string()))?;
        let fixes = self.drift == OnDrift::Fix;
        let board = Arc::new(Board::new(self.every, fixes));
        let server = match self.listen {
            Some(address) => {
                let board = board.clone();
                Some(Server::start(address, Arc::new(move |path| server::answer(&board, path))).await?)
            }
            None => None,
        };
        if let Some(server) = &server {
            self.say(context, &format!("Listening on http://{}", server.address), || {
                json::listening(&format!("http://{}", server.address))
            });
        }
        let how = How {
            concurrency: self.concurrency,
            on_error: self.on_error,
            // The rounds report the results.
            format: Format::Json,
            allow_manual: self.allow_manual,
            turn: Turn::default(),
        };
        let rounds = Rounds {
            places: &self.places,
            how,
            fixes,
            within: self.within,
            board: board.clone(),
            stop: &stop,
            context,
            wrong: RefCell::default(),
        };
        let seed = self.seed.unwrap_or_else(|| uuid::Uuid::new_v4().as_u64_pair().1);
        let schedule = Schedule::new(self.every, seed);
        let mut told = News::default();
        let mut posted = News::default();
        for number in 1.. {
            let began = Instant::now();
            let (looked, exit) = rounds.round().await;
            if let (1, Looked::Nowhere(failure)) = (number, &looked)
                && failure.kind == FailureKind::Usage
            {
                return Err(failure.clone());
            }
            let round = Round { number, at: Timestamp::now(), took: began.elapsed(), looked };
            let failures = note(&board, &round);
            learn(&mut told, &round.looked);
            learn(&mut posted, &round.looked);
            let is_last = self.once || stop.by().is_some();
            let next = (!is_last).then(|| schedule.wait(number, round.took, failures));
            self.tell(context, &round, &told, next);
            told.settle();
            if let Some(webhook) = webhook {
                self.post(webhook, &mut posted, &board, &stop, context).await;
            }
            if self.once {
                return Ok(exit);
            }
            let wait = next.unwrap_or_default().saturating_sub(began.elapsed().saturating_sub(round.took));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stop.asked() => {}
            }
            if stop.by().is_some() {
                break;
            }
        }
        self.say(context, "Stopped.", || json::stopped(Timestamp::now()));
        Ok(Exit::Done)
    }

    /// Prints a message in the requested format.
    fn say(&self, context: &Context, text: &str, line: impl Fn() -> String) {
        match self.format {
            Format::Jsonl => context.out.json(&line()),
            _ => context.out.print(text),
        }
    }

    /// Prints a line for the round, and one for each change since the previous one.
    fn tell(&self, context: &Context, round: &Round, news: &News, next: Option<Duration>) {
        let news = news.pending();
        match self.format {
            Format::Jsonl => {
                context.out.json(&json::round(round, next));
                news.iter().for_each(|told| context.out.json(&json::news(told, round.at)));
            }
            _ => {
                context.out.print(&shown::round(round, next));
                let reasons = shown::reasons(round);
                reasons.iter().chain(&news.iter().flat_map(shown::news).collect::<Vec<_>>()).for_each(|line| {
                    context.out.print(line);
                });
            }
        }
    }

    /// Posts the news. If that fails, they are posted again after the next round.
    async fn post(&self, webhook: &Webhook, news: &mut News, board: &Board, stop: &Stop, context: &Context) {
        let pending = news.pending();
        if pending.is_empty() {
            return;
        }
        let fixes = self.drift == OnDrift::Fix;
        let post = json::post(&pending, self.project().as_deref(), fixes, Timestamp::now());
        match webhook.post(&post, stop).await {
            Ok(()) => {
                board.numbers().posted += 1;
                news.settle();
            }
            Err(why) => {
                board.numbers().not_posted += 1;
                self.say(context, &one_line(&format!("Webhook: {why}")), || {
                    json::not_posted(Timestamp::now(), &why.to_string())
                });
            }
        }
    }

    /// The name of the project, if it has one.
    fn project(&self) -> Option<String> {
        let project = Project::open(&self.places.root().ok()?);
        project.file.project.as_ref()?.name.as_ref().map(|name| name.value.clone())
    }
}

/// Counts a round; returns the number of consecutive failures up to it.
fn note(board: &Board, round: &Round) -> u32 {
    let mut numbers = board.numbers();
    numbers.ended(round.looked.outcome(), round.at);
    let targets = round.looked.targets();
    if let Looked::At(targets) = &round.looked {
        let names: BTreeSet<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        numbers.targets.retain(|name, _| names.contains(name.as_str()));
    }
    for target in targets {
        if let Some(standing) = &target.standing {
            numbers.targets.insert(target.name.clone(), Counts::from(standing));
        }
        target.steps.iter().for_each(|(action, is_done)| numbers.step(action, *is_done));
    }
    numbers.failures
}

fn learn(news: &mut News, looked: &Looked) {
    let Looked::At(targets) = looked else { return };
    news.keep(&targets.iter().map(|target| target.name.as_str()).collect());
    for target in targets {
        if let Some(standing) = &target.standing {
            news.learn(&target.name, standing.clone(), target.corrected.clone());
        }
    }
}

//! Reports of the service on how many devices were reached by managed pushes.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use pushplan_io::client::{Reading, refusal};
use pushplan_io::failure::Failure;
use pushplan_ledger::{Ledger, Log};
use pushplan_model::address::Address;
use pushplan_model::exchange::{Answer, Loss, Meaning, Request};
use pushplan_model::nouns::level::Level;
use pushplan_model::{kinds, text};
use pushplan_project::manifest::Project;
use serde_json::Value;
use tokio::task::JoinSet;

use super::Location;
use super::ledger::address;
use super::ledger::unreadable;
use super::target::{self, Opened};
use super::workspace::same_app;
use crate::live::Pages;
use crate::outcome::{self, Occasion, PushOutcome, PushReport, Trial};

/// The number of requests in flight at a time.
const CONCURRENCY: usize = 8;
/// The maximal number of pages of one list: it covers a few minutes.
const MOST_PAGES: usize = 100;

/// The outcomes of pushes, as the service reports them.
#[derive(Debug)]
pub struct PushOutcomes {
    pub target: String,
    /// By the clock of the service.
    pub now: Timestamp,
    pub pushes: Vec<(Occasion, PushOutcome)>,
    /// The results of experiments, if the service reports them.
    pub trials: BTreeMap<Address, Trial>,
}

impl Location {
    /// Asks the service about pushes of the ledger, or about all of them if no address is named. `project` is the project file.
    pub async fn outcomes(&self, project: &Project, addresses: &[String]) -> Result<PushOutcomes, Failure> {
        let (log, target) = self.log()?;
        let ledger = Ledger::replay(log.read(0).await.map_err(unreadable)?);
        let mut all = outcome::occasions(&ledger);
        let chosen = chosen(addresses, &ledger, &all, &target)?;
        let opened = target::open(project, Some(&target)).await?;
        let asked = ask(&opened, &ledger, &mut all, &chosen).await;
        let now = opened.now();
        let trials = match &asked {
            Ok(_) => trials(&opened, &ledger, &all, &chosen, now).await,
            Err(_) => Ok(BTreeMap::new()),
        };
        opened.close().await;
        let ((by_id, listed), trials) = (asked?, trials?);
        let reached = outcome::reached(&all, &by_id, &listed, now);
        let pushes = all.into_iter().zip(reached).filter(|(one, _)| chosen.contains(&one.address)).collect();
        Ok(PushOutcomes { target, now, pushes, trials })
    }
}

/// The addresses that are requested.
fn chosen(addresses: &[String], ledger: &Ledger, all: &[Occasion], target: &str) -> Result<BTreeSet<Address>, Failure> {
    let known: BTreeSet<Address> = all.iter().map(|one| one.address.clone()).collect();
    let mut chosen = BTreeSet::new();
    for written in addresses {
        let address = address(written)?;
        if !known.contains(&address) {
            return Err(not_sending(&address, ledger, &known, target));
        }
        chosen.insert(address);
    }
    Ok(if addresses.is_empty() { known } else { chosen })
}

/// The failure for an address without a scheduled push.
pub fn not_sending(address: &Address, ledger: &Ledger, known: &BTreeSet<Address>, target: &str) -> Failure {
    if ledger.owned.contains_key(address) {
        return Failure::usage(format!("{address} has no send time, so it has no outcome"))
            .help("scheduled pushes and experiments have one");
    }
    let names: Vec<String> = known.iter().map(ToString::to_string).collect();
    let failure = Failure::usage(format!("the ledger of `{target}` has nothing at {address}"));
    match text::nearest(&address.to_string(), names.iter().map(String::as_str)) {
        Some(near) => failure.help(format!("did you mean {near}?")),
        None => failure.help("it was never applied, so nothing was sent; `pushplan plan` shows what would be sent"),
    }
}

/// Requests the reports of the chosen pushes. Their current state is read first if the service shows it.
async fn ask(
    opened: &Opened,
    ledger: &Ledger,
    all: &mut [Occasion],
    chosen: &BTreeSet<Address>,
) -> Result<(BTreeMap<String, PushReport>, Vec<PushReport>), Failure> {
    same_app(ledger, opened)?;
    let now = opened.now();
    let lacks_id = |one: &Occasion| one.push_ids.is_empty() && one.number.is_none();
    learn(opened, ledger, all, |one| chosen.contains(&one.address) && (lacks_id(one) || !one.is_asked_about(now)))
        .await?;
    let asked = all.iter().filter(|one| chosen.contains(&one.address) && one.is_asked_about(now));
    let (known, unnamed): (Vec<&Occasion>, Vec<&Occasion>) = asked.partition(|one| !one.push_ids.is_empty());
    let requests: Vec<Request> = known.iter().flat_map(|one| one.reports()).collect();
    let ids = known.iter().flat_map(|one| one.push_ids.clone());
    let mut by_id = BTreeMap::new();
    for (id, body) in ids.zip(get_all(opened, requests).await?) {
        if let Some(report) = body.as_ref().and_then(|body| PushReport::read(&named(body, &id))) {
            by_id.insert(id, report);
        }
    }
    let mut listed = Vec::new();
    for request in unnamed.iter().flat_map(|one| one.reports()).collect::<BTreeSet<_>>() {
        listed.extend(list(opened, request).await?);
    }
    // A push without a report may have been postponed.
    let has_none = |one: &Occasion| !one.push_ids.is_empty() && !one.push_ids.iter().any(|id| by_id.contains_key(id));
    learn(opened, ledger, all, |one| chosen.contains(&one.address) && one.is_asked_about(now) && has_none(one)).await?;
    Ok((by_id, listed))
}

/// The results of the chosen experiments that have begun. Only the level extended has this report.
async fn trials(
    opened: &Opened,
    ledger: &Ledger,
    all: &[Occasion],
    chosen: &BTreeSet<Address>,
    now: Timestamp,
) -> Result<BTreeMap<Address, Trial>, Failure> {
    let is_trial = |one: &&Occasion| {
        let spec = ledger.owned.get(&one.address).map(|owned| &owned.spec);
        chosen.contains(&one.address)
            && one.is_asked_about(now)
            && spec.is_some_and(|spec| outcome::is_trial(&one.address, spec))
    };
    let begun = all.iter().filter(|_| opened.level >= Level::Extended).filter(is_trial);
    let asked: BTreeMap<&Address, Request> =
        begun.filter_map(|one| Some((&one.address, Trial::request(one.push_ids.first()?)))).collect();
    let answers = get_all(opened, asked.values().cloned().collect()).await?;
    let read =
        asked.into_keys().zip(answers).filter_map(|(address, body)| Some((address.clone(), Trial::read(&body?)?)));
    Ok(read.collect())
}

/// A single report may leave out the id of its push.
fn named(body: &Value, id: &str) -> Value {
    let mut body = body.clone();
    if body.is_object() && !body["push_id"].is_string() {
        body["push_id"] = id.into();
    }
    body
}

/// Reads the resources that the service shows and that still exist: when each is sent now, and push ids that the ledger
/// lacks.
async fn learn(
    opened: &Opened,
    ledger: &Ledger,
    all: &mut [Occasion],
    is_asked: impl Fn(&Occasion) -> bool,
) -> Result<(), Failure> {
    let request = |one: &Occasion| {
        let spec = &ledger.owned.get(&one.address)?.spec;
        kinds::api(&one.address).get(&one.id, spec, opened.level)
    };
    let asked = all.iter().filter(|one| is_asked(one) && !one.in_doubt);
    let asked: BTreeMap<Address, Request> =
        asked.filter_map(|one| Some((one.address.clone(), request(one)?))).collect();
    let answers = get_all(opened, asked.values().cloned().collect()).await?;
    let answers: BTreeMap<&Address, Option<Value>> = asked.keys().zip(answers).collect();
    for one in all.iter_mut() {
        let api = kinds::api(&one.address);
        let Some(Some(body)) = answers.get(&one.address) else { continue };
        let Some(found) = api.got(&one.id, &Value::Null, body).ok().flatten() else { continue };
        if one.push_ids.is_empty() && one.number.is_none() {
            one.push_ids = found.push_ids;
        }
        if let Some(spec) = &found.spec {
            one.follow(&api.occasions(spec));
        }
    }
    outcome::sort(all);
    Ok(())
}

/// Every item of a list of reports.
async fn list(opened: &Opened, mut request: Request) -> Result<Vec<PushReport>, Failure> {
    let (mut found, mut pages) = (Vec::new(), Pages::default());
    let origin = opened.origin().to_string();
    for _ in 0..MOST_PAGES {
        let body = get(opened.reading(), request.clone()).await?.unwrap_or_default();
        found.extend(body["pushes"].as_array().into_iter().flatten().filter_map(PushReport::read));
        let next = pages.next(&origin, &request.path, &body).map_err(Failure::new)?;
        let Some(next) = next else { return Ok(found) };
        request = Request::get(next);
    }
    Err(Failure::new(format!("{request}: the list has more than {MOST_PAGES} pages")))
}

/// The answers to several requests, in their order; `None` for a missing resource.
async fn get_all(opened: &Opened, requests: Vec<Request>) -> Result<Vec<Option<Value>>, Failure> {
    let mut answers: BTreeMap<usize, Option<Value>> = BTreeMap::new();
    let (mut waiting, mut under_way) = (requests.into_iter().enumerate(), JoinSet::new());
    let reading = opened.reading();
    loop {
        for (number, request) in waiting.by_ref().take(CONCURRENCY - under_way.len()) {
            let reading = reading.clone();
            under_way.spawn(async move { (number, get(reading, request).await) });
        }
        let Some(ended) = under_way.join_next().await else { return Ok(answers.into_values().collect()) };
        let (number, answer) = ended.map_err(|error| Failure::new(error.to_string()))?;
        answers.insert(number, answer?);
    }
}

async fn get(reading: Reading, request: Request) -> Result<Option<Value>, Failure> {
    let answered: Result<Answer, Loss> = reading.read(&request).await;
    let answer = answered.map_err(|(Loss::NotSent(why) | Loss::Unknown(why))| {
        Failure::new(format!("{request} failed: {why}")).help("nothing was changed; try again")
    })?;
    if let Some(refused) = refusal(reading.origin(), &answer) {
        return Err(refused);
    }
    match answer.meaning() {
        Meaning::Done => Ok(answer.body),
        Meaning::Missing => Ok(None),
        _ => Err(Failure::new(format!("{request} failed: {}", answer.error())).help("nothing was changed; try again")),
    }
}

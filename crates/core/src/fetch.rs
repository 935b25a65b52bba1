//! Sending the requests of a fetch, several at a time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use pushplan_io::client::{Reading, refusal};
use pushplan_io::failure::Failure;
use pushplan_ledger::Ledger;
use pushplan_model::exchange::{Answer, Loss, Meaning, Request};
use pushplan_model::kinds::{Found, KINDS, Kind};
use pushplan_model::nouns::level::Level;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::live::{Ask, Fetch, Live, Look, Pages, People, PrefetchedLists, Sought, contradicts_list, items, take_page};

/// The number of requests in flight at a time.
const CONCURRENCY: usize = 8;

/// Fetches the live state, without writing. `tell` receives the reason for each wait.
pub async fn fetch(reading: &Reading, look: Look<'_>, tell: &(dyn Fn(&str) + Sync)) -> Result<Live, Failure> {
    fetch_from(PrefetchedLists::default(), reading, look, tell).await
}

/// Fetches the live state, starting from lists that were fetched before.
pub(crate) async fn fetch_from(
    prefetched: PrefetchedLists,
    reading: &Reading,
    look: Look<'_>,
    tell: &(dyn Fn(&str) + Sync),
) -> Result<Live, Failure> {
    let (mut fetch, asks) = Fetch::start_from(prefetched, look, Timestamp::now());
    let mut waiting = VecDeque::from(asks);
    let mut under_way = JoinSet::new();
    while !fetch.is_done() {
        while under_way.len() < CONCURRENCY {
            match waiting.pop_front() {
                Some(Ask::Get(number, request)) => {
                    let reading = reading.clone();
                    under_way.spawn(async move { (number, reading.read(&request).await, request) });
                }
                Some(Ask::WaitUntil(until)) => {
                    let wait = Duration::try_from(until.duration_since(Timestamp::now())).unwrap_or_default();
                    tell(&looking_again(&fetch, wait));
                    tokio::time::sleep(wait.max(Duration::from_millis(1))).await;
                    waiting.extend(fetch.later(Timestamp::now()));
                }
                None => break,
            }
        }
        let Some(ended) = under_way.join_next().await else {
            return Err(Failure::new("what the service has could not be found out: nothing is left to ask"));
        };
        let (number, answered, request) = ended.map_err(|error| Failure::new(error.to_string()))?;
        let answer = match answered {
            Ok(answer) => answer,
            Err(loss) => {
                let asks = fetch.lost(number, why(&loss), Timestamp::now());
                waiting.extend(asks.ok_or_else(|| lost(&request, &loss))?);
                continue;
            }
        };
        if let Some(refused) = refusal(reading.origin(), &answer).filter(|_| fetch.needs(number)) {
            return Err(refused);
        }
        waiting.extend(fetch.on(number, &answer, Timestamp::now()).map_err(Failure::new)?);
    }
    Ok(fetch.finish())
}

/// Reads the content of every listed resource of a kind that has not been read, managed or not.
pub(crate) async fn read_listed(
    reading: &Reading,
    kind: &'static Kind,
    level: Level,
    live: &mut Live,
) -> Result<(), Failure> {
    let Some(listed) = live.listed.get_mut(kind.key) else { return Ok(()) };
    let unread = listed.values().filter(|found| found.spec.is_none()).map(|found| found.id.clone());
    let asks = unread.filter_map(|id| Some((kind.api.get(&id, &Value::Null, level)?, id)));
    let mut waiting: VecDeque<(Request, String)> = asks.collect();
    let mut under_way = JoinSet::new();
    loop {
        while under_way.len() < CONCURRENCY
            && let Some((request, id)) = waiting.pop_front()
        {
            let reading = reading.clone();
            under_way.spawn(async move { (reading.read(&request).await, request, id) });
        }
        let Some(ended) = under_way.join_next().await else { return Ok(()) };
        let (answered, request, id) = ended.map_err(|error| Failure::new(error.to_string()))?;
        let answer = answered.map_err(|loss| lost(&request, &loss))?;
        match answer.meaning() {
            Meaning::Done => {
                // Unmanaged resources may have an unknown form.
                let got = kind.api.got(&id, &Value::Null, answer.body.as_ref().unwrap_or(&Value::Null));
                if let (Some(known), Ok(Some(got))) = (listed.get_mut(&id), got) {
                    known.spec = got.spec;
                }
            }
            // It may name a segment that would be deleted, and contradictory answers prove nothing.
            Meaning::Missing => return Err(Failure::new(contradicts_list(&request))),
            _ => {
                let failed = || Failure::new(format!("{request} failed: {}", answer.error()));
                return Err(refusal(reading.origin(), &answer).unwrap_or_else(failed));
            }
        }
    }
}

/// Lists every kind, as far as possible: the fetch repeats requests that fail.
pub async fn list(reading: &Reading, level: Level, settle: SignedDuration) -> PrefetchedLists {
    let mut under_way = JoinSet::new();
    for kind in KINDS.iter().filter(|kind| !kind.api.list(level).is_empty()) {
        under_way.spawn(list_one(reading.clone(), kind, level, settle));
    }
    let mut prefetched = PrefetchedLists::default();
    while let Some(ended) = under_way.join_next().await {
        if let Ok(Some((kind, listed, at))) = ended {
            prefetched.listed.insert(kind, listed);
            prefetched.at = prefetched.at.max(at);
        }
    }
    prefetched
}

async fn list_one(
    reading: Reading,
    kind: &'static Kind,
    level: Level,
    settle: SignedDuration,
) -> Option<(&'static str, BTreeMap<String, Found>, Option<Timestamp>)> {
    let origin = reading.origin().to_string();
    let (mut listed, mut pages, mut latest) = (BTreeMap::new(), Pages::default(), None);
    let mut waiting = VecDeque::from(kind.api.list(level));
    while let Some(request) = waiting.pop_front() {
        let Answer { body, at, .. } = page(&reading, &request).await?;
        latest = latest.max(at);
        let (body, at) = (body?, at.unwrap_or_else(Timestamp::now));
        // Pages are parsed one after the other: all cores are reading manifests, and waiting pages cost nothing.
        let found = items(kind, &request, &body).ok()?.iter().map(|item| kind.api.found(item));
        take_page(kind, &request, found, (level, settle, at), &mut listed).ok()?;
        let next = pages.next(&origin, &request.path, &body).ok()?;
        waiting.extend(next.map(Request::get));
    }
    Some((kind.key, listed, latest))
}

/// Searches for people and devices in their lists, as far as possible.
pub async fn seek(reading: &Reading, ledger: &Arc<Ledger>, level: Level) -> People {
    let mut under_way = JoinSet::new();
    for sought in Sought::of(ledger, level) {
        under_way.spawn(seek_in(reading.clone(), sought, ledger.clone()));
    }
    let mut people = People::default();
    while let Some(ended) = under_way.join_next().await {
        people.extend(ended.unwrap_or_default());
    }
    people
}

async fn seek_in(reading: Reading, mut sought: Sought, ledger: Arc<Ledger>) -> People {
    let (origin, mut pages) = (reading.origin().to_string(), Pages::default());
    let mut waiting = Some(sought.list.request());
    while let Some(request) = waiting.take() {
        let Some(body) = page(&reading, &request).await.and_then(|answer| answer.body) else { return sought.so_far() };
        if sought.page(&body, &ledger) {
            let Ok(next) = pages.next(&origin, &request.path, &body) else { return sought.so_far() };
            waiting = next.map(Request::get);
        }
    }
    sought.found()
}

/// A page, if the first request for it succeeds.
async fn page(reading: &Reading, request: &Request) -> Option<Answer> {
    reading.glance(&request.path).await.filter(|answer| answer.meaning() == Meaning::Done)
}

/// `templates/winback is in no list; checking again in 10 s`
fn looking_again(fetch: &Fetch, wait: Duration) -> String {
    let mut missing = fetch.missing();
    let first = missing.next().map(ToString::to_string).unwrap_or_default();
    let more = match missing.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let seconds = wait.as_secs() + 1;
    format!("the service does not list {first}{more}; it may be slow, so this is checked again in {seconds} s")
}

fn lost(request: &Request, loss: &Loss) -> Failure {
    Failure::new(format!("{request} failed: {}", why(loss))).help("nothing was changed; try again")
}

fn why(loss: &Loss) -> &str {
    let (Loss::NotSent(why) | Loss::Unknown(why)) = loss;
    why
}

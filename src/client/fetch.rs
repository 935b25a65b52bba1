//! Carrying the requests of a fetch, several at a time.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinSet;

use super::{Reading, refusal};
use crate::exchange::{Loss, Request};
use crate::failure::Failure;
use crate::live::{Ask, Fetch, Live, Look};

/// How many requests are under way at a time.
const CONCURRENCY: usize = 8;

/// Fetches what the service has. It can do nothing but look. Why it waits, where it does, it tells.
pub async fn fetch(reading: &Reading, look: Look<'_>, tell: &(dyn Fn(&str) + Sync)) -> Result<Live, Failure> {
    let (mut fetch, asks) = Fetch::start(look, Timestamp::now());
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

/// `templates/winback is in no list; looking again in 10 s`
fn looking_again(fetch: &Fetch, wait: Duration) -> String {
    let mut missing = fetch.missing();
    let first = missing.next().map(ToString::to_string).unwrap_or_default();
    let is = match missing.count() {
        0 => " is".to_owned(),
        more => format!(" and {more} more are"),
    };
    format!("{first}{is} in no list; looking again in {} s", wait.as_secs() + 1)
}

fn lost(request: &Request, loss: &Loss) -> Failure {
    Failure::new(format!("{request} failed: {}", why(loss))).help("nothing was changed; try again")
}

fn why(loss: &Loss) -> &str {
    let (Loss::NotSent(why) | Loss::Unknown(why)) = loss;
    why
}

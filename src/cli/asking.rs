//! Requests to a target that only need the project file: manifests may have errors, and a ledger need not exist.

use std::fmt::Display;

use serde_json::Value;

use super::planning::{TargetArgs, tell};
use super::{Context, runtime};
use crate::client::refusal;
use crate::engine::NotOpened;
use crate::engine::target::{self, Opened};
use crate::exchange::{Answer, Loss, Meaning};
use crate::failure::{Failure, FailureKind};
use crate::live::Pages;
use crate::manifest::{PROJECT_FILE, Project};

/// The maximal number of pages of one list.
pub const MOST_PAGES: usize = 1_000;

/// Opens the target and calls a function with it. A service that was started for it is stopped in any case.
pub fn with<T>(
    place: &TargetArgs,
    context: &Context,
    ask: impl AsyncFnOnce(&Opened) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let project = project(place, "asked", context)?;
    runtime()?.block_on(async {
        let opened = target::open(&project, place.target()).await?;
        let asked = ask(&opened).await;
        opened.close().await;
        asked
    })
}

/// Reads the project file. One with an error is not used: the value that cannot be read may pin or refuse something.
/// `done` is the word for the action in the message.
pub fn project(place: &TargetArgs, done: &str, context: &Context) -> Result<Project, Failure> {
    place.project_file().map_err(|why| match why {
        NotOpened::Failed(failure) => failure,
        NotOpened::Invalid(invalid) => {
            tell(&invalid.manifests, invalid.errors.iter(), false, context);
            Failure::new(format!("{PROJECT_FILE} has errors: nothing was {done}"))
                .kind(FailureKind::Invalid)
                .help("correct them; this command does not need valid manifests")
        }
    })
}

/// Sends a `GET`. Refused credentials are a failure.
async fn get(opened: &Opened, path: &str) -> Result<Answer, Failure> {
    let reading = opened.reading();
    let answer = reading.get(path).await.map_err(|(Loss::NotSent(why) | Loss::Unknown(why))| {
        Failure::new(format!("GET {path} failed: {why}")).help("nothing was changed; try again")
    })?;
    match refusal(reading.origin(), &answer) {
        Some(refused) => Err(refused),
        None => Ok(answer),
    }
}

/// The content of a path; `None` if it does not exist.
pub async fn find(opened: &Opened, path: &str) -> Result<Option<Value>, Failure> {
    let answer = get(opened, path).await?;
    match answer.meaning() {
        Meaning::Done => Ok(answer.body),
        Meaning::Missing => Ok(None),
        Meaning::Refused | Meaning::Busy | Meaning::Unknown => Err(failed(path, &answer)),
    }
}

/// The content of a path that always exists.
pub async fn read(opened: &Opened, path: &str) -> Result<Value, Failure> {
    let answer = get(opened, path).await?;
    match answer.meaning() {
        Meaning::Done => Ok(answer.body.unwrap_or_default()),
        Meaning::Missing | Meaning::Refused | Meaning::Busy | Meaning::Unknown => Err(failed(path, &answer)),
    }
}

fn failed(path: &str, answer: &Answer) -> Failure {
    Failure::new(format!("GET {path} failed: {}", answer.error()))
}

/// All pages of a list, in order.
pub async fn pages(opened: &Opened, path: &str) -> Result<Vec<Value>, Failure> {
    let first = read(opened, path).await?;
    rest_of(opened, path, first).await
}

/// A first page, and all following ones.
pub(crate) async fn rest_of(opened: &Opened, path: &str, first: Value) -> Result<Vec<Value>, Failure> {
    let origin = opened.origin().to_string();
    let mut pages = Pages::default();
    let mut path = path.to_owned();
    let mut all = vec![first];
    loop {
        let next = pages.next(&origin, &path, all.last().unwrap_or(&Value::Null)).map_err(Failure::new)?;
        let Some(next) = next else { return Ok(all) };
        if all.len() >= MOST_PAGES {
            return Err(Failure::new(format!("the list has more than {MOST_PAGES} pages, which is the limit"))
                .help(format!("request a smaller list; the next page is GET {next}")));
        }
        all.push(read(opened, &next).await?);
        path = next;
    }
}

/// The failure for an answer in a wrong form.
pub fn unclear(path: &str, why: impl Display) -> Failure {
    Failure::new(format!("the answer to GET {path} cannot be read: {why}"))
        .help(format!("look at it with `pushplan api GET '{path}'`"))
}

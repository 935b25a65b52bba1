//! What the service has, list by list. Lists are fetched at the same time; the pages of one come one after the other.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::client::{Client, Place};
use super::typed::{Experiment, ListedChannel, ListedSegment, ListedUser, Pipeline, ScheduledPush, Template};

/// What was fetched, and what that took.
#[derive(Debug, Default)]
pub struct Lists {
    pub segments: Vec<ListedSegment>,
    pub templates: Vec<Template>,
    pub pipelines: Vec<Pipeline>,
    pub schedules: Vec<ScheduledPush>,
    pub experiments: Vec<Experiment>,
    pub named_users: Vec<ListedUser>,
    pub channels: Vec<ListedChannel>,
    pub tags: Vec<String>,
    /// How many requests each list took.
    pub requests: BTreeMap<&'static str, usize>,
    /// Of all answers.
    pub bytes: usize,
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Page<T> {
    #[serde(alias = "segments", alias = "templates", alias = "pipelines", alias = "schedules")]
    #[serde(alias = "experiments", alias = "named_users", alias = "channels", alias = "tags")]
    items: Vec<T>,
    next_page: Option<String>,
}

/// One list: its items, how many pages it had, and how many bytes.
struct Fetched<T> {
    items: Vec<T>,
    pages: usize,
    bytes: usize,
}

async fn list<T: DeserializeOwned>(place: &Place, path: &str) -> Fetched<T> {
    let mut client = Client::connect(place).await;
    let mut fetched = Fetched { items: Vec::new(), pages: 0, bytes: 0 };
    let mut next = Some(path.to_owned());
    while let Some(path) = next.take() {
        let body = client.get(&path).await;
        let page: Page<T> = serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{path}: {error}"));
        fetched.items.extend(page.items);
        fetched.pages += 1;
        fetched.bytes += body.len();
        let here = format!("http://{}", place.authority);
        next = page.next_page.map(|url| url.strip_prefix(&here).unwrap_or(&url).to_owned());
    }
    fetched
}

pub async fn fetch(place: &Place) -> Lists {
    let (segments, templates, enabled, disabled, schedules, experiments, named_users, channels, tags) = tokio::join!(
        list(place, "/api/segments"),
        list(place, "/api/templates"),
        list::<Pipeline>(place, "/api/pipelines?enabled=true"),
        list::<Pipeline>(place, "/api/pipelines?enabled=false"),
        list(place, "/api/schedules"),
        list(place, "/api/experiments"),
        list(place, "/api/named_users"),
        list(place, "/api/channels"),
        list(place, "/api/tags/"),
    );
    let mut lists = Lists::default();
    fn take<T>(
        requests: &mut BTreeMap<&'static str, usize>,
        bytes: &mut usize,
        name: &'static str,
        list: Fetched<T>,
    ) -> Vec<T> {
        *requests.entry(name).or_default() += list.pages;
        *bytes += list.bytes;
        list.items
    }
    let Lists { requests, bytes, .. } = &mut lists;
    let (segments, templates) =
        (take(requests, bytes, "segments", segments), take(requests, bytes, "templates", templates));
    let mut pipelines = take(requests, bytes, "pipelines", enabled);
    pipelines.extend(take(requests, bytes, "pipelines", disabled));
    let schedules = take(requests, bytes, "schedules", schedules);
    let experiments = take(requests, bytes, "experiments", experiments);
    let named_users = take(requests, bytes, "named_users", named_users);
    let channels = take(requests, bytes, "channels", channels);
    let tags = take(requests, bytes, "tags", tags);
    Lists { segments, templates, pipelines, schedules, experiments, named_users, channels, tags, ..lists }
}

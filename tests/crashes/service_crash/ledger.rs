//! One client's knowledge of its writes: the objects that must exist, that may exist, and that must be gone.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{Timestamp, ToSpan, Unit};
use pushplan_testing::Dice;
use reqwest::Method;
use serde_json::{Value, json};

use super::process::{Broken, Talker};

/// The objects of one kind. Each client's names begin with its own name.
#[derive(Default)]
struct Things {
    /// By id: the possible names, and whether the object may be gone.
    known: BTreeMap<String, (Vec<String>, bool)>,
    /// The names in creations without an answer, and the number of objects in each request.
    pending: Vec<(String, usize)>,
}

impl Things {
    /// Compares with the listed objects, which are certain from then on.
    fn check(&mut self, kind: &str, listed: BTreeMap<String, String>) {
        for (id, (names, may_be_gone)) in &self.known {
            match listed.get(id) {
                Some(name) => assert!(names.contains(name), "{kind} {id} is named {name}, not one of {names:?}"),
                None => assert!(may_be_gone, "{kind} {id} is lost: {names:?}"),
            }
        }
        let mut unexplained: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, name) in listed.iter().filter(|(id, _)| !self.known.contains_key(*id)) {
            *unexplained.entry(name).or_insert(0) += 1;
        }
        for (name, number) in unexplained {
            let whole = self.pending.iter().any(|(pending, wanted)| pending == name && *wanted == number);
            assert!(whole, "{number} {kind} of the name {name} are there, of {:?}", self.pending);
        }
        self.pending.clear();
        self.known = listed.into_iter().map(|(id, name)| (id, (vec![name], false))).collect();
    }
}

pub struct Ledger {
    name: String,
    step: usize,
    dice: Dice,
    channel: String,
    segments: Things,
    templates: Things,
    pipelines: Things,
    /// The pipelines that its tag triggers, immediately and a little later.
    triggered: [String; 2],
    /// Whether its channel has the tag, as far as known.
    tagged: bool,
    /// Whether a request that changes this was not answered.
    in_doubt: bool,
    /// The number of times that the tag was added.
    added: usize,
    /// The ids and push ids of schedules that are pending or were sent.
    scheduled: Vec<(String, String)>,
    /// Pushes that were sent immediately.
    pushed: Vec<String>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

impl Ledger {
    pub async fn new(number: usize, talker: &Talker) -> Self {
        let name = format!("client-{number}");
        let open = json!({ "open_platform_name": "sms" });
        let channel = json!({ "channel": { "type": "open", "opt_in": true, "address": name, "open": open } });
        let answer = talker.change(Method::POST, "/api/channels/open", Some(&channel)).await.expect("an answer");
        let channel = text(&answer["channel_id"]);
        let pipeline = |delay: u32| {
            let push = json!({ "audience": "triggered", "device_types": "all", "notification": { "alert": "a" } });
            let outcome = json!({ "delay": delay, "push": push });
            json!({ "name": "auto", "enabled": true, "immediate_trigger": { "tag_added": { "tag": name, "group": "group" } }, "outcome": outcome })
        };
        let both = json!([pipeline(0), pipeline(1)]);
        let answer = talker.change(Method::POST, "/api/pipelines", Some(&both)).await.expect("an answer");
        let id = |at: usize| text(&answer["pipeline_urls"][at]).rsplit('/').next().expect("an id").to_owned();
        Self {
            triggered: [id(0), id(1)],
            name,
            step: 0,
            dice: Dice::new(number as u64),
            channel,
            segments: Things::default(),
            templates: Things::default(),
            pipelines: Things::default(),
            tagged: false,
            in_doubt: false,
            added: 0,
            scheduled: Vec::new(),
            pushed: Vec::new(),
        }
    }

    /// Writes until there is no answer, and returns the number of answered writes.
    pub async fn write_until_broken(&mut self, talker: &Talker) -> usize {
        let mut done = 0;
        while self.write(talker).await.is_ok() {
            done += 1;
        }
        done
    }

    async fn write(&mut self, talker: &Talker) -> Result<(), Broken> {
        self.step += 1;
        let name = format!("{} step {}", self.name, self.step);
        match self.dice.below(12) {
            0..=3 => self.segment(talker, name).await,
            4 | 5 => self.template(talker, name).await,
            6 => self.three_pipelines(talker, name).await,
            7..=9 => self.delete(talker).await,
            10 => self.tag(talker).await,
            _ if self.dice.below(2) == 0 => self.schedule(talker).await,
            _ => {
                let push = self.push();
                let answer = talker.change(Method::POST, "/api/push", Some(&push)).await?;
                self.pushed.push(text(&answer["push_ids"][0]));
                Ok(())
            }
        }
    }

    fn push(&self) -> Value {
        json!({ "audience": { "channel": self.channel }, "device_types": "all", "notification": { "alert": "a" } })
    }

    async fn segment(&mut self, talker: &Talker, name: String) -> Result<(), Broken> {
        let body = json!({ "display_name": name, "criteria": { "tag": name } });
        let old = self.segments.known.keys().next_back().cloned().filter(|_| self.dice.below(2) == 0);
        if let Some(id) = old {
            let names = &mut self.segments.known.get_mut(&id).expect("it is known").0;
            names.push(name.clone());
            talker.change(Method::PUT, &format!("/api/segments/{id}"), Some(&body)).await?;
            *names = vec![name];
            return Ok(());
        }
        self.segments.pending.push((name.clone(), 1));
        let answer = talker.change(Method::POST, "/api/segments", Some(&body)).await?;
        self.segments.pending.pop();
        self.segments.known.insert(text(&answer["segment_id"]), (vec![name], false));
        Ok(())
    }

    async fn template(&mut self, talker: &Talker, name: String) -> Result<(), Broken> {
        let body = json!({ "name": name, "push": { "notification": { "alert": "a" } } });
        self.templates.pending.push((name.clone(), 1));
        let answer = talker.change(Method::POST, "/api/templates", Some(&body)).await?;
        self.templates.pending.pop();
        self.templates.known.insert(text(&answer["template_id"]), (vec![name], false));
        Ok(())
    }

    /// Creates all three or none.
    async fn three_pipelines(&mut self, talker: &Talker, name: String) -> Result<(), Broken> {
        let push = json!({ "audience": "triggered", "device_types": "all", "notification": { "alert": "a" } });
        let one =
            json!({ "name": name, "enabled": false, "immediate_trigger": "first_open", "outcome": { "push": push } });
        self.pipelines.pending.push((name.clone(), 3));
        let answer = talker.change(Method::POST, "/api/pipelines", Some(&json!([one, one, one]))).await?;
        self.pipelines.pending.pop();
        for url in answer["pipeline_urls"].as_array().expect("a list") {
            let id = text(url).rsplit('/').next().expect("an id").to_owned();
            self.pipelines.known.insert(id, (vec![name.clone()], false));
        }
        Ok(())
    }

    async fn delete(&mut self, talker: &Talker) -> Result<(), Broken> {
        let kinds =
            [("segments", &mut self.segments), ("templates", &mut self.templates), ("pipelines", &mut self.pipelines)];
        for (kind, things) in kinds {
            if let Some((id, (_, may_be_gone))) = things.known.iter_mut().next() {
                let id = id.clone();
                *may_be_gone = true;
                talker.change(Method::DELETE, &format!("/api/{kind}/{id}"), None).await?;
                things.known.remove(&id);
            }
        }
        Ok(())
    }

    async fn tag(&mut self, talker: &Talker) -> Result<(), Broken> {
        let verb = if self.tagged { "remove" } else { "add" };
        self.in_doubt = true;
        let body = json!({ "audience": { "channel": self.channel }, verb: { "group": [self.name] } });
        talker.change(Method::POST, "/api/channels/tags", Some(&body)).await?;
        self.in_doubt = false;
        self.now_tagged(!self.tagged);
        Ok(())
    }

    fn now_tagged(&mut self, tagged: bool) {
        self.added += usize::from(tagged && !self.tagged);
        self.tagged = tagged;
    }

    /// Creates two that are due in a second or two.
    async fn schedule(&mut self, talker: &Talker) -> Result<(), Broken> {
        let time = Timestamp::now().round(Unit::Second).expect("a time") + (1 + self.dice.below(2) as i64).seconds();
        let time = time.strftime("%Y-%m-%dT%H:%M:%S").to_string();
        let one = json!({ "name": self.name, "schedule": { "scheduled_time": time }, "push": self.push() });
        let answer = talker.change(Method::POST, "/api/schedules", Some(&json!([one, one]))).await?;
        for at in 0..2 {
            let push_id = text(&answer["schedules"][at]["push_ids"][0]);
            self.scheduled.push((text(&answer["schedule_ids"][at]), push_id));
        }
        Ok(())
    }

    /// Checks that the service has everything that it acknowledged, and nothing that was not requested.
    pub async fn check_all(ledgers: &mut [Ledger], talker: &Talker) {
        let segments = talker.all("/api/segments", "segments").await;
        let templates = talker.all("/api/templates", "templates").await;
        let pipelines = talker.all("/api/pipelines", "pipelines").await;
        for ledger in ledgers {
            let own = |items: &[Value], id: &str, name: &str| -> BTreeMap<String, String> {
                let named = items.iter().map(|item| (text(&item[id]), text(&item[name])));
                named.filter(|(_, name)| name.split(' ').next() == Some(&ledger.name)).collect()
            };
            let (segments, templates) = (own(&segments, "id", "display_name"), own(&templates, "id", "name"));
            let pipelines = own(&pipelines, "uid", "name");
            ledger.segments.check("segments", segments);
            ledger.templates.check("templates", templates);
            ledger.pipelines.check("pipelines", pipelines);
            let (_, channel) = talker.get(&format!("/api/channels/{}", ledger.channel)).await;
            let tags = &channel["channel"]["tag_groups"]["group"];
            let tagged = tags.as_array().is_some_and(|tags| tags.contains(&json!(ledger.name)));
            assert!(ledger.in_doubt || tagged == ledger.tagged, "the tag of {}", ledger.name);
            ledger.now_tagged(tagged);
            ledger.in_doubt = false;
            for push_id in ledger.pushed.iter().rev().take(3) {
                let (status, push) = talker.get(&format!("/api/reports/responses/{push_id}")).await;
                assert_eq!((status, &push["sends"]), (200, &json!(1)), "{push_id}");
            }
            for (id, push_id) in ledger.scheduled.iter().rev().take(4) {
                let (waits, _) = talker.get(&format!("/api/schedules/{id}")).await;
                if waits == 404 {
                    let (status, push) = talker.get(&format!("/api/reports/responses/{push_id}")).await;
                    assert_eq!((status, &push["sends"]), (200, &json!(1)), "the scheduled push {push_id}");
                }
            }
        }
    }

    /// Checks that every push was sent at most once, and every scheduled one was sent when due.
    pub async fn check_sent(ledgers: &[Ledger], talker: &Talker, all: bool) {
        let list = "/api/reports/responses/list?start=2020-01-01&end=2100-01-01&limit=1000";
        let mut by_group: BTreeMap<String, usize> = BTreeMap::new();
        let mut sent = BTreeSet::new();
        for push in talker.all(list, "pushes").await {
            assert_eq!(push["sends"], 1, "{push:#}");
            assert!(sent.insert(text(&push["push_uuid"])), "listed twice: {push:#}");
            if let Some(group) = push["group_id"].as_str() {
                *by_group.entry(group.to_owned()).or_insert(0) += 1;
            }
        }
        for ledger in ledgers {
            let fired = |at: usize| by_group.get(&ledger.triggered[at]).copied().unwrap_or(0);
            assert_eq!(fired(0), ledger.added, "{}: what the tag sets off at once", ledger.name);
            assert!(fired(1) <= ledger.added, "{}: {} of {}", ledger.name, fired(1), ledger.added);
            assert!(!all || fired(1) == ledger.added, "{}: {} of {} later", ledger.name, fired(1), ledger.added);
            assert!(ledger.pushed.iter().all(|push_id| sent.contains(push_id)), "a push is lost");
            for (id, push_id) in &ledger.scheduled {
                let number = by_group.get(id).copied().unwrap_or(0);
                assert!(number == 1 || (!all && number == 0), "the scheduled push {push_id} was sent {number} times");
            }
        }
    }
}

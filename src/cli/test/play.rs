//! Playing a case: time passes, things happen to its device, and what is there is held against what is expected.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::stage::Stage;
use super::why::Reasons;
use crate::address::Address;
use crate::cases::{
    self, Case, CaseLine, Event, Expect, ExpectedAlert, ExpectedMessage, Failed, Got, Member, Mismatch, Ran, Tags,
    Wording,
};
use crate::engine::workspace::Workspace;
use crate::failure::Failure;
use crate::manifest::Desired;
use crate::service::request::Request;
use crate::service::{Engine, local};
use crate::text;

/// What all cases of a run share.
#[derive(Debug)]
pub struct World {
    pub workspace: Workspace,
    pub desired: Desired,
}

/// One case while it is played.
pub struct Play<'p> {
    pub world: &'p World,
    pub stage: &'p Stage,
    pub case: &'p Case,
    pub device: String,
    engine: Engine,
    /// What was received and has been looked at, by the ids of pushes.
    seen: BTreeSet<String>,
    checks: usize,
    failures: Vec<Failed>,
}

/// A message that came, and the push that brought it.
#[derive(Clone, Debug)]
pub struct Receipt {
    pub push_id: String,
    /// What sent it, where that is declared.
    pub sender: Option<Address>,
    pub got: Got,
}

/// Plays a case to its end, or to the first step that cannot be carried out.
pub(crate) async fn play(world: &World, stage: &Stage, case: &Case) -> Result<Ran, Failure> {
    let (engine, device) = stage.begin(case)?;
    let (seen, failures) = (BTreeSet::new(), Vec::new());
    let mut play = Play { world, stage, case, device, engine, seen, checks: 0, failures };
    // What was sent while everything was applied came before the case.
    play.seen = play.received().await?.into_iter().map(|receipt| receipt.push_id).collect();
    for step in &case.steps {
        play.wait(step.at).await?;
        if let Some(event) = &step.event
            && let Err(why) = play.happen(event).await
        {
            let what = Mismatch::Impossible { why };
            play.fail(&step.place, what, Reasons::default());
            break;
        }
        if let Some(expect) = &step.expect {
            play.wait(expect.until).await?;
            play.look(expect).await?;
        }
    }
    let Play { checks, failures, .. } = play;
    Ok(Ran { name: case.name.clone(), place: case.place.clone(), zone: case.zone.clone(), checks, failures })
}

impl Play<'_> {
    /// Asks the service's control API.
    pub async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, String> {
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let request = Request { method: method.to_owned(), path: path.to_owned(), body, ..Request::default() };
        let answered = local::answer(&self.engine, None, request).await.map_err(|why| why.to_string())?;
        let answer = answered.map_err(|refusal| refusal.error)?;
        let body = answer.body.map(|body| serde_json::from_str(&body).map_err(|error| error.to_string()));
        body.unwrap_or(Ok(Value::Null))
    }

    async fn get(&self, path: &str) -> Result<Value, Failure> {
        self.ask("GET", path, None).await.map_err(Failure::new)
    }

    fn own(&self, what: &str) -> String {
        format!("/local/devices/{}{what}", self.device)
    }

    pub fn now(&self) -> Timestamp {
        self.engine.clock.now()
    }

    async fn wait(&self, until: Timestamp) -> Result<(), Failure> {
        if until <= self.now() {
            return Ok(());
        }
        let moved = self.ask("POST", "/local/clock", Some(json!({ "to": until }))).await;
        moved.map(drop).map_err(Failure::new)
    }

    /// Lets something happen, or says why it cannot.
    async fn happen(&self, event: &Event) -> Result<(), String> {
        let posted = |what: &str, body: Option<Value>| {
            let path = self.own(what);
            async move { self.ask("POST", &path, body).await.map(drop) }
        };
        match event {
            Event::Open => posted("/open", None).await,
            Event::SeenAt(place) => posted("/seen", Some(json!({ "location": place }))).await,
            Event::Uninstall => self.ask("DELETE", &self.own(""), None).await.map(drop),
            Event::Change(form) => self.ask("PATCH", &self.own(""), Some(form.clone())).await.map(drop),
            Event::AddTags(tags) => self.retag(tags, |own, tags| own.extend(tags.iter().cloned())).await,
            Event::RemoveTags(tags) => self.retag(tags, |own, tags| own.retain(|tag| !tags.contains(tag))).await,
            Event::Tap { from, button } => {
                let received = self.received().await.map_err(|failure| failure.message)?;
                let newest = received.iter().rev().find(|receipt| receipt.sender.as_ref() == Some(from));
                let push_id = newest.map(|receipt| receipt.push_id.as_str());
                let push_id = push_id.ok_or_else(|| format!("nothing from {from} is there to be tapped"))?;
                let mut tap = json!({ "push_id": push_id });
                if let Some(button) = button {
                    tap["button"] = button.as_str().into();
                }
                // The service knows the push by its id alone, which says nothing to whoever reads this.
                posted("/tap", Some(tap)).await.map_err(|why| why.replace(push_id, &from.to_string()))
            }
        }
    }

    /// Changes the tags of the groups that are named, and of no other.
    async fn retag(
        &self,
        tags: &Tags,
        change: impl Fn(&mut BTreeSet<String>, &BTreeSet<String>),
    ) -> Result<(), String> {
        let record = self.ask("GET", &self.own(""), None).await?;
        let mut after: BTreeMap<&str, Option<BTreeSet<String>>> = BTreeMap::new();
        for (group, tags) in tags {
            let own = record["device"]["tags"][group].as_array().into_iter().flatten();
            let mut own: BTreeSet<String> = own.filter_map(|tag| tag.as_str().map(str::to_owned)).collect();
            change(&mut own, tags);
            after.insert(group, Some(own).filter(|own| !own.is_empty()));
        }
        self.ask("PATCH", &self.own(""), Some(json!({ "tags": after }))).await.map(drop)
    }

    /// All that the device has received, the oldest first.
    pub async fn received(&self) -> Result<Vec<Receipt>, Failure> {
        let received = self.get(&self.own("/received")).await?;
        let sent = self.sent().await?;
        let kind = self.case.device["device_type"].as_str().unwrap_or_default();
        let receipts = received["received"].as_array().into_iter().flatten().rev().filter_map(|receipt| {
            let push_id = receipt["push_id"].as_str()?.to_owned();
            let group = sent.iter().find(|push| push["push_id"] == push_id.as_str()).map(|push| &push["group_id"]);
            let sender = group.and_then(Value::as_str).and_then(|id| self.address(id)).cloned();
            let got = Got {
                from: sender.as_ref().map_or_else(|| "something else".to_owned(), Address::to_string),
                at: receipt["time"].as_str()?.parse().ok()?,
                alert: cases::alert(&receipt["notification"], kind).map(str::to_owned),
                message: receipt["message"]["title"].as_str().map(str::to_owned),
            };
            Some(Receipt { push_id, sender, got })
        });
        Ok(receipts.collect())
    }

    /// All pushes that went out, the oldest first.
    pub async fn sent(&self) -> Result<Vec<Value>, Failure> {
        match self.get("/local/sent").await?["sent"].take() {
            Value::Array(sent) => Ok(sent),
            _ => Ok(Vec::new()),
        }
    }

    /// What has that id on the service.
    fn address(&self, id: &str) -> Option<&Address> {
        self.stage.ids.iter().find(|(_, own)| *own == id).map(|(address, _)| address)
    }

    /// Holds what is there against what is expected.
    async fn look(&mut self, expect: &Expect) -> Result<(), Failure> {
        for member in &expect.members {
            self.member(member).await?;
        }
        let Some(expected) = &expect.receives else { return Ok(()) };
        let all = self.received().await?;
        let new: Vec<Receipt> = all.into_iter().filter(|receipt| self.seen.insert(receipt.push_id.clone())).collect();
        self.checks += expected.len().max(1);
        let mut left: Vec<Option<Receipt>> = new.into_iter().map(Some).collect();
        let mut open: Vec<&ExpectedMessage> = Vec::new();
        // What fits in all is what was meant; of the rest, what comes from the same sender is nearest to it.
        for message in expected {
            let fits = |receipt: &Option<Receipt>| receipt.as_ref().is_some_and(|receipt| fits(message, receipt));
            match left.iter_mut().find(|receipt| fits(receipt)) {
                Some(receipt) => *receipt = None,
                None => open.push(message),
            }
        }
        for message in open {
            let is_from = |receipt: &&mut Option<Receipt>| {
                receipt
                    .as_ref()
                    .is_some_and(|it| message.from.as_ref().is_none_or(|from| it.sender.as_ref() == Some(from)))
            };
            let near = left.iter_mut().find(is_from).and_then(Option::take);
            let wanted = wanted(message);
            match near {
                Some(receipt) => {
                    let what = Mismatch::Different { expected: wanted, got: receipt.got };
                    self.fail(&message.place, what, Reasons::default());
                }
                None => {
                    let reasons = Reasons::of_missing(self, message).await?;
                    self.fail(&message.place, Mismatch::Missing { expected: wanted }, reasons);
                }
            }
        }
        for receipt in left.into_iter().flatten() {
            let reasons = Reasons::of_unexpected(self, &receipt).await?;
            self.fail(&expect.place, Mismatch::Unexpected { got: receipt.got }, reasons);
        }
        Ok(())
    }

    async fn member(&mut self, member: &Member) -> Result<(), Failure> {
        self.checks += 1;
        if let Some(reasons) = Reasons::of_member(self, &member.segment, member.expected).await? {
            let what = Mismatch::Member { segment: member.segment.clone(), expected: member.expected };
            self.fail(&member.place, what, reasons);
        }
        Ok(())
    }

    fn fail(&mut self, place: &CaseLine, what: Mismatch, reasons: Reasons) {
        let Reasons { notes, why } = reasons;
        self.failures.push(Failed { place: place.clone(), at: self.now(), what, notes, why });
    }
}

fn fits(message: &ExpectedMessage, receipt: &Receipt) -> bool {
    let said = |wordings: &[Wording], text: &Option<String>| {
        wordings.is_empty() || text.as_ref().is_some_and(|text| wordings.iter().any(|wording| wording.fits(text)))
    };
    message.from.as_ref().is_none_or(|from| receipt.sender.as_ref() == Some(from))
        && message.at.is_none_or(|at| at == receipt.got.at)
        && said(&message.alert, &receipt.got.alert)
        && said(&message.message, &receipt.got.message)
}

fn wanted(message: &ExpectedMessage) -> ExpectedAlert {
    let words = |wordings: &[Wording]| {
        let words = wordings.iter().map(|wording| match wording {
            Wording::Is(text) => text::quoted(text),
            Wording::Contains(part) => format!("something with {}", text::quoted(part)),
        });
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| text::any_of(&words))
    };
    ExpectedAlert {
        from: message.from.as_ref().map(Address::to_string),
        at: message.at,
        alert: words(&message.alert),
        message: words(&message.message),
    }
}

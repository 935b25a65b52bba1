//! Playing a case: time passes, its device has events, and the results are compared with the expectations.

use std::collections::BTreeSet;
use std::ops::Deref;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};

use super::why::Reasons;
use crate::address::Address;
use crate::cases::{
    Case, CaseLine, Event, Expect, ExpectedAlert, ExpectedMessage, Failed, Member, Mismatch, Ran, Wording,
};
use crate::engine::stage::{Receipt, Replay, Stage, device, of_device};
use crate::engine::workspace::Workspace;
use crate::failure::Failure;
use crate::kinds::Parts;
use crate::manifest::{Declared, Desired};
use crate::service::state::variant_of;
use crate::service::store::Kept;
use crate::text;

/// The default id of a device.
const DEVICE: &str = "device";
/// The number of ids that are tried until one gets the variants of a case.
const TRIES: u32 = 1_000_000;

/// The common inputs of all cases of a run.
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
    replay: Replay<'p>,
    /// The received messages that were already compared, by the ids of pushes.
    seen: BTreeSet<String>,
    checks: usize,
    failures: Vec<Failed>,
}

impl<'p> Deref for Play<'p> {
    type Target = Replay<'p>;

    fn deref(&self) -> &Replay<'p> {
        &self.replay
    }
}

/// Plays a case to its end, or to the first step that cannot be executed.
pub(crate) async fn play(world: &World, stage: &Stage, case: &Case) -> Result<Ran, Failure> {
    let device = name(world, stage, case)?;
    // A device that manifests may name was created before they were applied.
    let more = if case.channel.is_none() { vec![placed(case, &device)?] } else { Vec::new() };
    let replay = stage.begin(more)?;
    let (seen, failures) = (BTreeSet::new(), Vec::new());
    let mut play = Play { world, stage, case, device, replay, seen, checks: 0, failures };
    // Messages sent while the manifests were applied are not part of the case.
    play.seen = play.received().await?.into_iter().map(|receipt| receipt.push_id).collect();
    for step in &case.steps {
        play.wait(step.at).await?;
        if let Some(event) = &step.event
            && let Err(why) = play.happen(event).await
        {
            let what = Mismatch::Impossible { why: why.to_string() };
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

/// The id of the device of a case: one that gets the variants of the case. Unless the case says so, it is in no control
/// group.
fn name(world: &World, stage: &Stage, case: &Case) -> Result<String, Failure> {
    if let Some(id) = &case.channel {
        return Ok(id.clone());
    }
    let split = |(address, declared): (&Address, &Declared)| {
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        Some((stage.id(address)?.to_owned(), parts.split?, case.groups.get(address).copied()))
    };
    let experiments: Vec<_> = world.desired.resources.iter().filter_map(split).collect();
    let fits = |id: &String| {
        experiments.iter().all(|(experiment, split, wanted)| {
            let group = variant_of(experiment, id, split);
            wanted.map_or(group.is_some(), |wanted| group == wanted)
        })
    };
    let mut ids = std::iter::once(DEVICE.to_owned()).chain((1..TRIES).map(|number| format!("{DEVICE}-{number}")));
    ids.find(fits).ok_or_else(|| {
        let (name, place) = (&case.name, &case.place);
        let why = "so few devices get these variants that none was found";
        Failure::new(format!("the case `{name}` ({}:{}) cannot be played: {why}", place.file, place.line))
    })
}

/// The device of a case, as a row of the service.
pub(crate) fn placed(case: &Case, id: &str) -> Result<Kept, Failure> {
    device(id, &case.device, case.opened, case.start).map_err(|why| {
        let (name, place) = (&case.name, &case.place);
        Failure::new(format!("the device of the case `{name}` ({}:{}) is impossible: {why}", place.file, place.line))
    })
}

impl Play<'_> {
    fn own(&self, what: &str) -> String {
        of_device(&self.device, what)
    }

    /// All messages that the device has received, the oldest first.
    pub async fn received(&self) -> Result<Vec<Receipt>, Failure> {
        let kind = self.case.device["device_type"].as_str().unwrap_or_default();
        self.replay.received(&self.device, kind).await
    }

    /// Executes an event, or returns why it is impossible.
    async fn happen(&self, event: &Event) -> anyhow::Result<()> {
        let posted = |what: &str, body: Option<Value>| {
            let path = self.own(what);
            async move { self.ask("POST", &path, body).await.map(drop) }
        };
        match event {
            Event::Open => posted("/open", None).await,
            Event::SeenAt(place) => posted("/seen", Some(json!({ "location": place }))).await,
            Event::Uninstall => self.ask("DELETE", &self.own(""), None).await.map(drop),
            Event::Change(form) => self.ask("PATCH", &self.own(""), Some(form.clone())).await.map(drop),
            Event::AddTags(tags) => self.retag(&self.device, tags, |own, tags| own.extend(tags.iter().cloned())).await,
            Event::RemoveTags(tags) => {
                self.retag(&self.device, tags, |own, tags| own.retain(|tag| !tags.contains(tag))).await
            }
            Event::Tap { from, button } => {
                let received = self.received().await?;
                let newest = received.iter().rev().find(|receipt| receipt.sender.as_ref() == Some(from));
                let push_id = newest.map(|receipt| receipt.push_id.as_str());
                let push_id = push_id.with_context(|| format!("the device has no notification from {from}"))?;
                let mut tap = json!({ "push_id": push_id });
                if let Some(button) = button {
                    tap["button"] = button.as_str().into();
                }
                // The service names the push by its id, which readers do not know.
                posted("/tap", Some(tap))
                    .await
                    .map_err(|why| anyhow!(why.to_string().replace(push_id, &from.to_string())))
            }
        }
    }

    /// Compares the state with the expectations.
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
        // Messages that match completely are paired first; of the rest, one from the same sender is nearest.
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
        && said(&message.title, &receipt.got.title)
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
        title: words(&message.title),
        message: words(&message.message),
    }
}

//! Events on a stage: time passes, tags change, and devices receive messages.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use jiff::Timestamp;
use pushplan_io::failure::Failure;
use pushplan_model::address::Address;
use pushplan_project::cases::{self, Got, Tags};
use pushplan_service::request::Request;
use pushplan_service::{Engine, local};
use serde_json::{Value, json};

/// A service whose clock and devices are controlled.
#[derive(Debug)]
pub struct Replay<'s> {
    engine: Engine,
    ids: &'s BTreeMap<Address, String>,
}

/// A received message, and the push that delivered it.
#[derive(Clone, Debug)]
pub struct Receipt {
    pub push_id: String,
    /// The resource that sent it, if it is declared.
    pub sender: Option<Address>,
    pub got: Got,
    /// The notification as it was received; null for a message without one.
    pub notification: Value,
}

impl<'s> Replay<'s> {
    pub(super) fn new(engine: Engine, ids: &'s BTreeMap<Address, String>) -> Self {
        Self { engine, ids }
    }

    /// Asks the service's control API.
    pub async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> anyhow::Result<Value> {
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let request = Request { method: method.to_owned(), path: path.to_owned(), body, ..Request::default() };
        let answered = local::answer(&self.engine, None, request).await?;
        let answer = answered.map_err(|refusal| anyhow!(refusal.error))?;
        Ok(answer.body.map(|body| serde_json::from_str(&body)).transpose()?.unwrap_or_default())
    }

    async fn get(&self, path: &str) -> Result<Value, Failure> {
        Ok(self.ask("GET", path, None).await?)
    }

    pub fn now(&self) -> Timestamp {
        self.engine.clock.now()
    }

    /// Moves the clock forward. Everything due until then happens.
    pub async fn wait(&self, until: Timestamp) -> Result<(), Failure> {
        if until <= self.now() {
            return Ok(());
        }
        self.ask("POST", "/local/clock", Some(json!({ "to": until }))).await?;
        Ok(())
    }

    /// Changes the tags of the named groups only.
    pub async fn retag(
        &self,
        device: &str,
        tags: &Tags,
        change: impl Fn(&mut BTreeSet<String>, &BTreeSet<String>),
    ) -> anyhow::Result<()> {
        let path = of_device(device, "");
        let record = self.ask("GET", &path, None).await?;
        let mut after: BTreeMap<&str, Option<BTreeSet<String>>> = BTreeMap::new();
        for (group, tags) in tags {
            let own = record["device"]["tags"][group].as_array().into_iter().flatten();
            let mut own: BTreeSet<String> = own.filter_map(|tag| tag.as_str().map(str::to_owned)).collect();
            change(&mut own, tags);
            after.insert(group, Some(own).filter(|own| !own.is_empty()));
        }
        self.ask("PATCH", &path, Some(json!({ "tags": after }))).await.map(drop)
    }

    /// All messages that a device of some type has received, the oldest first.
    pub async fn received(&self, device: &str, device_type: &str) -> Result<Vec<Receipt>, Failure> {
        let mut received = self.get(&of_device(device, "/received")).await?;
        let sent = self.sent().await?;
        let receipts = received["received"].as_array_mut().into_iter().flatten().rev().filter_map(|receipt| {
            let push_id = receipt["push_id"].as_str()?.to_owned();
            let group = sent.iter().find(|push| push["push_id"] == push_id.as_str()).map(|push| &push["group_id"]);
            let sender = group.and_then(Value::as_str).and_then(|id| self.address(id)).cloned();
            let got = Got {
                from: sender.as_ref().map_or_else(|| "something else".to_owned(), Address::to_string),
                at: receipt["time"].as_str()?.parse().ok()?,
                alert: cases::alert(&receipt["notification"], device_type).map(str::to_owned),
                title: receipt["notification"][device_type]["title"].as_str().map(str::to_owned),
                message: receipt["message"]["title"].as_str().map(str::to_owned),
            };
            Some(Receipt { push_id, sender, got, notification: receipt["notification"].take() })
        });
        Ok(receipts.collect())
    }

    /// All pushes that were sent, the oldest first.
    pub async fn sent(&self) -> Result<Vec<Value>, Failure> {
        match self.get("/local/sent").await?["sent"].take() {
            Value::Array(sent) => Ok(sent),
            _ => Ok(Vec::new()),
        }
    }

    /// The address of the resource with an id on the service.
    fn address(&self, id: &str) -> Option<&Address> {
        self.ids.iter().find(|(_, own)| *own == id).map(|(address, _)| address)
    }
}

/// The path of a part of a device in the control API.
pub fn of_device(device: &str, what: &str) -> String {
    format!("/local/devices/{device}{what}")
}

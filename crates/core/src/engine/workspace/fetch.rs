//! Fetching everything that a plan needs from the service.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_io::failure::Failure;
use pushplan_ledger::{Ledger, Verb};
use pushplan_model::address::Address;
use pushplan_model::kinds::{Found, Kind, Resource, Segment, kind};
use pushplan_model::node::Shared;

use super::Workspace;
use crate::compare::Unit;
use crate::engine::Session;
use crate::engine::target::Opened;
use crate::fetch::{fetch_from, read_listed};
use crate::live::{Live, Look, PrefetchedLists, Proof};
use crate::plan::{Plan, Step};

/// No kind is read completely.
static NONE: &BTreeSet<&str> = &BTreeSet::new();

impl Workspace {
    /// The live state of every kind that the service lists, and of resources that lists do not show.
    pub async fn fetch(
        &self,
        opened: &Opened,
        units: &BTreeMap<Address, Unit>,
        ledger: &Ledger,
        contents: &BTreeSet<&'static str>,
        session: &Session,
    ) -> Result<Live, Failure> {
        self.fetch_with(opened, units, ledger, true, contents, session).await
    }

    /// Reads unmanaged segments if a plan deletes a segment, because they may refer to it and no list shows that.
    /// Returns whether anything was read that the plan did not know.
    pub(super) async fn read_pointing(&self, plan: &Plan, opened: &Opened, live: &mut Live) -> Result<bool, Failure> {
        let deletes = |step: &Step| step.verb == Verb::Delete && step.address.kind == Segment::KEY;
        let is_unread = |(kind, found): (&'static Kind, &Found)| kind.key == Segment::KEY && found.spec.is_none();
        let Some(segments) = kind(Segment::KEY) else { return Ok(false) };
        if !plan.steps.iter().any(deletes) || !live.listed().any(is_unread) {
            return Ok(false);
        }
        read_listed(&opened.reading(), segments, opened.level, live).await?;
        Ok(true)
    }

    /// Fetches what the service has. Without `all_kinds`, it lists only kinds that the units, the ledger or `contents` need.
    pub async fn fetch_with(
        &self,
        opened: &Opened,
        units: &BTreeMap<Address, Unit>,
        ledger: &Ledger,
        all_kinds: bool,
        contents: &BTreeSet<&'static str>,
        session: &Session,
    ) -> Result<Live, Failure> {
        let desired = units.iter().map(|(address, unit)| (address, &unit.spec)).collect();
        let origin = opened.origin().to_string();
        let look = Look { all_kinds, contents, ..self.look(opened, &origin, &desired, ledger) };
        fetch_from(PrefetchedLists::default(), &opened.reading(), look, &|words| self.note(words, session)).await
    }

    /// Fetches what a plan needs, starting from some lists. `recovers`: no apply is running, so resources in an unknown
    /// state are decided here.
    pub(super) async fn fetch_to_plan(
        &self,
        lists: PrefetchedLists,
        opened: &Opened,
        (units, ledger): (&BTreeMap<Address, Unit>, &Ledger),
        recovers: bool,
        contents: &BTreeSet<&'static str>,
        session: &Session,
    ) -> Result<Live, Failure> {
        let desired = units.iter().map(|(address, unit)| (address, &unit.spec)).collect();
        let origin = opened.origin().to_string();
        let look = Look { recovers, contents, ..self.look(opened, &origin, &desired, ledger) };
        fetch_from(lists, &opened.reading(), look, &|words| self.note(words, session)).await
    }

    /// A read of every kind, for callers that do not resolve unknown states.
    fn look<'l>(
        &self,
        opened: &Opened,
        origin: &'l str,
        desired: &'l BTreeMap<&'l Address, &'l Shared>,
        ledger: &'l Ledger,
    ) -> Look<'l> {
        Look {
            level: opened.level,
            origin,
            settle: self.settle,
            desired,
            ledger,
            all_kinds: true,
            contents: NONE,
            confirm_absence: true,
            recovers: false,
            proof: Proof::default(),
        }
    }
}

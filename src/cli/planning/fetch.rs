//! Asking the service for all that a plan needs.

use std::collections::{BTreeMap, BTreeSet};

use super::Site;
use crate::address::Address;
use crate::cli::Context;
use crate::cli::target::Opened;
use crate::client::{fetch_from, read_listed};
use crate::compare::Unit;
use crate::failure::Failure;
use crate::kinds::{Found, Kind, Resource, Segment, kind};
use crate::ledger::{Ledger, Verb};
use crate::live::{Early, Live, Look};
use crate::plan::{Plan, Step};

impl Site {
    /// What the service has, of every kind that it lists; of some also what lists do not show.
    pub async fn fetch(
        &self,
        opened: &Opened,
        units: &BTreeMap<Address, Unit>,
        ledger: &Ledger,
        contents: &BTreeSet<&'static str>,
        context: &Context,
    ) -> Result<Live, Failure> {
        self.fetch_with(opened, units, ledger, true, contents, context).await
    }

    /// Where a plan deletes a segment, what the segments of others point at has to be known: no list shows that. Says whether
    /// something was read that the plan did not know.
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

    /// The same, where only some kinds may be asked for.
    pub async fn fetch_with(
        &self,
        opened: &Opened,
        units: &BTreeMap<Address, Unit>,
        ledger: &Ledger,
        all_kinds: bool,
        contents: &BTreeSet<&'static str>,
        context: &Context,
    ) -> Result<Live, Failure> {
        self.fetch_from(Early::default(), opened, (units, ledger), all_kinds, contents, context).await
    }

    /// The same, where some lists are known.
    pub(super) async fn fetch_from(
        &self,
        early: Early,
        opened: &Opened,
        (units, ledger): (&BTreeMap<Address, Unit>, &Ledger),
        all_kinds: bool,
        contents: &BTreeSet<&'static str>,
        context: &Context,
    ) -> Result<Live, Failure> {
        let desired = units.iter().map(|(address, unit)| (address, &unit.spec)).collect();
        let origin = opened.origin().to_string();
        let look = Look {
            level: opened.level,
            origin: &origin,
            settle: self.settle,
            desired: &desired,
            ledger,
            all_kinds,
            contents,
            confirm_absence: true,
        };
        fetch_from(early, &opened.reading(), look, &|words| self.note(words, context)).await
    }
}

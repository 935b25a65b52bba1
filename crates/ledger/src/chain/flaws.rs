//! Errors of damaged ledgers, and how to continue.

use pushplan_model::text::shell_word;

use super::Inner;
use super::whereabouts::Elsewhere;
use crate::Unreadable;
use crate::codec::Flaw;
use crate::intent::Seq;
use crate::place;
use crate::store::{Unread, last_good};

impl Inner {
    pub(super) fn unread(&self, error: Unread) -> Unreadable {
        match error {
            Unread::Failed { why, help } => {
                Unreadable { message: format!("the ledger of `{}` cannot be read: {why}", self.target), help }
            }
            Unread::Missing { seq, there } => self.missing(seq, there),
            Unread::CutShort { last, was } => self.cut_short(last, was),
            Unread::Unmarked { last, mark } => self.unmarked(last, &mark),
            Unread::Foreign { seq, lineage, expected } => self.flawed(seq, &Flaw::Foreign { lineage, expected }),
        }
    }

    /// The newest record belongs to another ledger. How many earlier ones do is unknown.
    pub(super) fn foreign(&self, seq: Seq, lineage: String, expected: String) -> Unreadable {
        let help = format!(
            "how many records of this ledger are left is unknown; restore the records of lineage {expected} from a backup, and \
             no others; or, if there is no backup, {}",
            self.go_on(1)
        );
        self.refuse(&format!("record {seq} {}", Flaw::Foreign { lineage, expected }), help)
    }

    pub(super) fn flawed(&self, seq: Seq, flaw: &Flaw) -> Unreadable {
        if let Flaw::Foreign { lineage, expected } = flaw
            && self.is_own(lineage)
        {
            // The earlier records are the ones that do not belong here.
            return self.foreign(seq - 1, expected.clone(), lineage.clone());
        }
        let good = last_good(seq);
        let record = self.store.record(seq);
        let help = match flaw {
            Flaw::Newer { tool, .. } | Flaw::Unknown { tool, .. } => format!("{good}; use pushplan {tool} or later"),
            Flaw::Foreign { .. } | Flaw::Misplaced { .. } => {
                format!("{good}; restore only the records of this ledger, or {}", self.go_on(seq))
            }
            Flaw::Damaged(_) | Flaw::Loose => {
                format!("{good}; restore {record} from a backup, or {}", self.go_on(seq))
            }
        };
        self.refuse(&format!("record {seq} {flaw}"), help)
    }

    /// Returns the error for damage before a checkpoint, record `seq`. Everything from that record on is intact.
    pub(super) fn before_checkpoint(&self, damaged: &Unreadable, seq: Seq) -> Unreadable {
        let what = damaged.message.split_once("cannot be used: ").map_or(&*damaged.message, |(_, what)| what);
        let message = format!("the ledger of `{}` has lost some of its history: {what}", self.target);
        let help = format!(
            "restore it from a backup. Nothing else is needed: record {seq} is a checkpoint that contains everything before \
             it, and all later records are intact. `pushplan plan` and `pushplan apply` work"
        );
        Unreadable { message, help: Some(help) }
    }

    pub(super) fn missing(&self, seq: Seq, there: Seq) -> Unreadable {
        let record = self.store.record(seq);
        let help = format!("{}; restore {record} from a backup, or {}", last_good(seq), self.go_on(seq));
        let though = if there == seq { String::new() } else { format!(", although record {there} exists") };
        self.refuse(&format!("record {seq} is missing{though}"), help)
    }

    pub(super) fn cut_short(&self, last: Seq, was: Seq) -> Unreadable {
        let record = self.store.record(was);
        let put_back = self.store.put_back(was);
        let put_back =
            put_back.unwrap_or_else(|| format!("restore {record} and any missing record before it from a backup"));
        // Without any record, there is nothing to continue from.
        let anew = if last == 0 { format!("; or {}", self.go_on(1)) } else { String::new() };
        let help = format!("{}; {put_back}; if they are lost, {}{anew}", last_good(last + 1), self.accept_gap());
        self.refuse(&format!("it ends with record {last}, but record {was} existed before"), help)
    }

    /// The mark that shows whether later records are lost is gone.
    fn unmarked(&self, last: Seq, mark: &str) -> Unreadable {
        let why =
            format!("it ends with record {last}, and {mark}, which shows whether later records existed, was deleted");
        let help = format!("restore it from a backup; if there is none, {}", self.accept_gap());
        self.refuse(&why, help)
    }

    /// How to continue without the lost records.
    pub(super) fn accept_gap(&self) -> String {
        let target = shell_word(&self.target);
        format!(
            "run `pushplan ledger restore --accept-gap --target {target}`: plans then ask for confirmation before they create \
             anything that may have been created since"
        )
    }

    pub(super) fn moved(&self, to: &str) -> Unreadable {
        let help = format!("write `ledger = \"{to}\"` into [targets.{}] of pushplan.toml", self.target);
        Unreadable { message: format!("the ledger of `{}` has moved to {to}", self.target), help: Some(help) }
    }

    /// The configured place is new, and the records are still in the old one. The new one may have some of them.
    pub(super) fn left_behind(&self, here: Option<Seq>, records: Seq, home: &str, setting: &str) -> Unreadable {
        let (target, place) = (&self.target, self.store.shown());
        let (found, from) = match here {
            None => (format!("no record, but {home} has {records}"), "an empty ledger"),
            Some(here) => {
                let moves = "and does not record a move: the move was interrupted";
                (format!("{here} of its records, and {home} has {records} {moves}"), "an incomplete ledger")
            }
        };
        let message = format!(
            "the ledger of `{target}` is configured to be in {place}, which has {found}: with {from}, everything \
                would be created again"
        );
        let bring = self.bring(place::HOME, setting);
        let other = match here {
            None => begin_anew(&[home.to_owned()]),
            Some(_) => format!("or, if {home} is an old copy, move it elsewhere"),
        };
        Unreadable { message, help: Some(format!("{bring}; {other}")) }
    }

    /// The configured place has no record, and the ledger was last seen elsewhere.
    pub(super) fn is_elsewhere(&self, found: &Elsewhere, setting: &str) -> Unreadable {
        let (target, place, was) = (&self.target, self.store.shown(), place::shown(&found.place));
        let message = format!(
            "the ledger of `{target}` is configured to be in {place}, which has no record, but it was last seen in {was}: with \
             an empty ledger, everything would be created again"
        );
        let write = format!("write `ledger = \"{was}\"` into [targets.{target}] of pushplan.toml");
        let bring = self.bring(&was, setting);
        let help = format!("{write}; or {bring}; {}", begin_anew(&found.told_by));
        Unreadable { message, help: Some(help) }
    }

    /// The configured place has no record, but the remote of the project's repository has records of this target.
    pub(super) fn is_on_origin(&self, origin: &str, setting: &str) -> Unreadable {
        let (target, place) = (&self.target, self.store.shown());
        let message = format!(
            "the ledger of `{target}` is configured to be in {place}, which has no record, but {origin} has records of it: \
             with an empty ledger, everything would be created again"
        );
        let help = format!(
            "write `ledger = \"git\"` into [targets.{target}] of pushplan.toml; or {}; or, to start with an empty ledger, {}",
            self.bring("git", setting),
            self.accept_gap()
        );
        Unreadable { message, help: Some(help) }
    }

    /// The records here belong to another ledger than the one that this machine has seen.
    pub(super) fn is_another(&self, was: Option<&str>, note: &str) -> Unreadable {
        let (target, place) = (&self.target, self.store.shown());
        let was = was.map(place::shown);
        let seen = was.as_ref().map_or_else(String::new, |was| format!(", which was in {was}"));
        let message = format!(
            "the ledger of `{target}` is configured to be in {place}, which has a different ledger than \
                before{seen}: with a different ledger, everything would be created again"
        );
        let write = was.map(|was| format!("write `ledger = \"{was}\"` into [targets.{target}] of pushplan.toml; or, "));
        let help = format!(
            "{}to use this ledger without the records of the other one, move {note} elsewhere",
            write.unwrap_or_default()
        );
        Unreadable { message, help: Some(help) }
    }

    /// The remote of the project's repository has another ledger of this target than the configured place.
    pub(super) fn is_another_on_origin(&self, origin: &str) -> Unreadable {
        let (target, place) = (&self.target, self.store.shown());
        let message = format!(
            "the ledger of `{target}` is configured to be in {place}, and {origin} has a different ledger for it: \
                with a different ledger, everything would be created again"
        );
        let help = format!(
            "write `ledger = \"git\"` into [targets.{target}] of pushplan.toml; or, to use this ledger without the \
                records of the other one, delete the other one from the remote"
        );
        Unreadable { message, help: Some(help) }
    }

    /// How to move a ledger to the configured place.
    fn bring(&self, from: &str, setting: &str) -> String {
        let (from, to, target) = (shell_word(from), shell_word(&place::shown(setting)), shell_word(&self.target));
        format!("move it: pushplan ledger move --from {from} --to {to} --target {target}")
    }

    fn refuse(&self, what: &str, help: String) -> Unreadable {
        Unreadable { message: format!("the ledger of `{}` cannot be used: {what}", self.target), help: Some(help) }
    }
}

/// How to begin with an empty ledger on purpose.
fn begin_anew(told_by: &[String]) -> String {
    format!("or, to start with an empty ledger, move {} elsewhere", told_by.join(" and "))
}

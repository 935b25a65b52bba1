//! The approval of a target's plan, and its result.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::{Ended, Entry, Record};
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use serde_json::{Value, json};

use crate::plan::{Action, Approval, Approved, Difference, Plan, Position, Reason, moved};

/// The names of all hidden fields of a target. A newer pushplan may hide more, and that may be essential.
pub(super) const TARGET_FIELDS: [&str; 14] = [
    "target",
    "state",
    "digest",
    "about",
    "truncated",
    "offline",
    "more",
    "others",
    "lineage",
    "seq",
    "reached",
    "changes",
    "begun",
    "with",
];
/// The largest size of a single target in bytes. Changes without room are counted. Several targets share the room.
const MOST: usize = 6_000;
/// The bytes of one target for the fields that are filled in last, and for its result.
pub const DIGITS: usize = 110;
/// The number of digits of a short digest.
pub(super) const SHORT: usize = 32;

/// The result of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewState {
    /// Not applied yet.
    Planned,
    Applied,
    /// Partly applied.
    Partly,
    /// Refused: nothing was done.
    Held,
}

impl ReviewState {
    const ALL: [Self; 4] = [Self::Planned, Self::Applied, Self::Partly, Self::Held];

    fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Applied => "applied",
            Self::Partly => "partly",
            Self::Held => "held",
        }
    }

    /// Whether a part was applied: the comment keeps its text.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Applied | Self::Partly)
    }
}

/// The hidden data of a comment about one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The folder of the project, relative to the repository.
    pub project: String,
    pub target: String,
    pub state: ReviewState,
    /// The digest of the approved plan.
    pub digest: String,
    /// The digest of the plan without its changes.
    pub about: String,
    /// Whether the comment shows only a part of the plan.
    pub truncated: bool,
    /// Whether the plan was not compared with the service: then it cannot be approved.
    pub offline: bool,
    pub commit: Option<String>,
    /// The version of pushplan that wrote it.
    pub tool: String,
    /// The changes that fit, and the number of the others.
    pub changes: Vec<Approved>,
    pub more: usize,
    /// A digest of the others, if an approved run left them.
    pub others: Option<String>,
    /// The position of the ledger at the time of the plan.
    pub ledger: Position,
    /// The position of the ledger when an apply of it began or ended; before that, at the time of the plan.
    pub reached: Position,
    /// The digest of the plan whose apply uses the approval, until that apply writes its result.
    pub begun: Option<String>,
}

/// Whether a plan is the approved one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    /// It is the rest of a partly applied approval.
    Rest,
    /// The changes that differ since, as far as the comment shows.
    Moved(BTreeMap<Address, Difference>),
}

impl Hidden {
    /// Creates the approval of a plan that is one of `among` plans in its review.
    pub fn new(project: &str, plan: &Plan, truncated: bool, commit: Option<&str>, among: usize) -> Self {
        let Approval { digest, about, changes } = plan.approval();
        let mut hidden = Self {
            project: project.to_owned(),
            target: plan.target.clone(),
            state: ReviewState::Planned,
            digest: digest.to_string(),
            about,
            truncated,
            offline: !plan.basis.is_service(),
            commit: commit.map(str::to_owned),
            tool: plan.tool.clone(),
            changes: Vec::new(),
            more: 0,
            others: None,
            ledger: plan.ledger.clone(),
            reached: plan.ledger.clone(),
            begun: None,
        };
        hidden.more = hidden.take(changes, MOST / among.max(1)).len();
        hidden
    }

    /// Returns the hidden data after a part of the plan was applied: only the remaining changes are still approved. Changes that
    /// were begun come before the others. If the comment has no room for all of them, a digest identifies the rest. `plan` is the
    /// plan that was applied; all of it was approved. `done` and `begun` are the addresses that it changed, fully and in part.
    pub fn partly(&self, plan: &Plan, done: &BTreeSet<&Address>, begun: &BTreeSet<&Address>) -> Self {
        // A replacement may leave the old version.
        let is_left = |change: &Approved| !done.contains(&change.address) || change.action == Action::Replace;
        let left = plan.approval().changes.into_iter().filter(is_left);
        let (first, rest): (Vec<_>, Vec<_>) = left.partition(|change| begun.contains(&change.address));
        let state = ReviewState::Partly;
        let mut hidden = Self { state, changes: Vec::new(), more: 0, others: None, begun: None, ..self.clone() };
        let others = hidden.take(first.into_iter().chain(rest).collect(), self.room());
        hidden.more = others.len();
        hidden.others = (!others.is_empty()).then(|| listed(others.iter().collect()));
        hidden
    }

    /// The room for its changes in bytes, once some are done.
    fn room(&self) -> usize {
        if self.more == 0 { MOST } else { escaped(&self.value()).len() + DIGITS }
    }

    /// Adds as many changes as fit, and returns the others.
    fn take(&mut self, changes: Vec<Approved>, most: usize) -> Vec<Approved> {
        let mut size = escaped(&self.value()).len() + DIGITS;
        let mut changes = changes.into_iter().peekable();
        while let Some(change) = changes.next_if(|change| {
            size += escaped(&row(change)).len() + 1;
            size <= most
        }) {
            self.changes.push(change);
        }
        changes.collect()
    }

    /// The hidden data as JSON, without default values, because a comment may have many targets.
    pub(super) fn value(&self) -> Value {
        let Self { target, state, digest, about, truncated, offline, changes, more, others, begun, .. } = self;
        let (Position { lineage, seq }, reached) = (&self.ledger, &self.reached);
        let mut value = json!({
            "target": target, "state": state.word(), "digest": digest, "about": about, "truncated": truncated,
            "offline": offline, "more": more, "others": others, "lineage": lineage, "seq": seq,
            "reached": reached_from(&self.ledger, reached), "changes": changes.iter().map(row).collect::<Vec<_>>(),
            "begun": begun.as_ref().map(|begun| if begun == digest { json!(true) } else { json!(begun) }),
        });
        let usual = [
            ("state", json!(ReviewState::Planned.word())),
            ("truncated", json!(false)),
            ("offline", json!(false)),
            ("more", json!(0)),
            ("others", Value::Null),
            ("reached", json!([null, seq])),
            ("changes", json!([])),
            ("begun", Value::Null),
        ];
        if let Some(fields) = value.as_object_mut() {
            for (name, usual) in usual {
                if fields.get(name) == Some(&usual) {
                    fields.remove(name);
                }
            }
        }
        value
    }

    /// Returns the hidden data when an apply of a plan begins to use the approval, with the position of the ledger.
    pub fn begin(&self, plan: &Plan) -> Self {
        Self { begun: Some(plan.digest().to_string()), reached: plan.ledger.clone(), ..self.clone() }
    }

    /// Whether the apply that used the approval did everything in its plan, according to the ledger. `since`: the
    /// records from the start of that apply.
    pub fn is_used_up(&self, since: &[Entry]) -> bool {
        let Some(begun) = &self.begun else { return false };
        let is_it = |entry: &&Entry| matches!(&entry.record, Record::Begin(begin) if begin.plan.as_str() == begun);
        let is_done = |run: &str| {
            let ends =
                |entry: &Entry| matches!(&entry.record, Record::End { run: it, ended: Ended::Done } if it == run);
            since.iter().any(ends)
        };
        let run = |entry: &Entry| match &entry.record {
            Record::Begin(begin) => Some(begin.run.clone()),
            _ => None,
        };
        since.iter().filter(is_it).filter_map(run).any(|run| is_done(&run))
    }

    /// Parses the hidden data of a target. The error describes the unknown part.
    pub(super) fn understood(
        value: &Value,
        (project, tool, commit): (&str, &str, Option<&str>),
    ) -> anyhow::Result<Self> {
        let found = |name: &str| value[name].as_str().map(str::to_owned);
        let odd = |name: &str| anyhow!("{name} is {}", value[name]);
        let text = |name: &str| found(name).ok_or_else(|| odd(name));
        let flag = |name: &str| match &value[name] {
            Value::Null => Ok(false),
            value => value.as_bool().ok_or_else(|| odd(name)),
        };
        let state = match &value["state"] {
            Value::Null => ReviewState::Planned,
            word => ReviewState::ALL.into_iter().find(|state| *word == state.word()).ok_or_else(|| odd("state"))?,
        };
        let rows = match &value["changes"] {
            Value::Null => &Vec::new(),
            rows => rows.as_array().ok_or_else(|| odd("changes"))?,
        };
        let more = match &value["more"] {
            Value::Null => 0,
            more => more.as_u64().and_then(|more| usize::try_from(more).ok()).ok_or_else(|| odd("more"))?,
        };
        let ledger =
            Position { lineage: found("lineage").unwrap_or_default(), seq: value["seq"].as_u64().unwrap_or_default() };
        let reached = value["reached"].as_array().and_then(|reached| {
            let lineage = reached.first()?.as_str().unwrap_or(&ledger.lineage).to_owned();
            Some(Position { lineage, seq: reached.get(1)?.as_u64()? })
        });
        let begun = if value["begun"] == true { found("digest") } else { found("begun") };
        Ok(Self {
            project: project.to_owned(),
            target: text("target")?,
            state,
            digest: text("digest")?,
            about: text("about")?,
            truncated: flag("truncated")?,
            offline: flag("offline")?,
            commit: commit.map(str::to_owned),
            tool: tool.to_owned(),
            changes: rows.iter().map(approved).collect::<Result<_, _>>()?,
            more,
            others: found("others"),
            begun,
            reached: reached.unwrap_or_else(|| ledger.clone()),
            ledger,
        })
    }

    /// Whether it knows records that a ledger does not have: of another lineage, or after its end.
    pub fn is_ahead_of(&self, now: &Position) -> bool {
        let Position { lineage, seq } = &self.reached;
        *seq > 0 && (*lineage != now.lineage || *seq > now.seq)
    }

    /// The failure for a ledger that is behind a comment. `sign` names the pull request of the comment.
    pub fn behind(&self, now: &Position, sign: &str) -> Failure {
        let (target, was) = (&self.target, &self.reached);
        let what = match was.lineage == now.lineage || now.seq == 0 {
            true => {
                format!("ends with record {}, but the comment in {sign} was written after record {}", now.seq, was.seq)
            }
            false => {
                format!("has the lineage {}, but the comment in {sign} was written for {}", now.lineage, was.lineage)
            }
        };
        Failure::new(format!(
            "the ledger of `{target}` {what}: it was set back, and records of later applies are \
            missing"
        ))
        .kind(FailureKind::Refused)
        .help(format!(
            "nothing was changed; restore the missing records. If they are lost, run `pushplan ledger restore \
                    --accept-gap --target {target}`: plans then ask before they create anything that may already \
                    exist. Without it, another pull request would create it again"
        ))
    }

    /// Compares a plan with the approval, or with the rest of it after a run that ended half-way or was interrupted.
    pub fn judge(&self, plan: &Plan) -> Verdict {
        let now = plan.approval();
        // Changes that are done are not approved again.
        if self.state != ReviewState::Partly && now.digest.as_str() == self.digest {
            return Verdict::Same;
        }
        if (self.state == ReviewState::Partly || self.begun.is_some()) && now.about == self.about {
            let all = now.changes.iter().zip(told(plan));
            let others = all.filter(|(change, reasons)| !self.began(change, reasons)).map(|(change, _)| change);
            let others: Vec<&Approved> = others.collect();
            if others.is_empty() || (others.len() == self.more && self.others == Some(listed(others))) {
                return Verdict::Rest;
            }
        }
        let mut moved = moved(&self.changes, &now.changes);
        if self.more > 0 {
            // Changes that did not fit may have been seen anyway.
            moved.retain(|_, difference| !matches!(difference, Difference::New(_)));
        }
        Verdict::Moved(moved)
    }

    /// Whether a change was approved, or remains of an approved run: an old version that still exists, or a lost
    /// answer.
    fn began(&self, change: &Approved, reasons: &[Reason]) -> bool {
        let addresses: BTreeSet<&Address> = self.changes.iter().map(|change| &change.address).collect();
        let is_of_it = addresses.contains(&change.address) && reasons.iter().any(Reason::is_left);
        self.changes.iter().any(|seen| seen.whole == change.whole && seen.address == change.address)
            || (is_of_it && change.action != Action::Create)
    }
}

/// A position of a ledger, shortened if it has the same lineage as another one.
fn reached_from(ledger: &Position, reached: &Position) -> Value {
    let lineage = Some(&reached.lineage).filter(|lineage| **lineage != ledger.lineage);
    json!([lineage, reached.seq])
}

/// A digest of changes, in the order of their addresses.
fn listed(mut changes: Vec<&Approved>) -> String {
    changes.sort_by(|one, other| (&one.address, &one.whole).cmp(&(&other.address, &other.whole)));
    let rows: Vec<Value> = changes.into_iter().map(row).collect();
    Digest::of_data(&rows).as_str().chars().take(SHORT).collect()
}

/// The reasons of reported changes.
fn told(plan: &Plan) -> impl Iterator<Item = &[Reason]> {
    plan.changes.iter().filter(|change| change.is_told()).map(|change| change.reasons.as_slice())
}

/// The change in a row.
fn approved(row: &Value) -> anyhow::Result<Approved> {
    let odd = || anyhow!("a change is {row}");
    let Some([address, action, word]) = row.as_array().map(Vec::as_slice) else { return Err(odd()) };
    let (Some(address), Some(action), Some(word)) = (address.as_str(), action.as_str(), word.as_str()) else {
        return Err(odd());
    };
    Address::try_from(address.to_owned())?;
    Approved::read(address, action, word).ok_or_else(odd)
}

fn row(change: &Approved) -> Value {
    json!([change.address.to_string(), change.action.symbol(), change.word()])
}

/// JSON without any character that HTML or Markdown could interpret: all other characters are in its texts, where they
/// are written as escapes.
pub(super) fn escaped(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        let is_plain = c.is_ascii_alphanumeric() || " \"\\{}[],:._/+~".contains(c) || (c == '-' && !out.ends_with('-'));
        if is_plain {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

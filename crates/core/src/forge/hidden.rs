//! What is approved with the plan of a target, and what has become of that.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::{Ended, Entry, Record};
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use serde_json::{Value, json};

use crate::plan::{Action, Approval, Approved, Difference, Plan, Position, Reason, moved};

/// All that is hidden of a target, by its names. A newer pushplan may hide more, and that may be what matters.
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
/// The most bytes of a single target. Changes that there is no room for are counted. Several targets share what is left.
const MOST: usize = 6_000;
/// The bytes of one target that are filled in last, and those that its result may add.
pub const DIGITS: usize = 110;
/// How many digits of a digest are enough.
pub(super) const SHORT: usize = 32;

/// What has become of what was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewState {
    /// Nothing yet.
    Planned,
    Applied,
    /// Some of it was applied.
    Partly,
    /// Nothing was done.
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

    /// Whether something was done: what the comment says stays as it is.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Applied | Self::Partly)
    }
}

/// What is hidden in a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The folder of the project beneath that of the repository.
    pub project: String,
    pub target: String,
    pub state: ReviewState,
    /// The digest of what is approved.
    pub digest: String,
    /// What it is about, without the changes.
    pub about: String,
    /// Whether the comment shows less than all of it.
    pub truncated: bool,
    /// Whether the plan was not compared with the service: it approves nothing.
    pub offline: bool,
    pub commit: Option<String>,
    /// The version of pushplan that wrote it.
    pub tool: String,
    /// The changes that there is room for, and how many there are beside.
    pub changes: Vec<Approved>,
    pub more: usize,
    /// A digest of those beside, where a run that was approved has left them.
    pub others: Option<String>,
    /// Where the ledger stood when it was planned.
    pub ledger: Position,
    /// Where it stood when a run of it began or had ended; before that, when it was planned.
    pub reached: Position,
    /// The digest of the plan for which an apply has used the approval, until that apply writes its result.
    pub begun: Option<String>,
}

/// Whether a plan is what was approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    /// Some of what was approved is done, and this is the rest.
    Rest,
    /// What has moved since, as far as the comment tells.
    Moved(BTreeMap<Address, Difference>),
}

impl Hidden {
    /// The approval of a plan, which is one of so many in its review.
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
        // What replaces something may leave the old version.
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

    /// The bytes that its changes may have once some of them are done.
    fn room(&self) -> usize {
        if self.more == 0 { MOST } else { escaped(&self.value()).len() + DIGITS }
    }

    /// Takes as many changes as there is room for, and gives back the others.
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

    /// What is hidden of it. What is as usual is left out: a comment may be about many targets.
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

    /// Returns what is hidden once an apply of a plan uses the approval, with where its ledger stands.
    pub fn begin(&self, plan: &Plan) -> Self {
        Self { begun: Some(plan.digest().to_string()), reached: plan.ledger.clone(), ..self.clone() }
    }

    /// Whether the apply that used the approval has done everything that it planned, as the ledger tells. `since`: the records
    /// from where that apply began.
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

    /// What is hidden of a target, or the unknown part of it.
    pub(super) fn understood(
        value: &Value,
        (project, tool, commit): (&str, &str, Option<&str>),
    ) -> Result<Self, String> {
        let found = |name: &str| value[name].as_str().map(str::to_owned);
        let odd = |name: &str| format!("{name} is {}", value[name]);
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

    /// Whether it knows of records that a ledger does not have: one of another lineage, or one that ends before them.
    pub fn is_ahead_of(&self, now: &Position) -> bool {
        let Position { lineage, seq } = &self.reached;
        *seq > 0 && (*lineage != now.lineage || *seq > now.seq)
    }

    /// The failure for a ledger that is behind a comment, which is in the pull request of that sign.
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

    /// Whether a plan is what was approved, or what is left of it after a run that ended half-way or was cut off.
    pub fn judge(&self, plan: &Plan) -> Verdict {
        let now = plan.approval();
        // What is done of it is not to be done again.
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
            // What there was no room for may have been seen all the same.
            moved.retain(|_, difference| !matches!(difference, Difference::New(_)));
        }
        Verdict::Moved(moved)
    }

    /// Whether a change was approved, or is what a run that was approved has left: an old version that is still there, an
    /// answer that was lost.
    fn began(&self, change: &Approved, reasons: &[Reason]) -> bool {
        let addresses: BTreeSet<&Address> = self.changes.iter().map(|change| &change.address).collect();
        let is_of_it = addresses.contains(&change.address) && reasons.iter().any(Reason::is_left);
        self.changes.iter().any(|seen| seen.whole == change.whole && seen.address == change.address)
            || (is_of_it && change.action != Action::Create)
    }
}

/// How far a ledger was, in short if it is the same ledger as at another time.
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

/// The reasons of the changes that people are told of.
fn told(plan: &Plan) -> impl Iterator<Item = &[Reason]> {
    plan.changes.iter().filter(|change| change.is_told()).map(|change| change.reasons.as_slice())
}

/// The change of a row.
fn approved(row: &Value) -> Result<Approved, String> {
    let odd = || format!("a change is {row}");
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

/// JSON in which nothing stands that a reader of HTML or Markdown could take for something else: all other signs are within its
/// texts, where they may be written by their numbers.
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

//! What a comment carries that nobody sees: whose plan it shows, what is approved with it, and what has become of that.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use pushplan_io::failure::{Failure, FailureKind};
use pushplan_ledger::{Ended, Entry, Record};
use pushplan_model::address::Address;
use pushplan_model::digest::Digest;
use serde_json::{Value, json};

use crate::plan::{Action, Approval, Approved, Difference, Plan, Position, Reason, moved};

/// The beginning of our comments.
const BEGIN: &str = "<!-- pushplan:comment ";
const END: &str = " -->";
/// The form of what is hidden. A comment of another form was written by a newer pushplan.
const FORM: u64 = 1;
/// All that is hidden, by its names. A newer pushplan may hide more, and that may be what matters.
const FIELDS: [&str; 18] = [
    "form",
    "project",
    "target",
    "state",
    "digest",
    "about",
    "truncated",
    "offline",
    "commit",
    "tool",
    "more",
    "others",
    "lineage",
    "seq",
    "reached",
    "changes",
    "begun",
    "seal",
];
/// The most bytes of it. Changes that there is no room for are counted.
const MOST: usize = 6_000;
/// The bytes of a number, digests and the seal that are filled in last.
const DIGITS: usize = 200;
/// How many digits of a digest the seal has.
const SEAL: usize = 32;

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
    /// A digest of everything that the comment shows, and of what is hidden in it.
    pub seal: String,
}

/// A comment by pushplan that this version does not understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newer {
    pub project: String,
    pub target: String,
    /// The version of pushplan that wrote it.
    pub tool: String,
    pub why: String,
}

impl fmt::Display for Newer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = env!("CARGO_PKG_VERSION");
        let Self { target, tool, why, .. } = self;
        write!(
            f,
            "the comment with the plan for `{target}` was written by a newer pushplan, {tool}; this is {own}, which \
                cannot read it: {why}"
        )
    }
}

impl From<Newer> for Failure {
    fn from(newer: Newer) -> Self {
        let help = format!("nothing was changed; use pushplan {} or later", newer.tool);
        Self::new(newer.to_string()).kind(FailureKind::Stale).help(help)
    }
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
    pub fn new(project: &str, plan: &Plan, truncated: bool, commit: Option<&str>) -> Self {
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
            seal: String::new(),
        };
        hidden.more = hidden.take(changes).len();
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
        let others = hidden.take(first.into_iter().chain(rest).collect());
        hidden.more = others.len();
        hidden.others = (!others.is_empty()).then(|| listed(others.iter().collect()));
        hidden
    }

    /// Takes as many changes as there is room for, and gives back the others.
    fn take(&mut self, changes: Vec<Approved>) -> Vec<Approved> {
        let mut size = self.line().len() + DIGITS;
        let mut changes = changes.into_iter().peekable();
        while let Some(change) = changes.next_if(|change| {
            size += escaped(&row(change)).len() + 1;
            size <= MOST
        }) {
            self.changes.push(change);
        }
        changes.collect()
    }

    /// The line with which a comment begins. Whatever is in it, the comment ends where it should, and nobody is called.
    pub fn line(&self) -> String {
        let Self { project, target, state, digest, about, truncated, offline, commit, tool, changes, more, .. } = self;
        let (Self { others, begun, seal, .. }, Position { lineage, seq }) = (self, &self.ledger);
        let value = json!({
            "form": FORM, "project": project, "target": target, "state": state.word(), "digest": digest, "about": about,
            "truncated": truncated, "offline": offline, "commit": commit, "tool": tool, "more": more, "others": others,
            "lineage": lineage, "seq": seq, "reached": [self.reached.lineage, self.reached.seq],
            "changes": changes.iter().map(row).collect::<Vec<_>>(), "begun": begun, "seal": seal,
        });
        format!("{BEGIN}{}{END}", escaped(&value))
    }

    /// The seal of a comment that shows this text. Code hosts alter line ends and white space at the ends of lines, and no more.
    pub(super) fn seal_of(&self, shown: &str) -> String {
        let line = Self { seal: String::new(), ..self.clone() }.line();
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        let text = format!("{line}\n{}", lines.join("\n").trim_end());
        Digest::of(text.as_bytes()).as_str().chars().take(SEAL).collect()
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

    /// What is hidden at the very beginning of a comment; `None` if it is not ours.
    pub fn read(body: &str) -> Option<Result<Self, Newer>> {
        let line = body.lines().next()?.trim_end();
        let value: Value = serde_json::from_str(line.strip_prefix(BEGIN)?.strip_suffix(END)?).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let (project, target) = (text("project")?, text("target")?);
        let tool = text("tool").unwrap_or_else(|| "of an unknown version".to_owned());
        Some(Self::understood(&value).map_err(|why| Newer { project, target, tool, why }))
    }

    /// All that is hidden, or what of it is unknown here.
    fn understood(value: &Value) -> Result<Self, String> {
        if value["form"] != FORM {
            return Err(format!("it has the format {}", value["form"]));
        }
        if let Some(field) =
            value.as_object().into_iter().flatten().map(|(name, _)| name).find(|name| !FIELDS.contains(&name.as_str()))
        {
            return Err(format!("unknown field `{field}`"));
        }
        let found = |name: &str| value[name].as_str().map(str::to_owned);
        let odd = |name: &str| format!("{name} is {}", value[name]);
        let text = |name: &str| found(name).ok_or_else(|| odd(name));
        let flag = |name: &str| value[name].as_bool().ok_or_else(|| odd(name));
        let state =
            ReviewState::ALL.into_iter().find(|state| value["state"] == state.word()).ok_or_else(|| odd("state"))?;
        let rows = value["changes"].as_array().ok_or_else(|| odd("changes"))?;
        let more = value["more"].as_u64().and_then(|more| usize::try_from(more).ok()).ok_or_else(|| odd("more"))?;
        let ledger =
            Position { lineage: found("lineage").unwrap_or_default(), seq: value["seq"].as_u64().unwrap_or_default() };
        let reached = value["reached"].as_array().and_then(|reached| {
            Some(Position { lineage: reached.first()?.as_str()?.to_owned(), seq: reached.get(1)?.as_u64()? })
        });
        Ok(Self {
            project: text("project")?,
            target: text("target")?,
            state,
            digest: text("digest")?,
            about: text("about")?,
            truncated: flag("truncated")?,
            offline: flag("offline")?,
            commit: found("commit"),
            tool: text("tool")?,
            changes: rows.iter().map(approved).collect::<Result<_, _>>()?,
            more,
            others: found("others"),
            begun: found("begun"),
            // One without a seal is none that can be believed.
            seal: found("seal").unwrap_or_default(),
            // Comments of older versions do not have it.
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

/// A digest of changes, in the order of their addresses.
fn listed(mut changes: Vec<&Approved>) -> String {
    changes.sort_by(|one, other| (&one.address, &one.whole).cmp(&(&other.address, &other.whole)));
    let rows: Vec<Value> = changes.into_iter().map(row).collect();
    Digest::of_data(&rows).to_string()
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
fn escaped(value: &Value) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(target: &str) -> Hidden {
        Hidden {
            project: "shops/berlin".into(),
            target: target.into(),
            state: ReviewState::Planned,
            digest: "d1".into(),
            about: "a1".into(),
            truncated: false,
            offline: false,
            commit: Some("abcdef0".into()),
            tool: "0.1.0".into(),
            changes: Approved::read("segments/a", "±", &"0".repeat(32)).into_iter().collect(),
            more: 2,
            others: Some("d2".into()),
            ledger: Position { lineage: "l".into(), seq: 7 },
            reached: Position { lineage: "l".into(), seq: 9 },
            begun: Some("d3".into()),
            seal: "5ea1".into(),
        }
    }

    #[test]
    fn what_is_hidden_is_read_again_whatever_stands_in_it() {
        for target in ["prod", "--> @all <b>", "a--b---", "\"\\u003e\"", "üñ🚀\n\u{202e}", "`#1 !2 %3`"] {
            let line = hidden(target).line();
            assert_eq!(Hidden::read(&format!("{line}\n\ntext")), Some(Ok(hidden(target))), "{line}");
            let inner = line.strip_prefix("<!-- ").unwrap().strip_suffix(" -->").unwrap();
            assert!(!inner.contains("--") && !inner.contains(['<', '>', '@', '#', '!', '`', '\n']), "{line}");
            assert!(inner.is_ascii(), "{line}");
        }
    }

    #[test]
    fn only_the_very_beginning_of_a_comment_counts() {
        let line = hidden("prod").line();
        for body in [format!("\n{line}"), format!("> {line}"), format!("x\n{line}")] {
            assert_eq!(Hidden::read(&body), None, "{body}");
        }
        assert_eq!(Hidden::read(&format!("{line}\r\nx")), Some(Ok(hidden("prod"))));
    }

    #[test]
    fn a_comment_with_anything_unknown_in_it_is_of_a_newer_version() {
        let line = hidden("prod").line();
        for (from, to, expected) in [
            ("\"form\":1", "\"form\":2", "the form 2"),
            ("\"form\":1", "\"form\":1,\"waits\":true", "unknown field `waits`"),
            ("segments/a", "journeys/a", "unknown kind: `journeys`"),
            ("\"planned\"", "\"paused\"", "state is \"paused\""),
        ] {
            let body = line.replacen(from, to, 1);
            assert_ne!(body, line, "{from}");
            let newer = Hidden::read(&body).expect("a comment by pushplan").expect_err("of a newer version");
            assert!(newer.target == "prod" && newer.why.contains(expected), "{newer}");
        }
    }
}

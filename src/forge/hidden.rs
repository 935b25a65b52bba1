//! What a comment carries that nobody sees: whose plan it shows, what is approved with it, and what has become of that.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::address::Address;
use crate::plan::{Action, Approval, Approved, Difference, Plan, Reason, moved};

/// What a comment of ours begins with.
const BEGIN: &str = "<!-- pushplan:comment ";
const END: &str = " -->";
/// The form of what is hidden. One of another form is no comment of ours.
const FORM: u64 = 1;
/// The most bytes of it. Changes that there is no room for are counted.
const MOST: usize = 6_000;

/// What has become of what was approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing yet.
    Planned,
    Applied,
    /// Some of it was applied.
    Partly,
    /// Nothing was done.
    Held,
}

impl State {
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
    pub state: State,
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
            state: State::Planned,
            digest: digest.to_string(),
            about,
            truncated,
            offline: !plan.basis.is_service(),
            commit: commit.map(str::to_owned),
            tool: plan.tool.clone(),
            changes: Vec::new(),
            more: changes.len(),
        };
        let mut size = hidden.line().len();
        for change in changes {
            size += escaped(&row(&change)).len() + 1;
            if size > MOST {
                break;
            }
            hidden.changes.push(change);
            hidden.more -= 1;
        }
        hidden
    }

    /// The line with which a comment begins. Whatever stands in it, the comment ends where it should, and nobody is called.
    pub fn line(&self) -> String {
        let Self { project, target, state, digest, about, truncated, offline, commit, tool, changes, more } = self;
        let value = json!({
            "form": FORM, "project": project, "target": target, "state": state.word(), "digest": digest, "about": about,
            "truncated": truncated, "offline": offline, "commit": commit, "tool": tool, "more": more,
            "changes": changes.iter().map(row).collect::<Vec<_>>(),
        });
        format!("{BEGIN}{}{END}", escaped(&value))
    }

    /// What is hidden at the very beginning of a comment; `None` where it is none of ours.
    pub fn read(body: &str) -> Option<Self> {
        let line = body.lines().next()?.trim_end();
        let value: Value = serde_json::from_str(line.strip_prefix(BEGIN)?.strip_suffix(END)?).ok()?;
        if value["form"] != FORM {
            return None;
        }
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let state = State::ALL.into_iter().find(|state| value["state"] == state.word())?;
        let change = |row: &Value| Approved::read(row[0].as_str()?, row[1].as_str()?, row[2].as_str()?);
        Some(Self {
            project: text("project")?,
            target: text("target")?,
            state,
            digest: text("digest")?,
            about: text("about")?,
            truncated: value["truncated"].as_bool()?,
            offline: value["offline"].as_bool()?,
            commit: text("commit"),
            tool: text("tool")?,
            changes: value["changes"].as_array()?.iter().map(change).collect::<Option<_>>()?,
            more: usize::try_from(value["more"].as_u64()?).ok()?,
        })
    }

    /// Whether a plan is what was approved, or what is left of it after a run that ended half-way.
    pub fn judge(&self, plan: &Plan) -> Verdict {
        let now = plan.approval();
        if now.digest.as_str() == self.digest {
            return Verdict::Same;
        }
        let is_rest = self.state == State::Partly && self.more == 0 && now.about == self.about;
        if is_rest && now.changes.iter().zip(told(plan)).all(|(change, reasons)| self.began(change, reasons)) {
            return Verdict::Rest;
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
        let is_left = |reason: &Reason| {
            matches!(reason, Reason::Recovered { .. } | Reason::Retired { .. } | Reason::InDoubt { .. })
        };
        let addresses: BTreeSet<&Address> = self.changes.iter().map(|change| &change.address).collect();
        let is_of_it = addresses.contains(&change.address) && reasons.iter().any(is_left);
        self.changes.iter().any(|seen| seen.whole == change.whole && seen.address == change.address)
            || (is_of_it && change.action != Action::Create)
    }
}

/// The reasons of the changes that people are told of.
fn told(plan: &Plan) -> impl Iterator<Item = &[Reason]> {
    plan.changes.iter().filter(|change| change.is_told()).map(|change| change.reasons.as_slice())
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
            state: State::Planned,
            digest: "d1".into(),
            about: "a1".into(),
            truncated: false,
            offline: false,
            commit: Some("abcdef0".into()),
            tool: "0.1.0".into(),
            changes: Approved::read("segments/a", "±", &"0".repeat(32)).into_iter().collect(),
            more: 2,
        }
    }

    #[test]
    fn what_is_hidden_is_read_again_whatever_stands_in_it() {
        for target in ["prod", "--> @all <b>", "a--b---", "\"\\u003e\"", "üñ🚀\n\u{202e}", "`#1 !2 %3`"] {
            let line = hidden(target).line();
            assert_eq!(Hidden::read(&format!("{line}\n\ntext")), Some(hidden(target)), "{line}");
            let inner = line.strip_prefix("<!-- ").unwrap().strip_suffix(" -->").unwrap();
            assert!(!inner.contains("--") && !inner.contains(['<', '>', '@', '#', '!', '`', '\n']), "{line}");
            assert!(inner.is_ascii(), "{line}");
        }
    }

    #[test]
    fn only_the_very_beginning_of_a_comment_counts() {
        let line = hidden("prod").line();
        for body in
            [format!("\n{line}"), format!("> {line}"), format!("x\n{line}"), line.replace("form\":1", "form\":2")]
        {
            assert_eq!(Hidden::read(&body), None, "{body}");
        }
        assert_eq!(Hidden::read(&format!("{line}\r\nx")), Some(hidden("prod")));
    }
}

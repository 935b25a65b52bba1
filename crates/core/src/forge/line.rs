//! The hidden first line of a comment: the targets of its plans, their approvals, and a seal.

use std::fmt;

use anyhow::bail;
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_model::digest::Digest;
use serde_json::{Value, json};

use super::hidden::{Hidden, SHORT, TARGET_FIELDS, escaped};

/// The beginning of pushplan's comments.
const BEGIN: &str = "<!-- pushplan:comment ";
const END: &str = " -->";
/// The version of the hidden format. A later one was written by a newer pushplan; the first had one target and no seal.
const FORM: u64 = 2;
const FIRST_FORM: u64 = 1;
/// The names of all hidden fields of a comment.
const FIELDS: [&str; 9] = ["form", "project", "tool", "commit", "part", "parts", "review", "seal", "targets"];
/// The number of digits of a review's digest.
const REVIEW: usize = 16;

/// The hidden data of one comment: the approvals of the targets whose plans it shows, and which part of a review it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenLine {
    pub project: String,
    /// The version of pushplan that wrote it.
    pub tool: String,
    pub commit: Option<String>,
    /// The number of this part, from 1, and of all parts.
    pub part: usize,
    pub parts: usize,
    /// A digest of the texts of all parts.
    pub review: String,
    /// A digest of the comment's visible and hidden text.
    pub seal: String,
    pub approvals: Vec<Hidden>,
    /// The first target of the review, for a part without approvals.
    pub with: Option<String>,
}

/// A comment by pushplan that this version does not understand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newer {
    pub project: String,
    pub targets: Vec<String>,
    /// The version of pushplan that wrote it.
    pub tool: String,
    pub why: String,
}

impl fmt::Display for Newer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = env!("CARGO_PKG_VERSION");
        let Self { targets, tool, why, .. } = self;
        let target = targets.first().map(String::as_str).unwrap_or_default();
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

impl HiddenLine {
    /// The line of a review in one part, with the approvals of its targets.
    pub fn new(approvals: Vec<Hidden>, review: &str) -> Self {
        let first = approvals.first();
        let text = |of: fn(&Hidden) -> &String| first.map(of).cloned().unwrap_or_default();
        Self {
            project: text(|hidden| &hidden.project),
            tool: text(|hidden| &hidden.tool),
            commit: first.and_then(|hidden| hidden.commit.clone()),
            part: 1,
            parts: 1,
            review: review.to_owned(),
            seal: String::new(),
            with: None,
            approvals,
        }
    }

    /// The digest of the texts of all parts of a review.
    pub fn review_of(texts: &[String]) -> String {
        Digest::of_data(&texts).as_str().chars().take(REVIEW).collect()
    }

    /// The approval of a target.
    pub fn of(&self, target: &str) -> Option<&Hidden> {
        self.approvals.iter().find(|hidden| hidden.target == target)
    }

    /// Whether it is a part of a review of one of these targets.
    pub fn is_about(&self, targets: &[&str]) -> bool {
        let own = self.approvals.iter().map(|hidden| hidden.target.as_str());
        own.chain(self.with.as_deref()).any(|target| targets.contains(&target))
    }

    /// The line at the beginning of a comment. Its content can neither end the hidden part early nor mention a user.
    pub fn line(&self) -> String {
        let Self { project, tool, commit, part, parts, review, seal, approvals, with } = self;
        let mut targets: Vec<Value> = approvals.iter().map(Hidden::value).collect();
        targets.extend(with.as_ref().map(|target| json!({ "with": target })));
        let value = json!({
            "form": FORM, "project": project, "tool": tool, "commit": commit, "part": part, "parts": parts, "review": review,
            "seal": seal, "targets": targets,
        });
        format!("{BEGIN}{}{END}", escaped(&value))
    }

    /// The seal of a comment that shows this text. Code hosts change only line ends and white space at the ends of
    /// lines.
    pub(super) fn seal_of(&self, shown: &str) -> String {
        let line = Self { seal: String::new(), ..self.clone() }.line();
        let lines: Vec<&str> = shown.lines().map(str::trim_end).collect();
        let text = format!("{line}\n{}", lines.join("\n").trim_end());
        Digest::of(text.as_bytes()).as_str().chars().take(SHORT).collect()
    }

    /// Reads the hidden line of a comment; `None` if pushplan did not write it.
    pub fn read(body: &str) -> Option<Result<Self, Newer>> {
        let line = body.lines().next()?.trim_end();
        let value: Value = serde_json::from_str(line.strip_prefix(BEGIN)?.strip_suffix(END)?).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let project = text("project")?;
        let items = match value["targets"].as_array() {
            Some(items) => items.clone(),
            None => vec![value.clone()],
        };
        let name = |item: &Value| item["target"].as_str().or(item["with"].as_str()).map(str::to_owned);
        let targets: Vec<String> = items.iter().filter_map(name).collect();
        if targets.is_empty() {
            return None;
        }
        let tool = text("tool").unwrap_or_else(|| "of an unknown version".to_owned());
        let understood = Self::understood(&value, &items, &project, &tool);
        Some(understood.map_err(|why| Newer { project, targets, tool, why: why.to_string() }))
    }

    /// Parses the hidden data. The error describes the unknown part.
    fn understood(value: &Value, items: &[Value], project: &str, tool: &str) -> anyhow::Result<Self> {
        let is_first = value["form"] == FIRST_FORM;
        if !is_first && value["form"] != FORM {
            bail!("it has the format {}", value["form"]);
        }
        let names =
            |value: &Value| value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let is_known = |fields: &[&str], name: &String| fields.contains(&name.as_str());
        let unknown = match is_first {
            true => names(value).into_iter().find(|name| !is_known(&FIELDS, name) && !is_known(&TARGET_FIELDS, name)),
            false => {
                let own = names(value).into_iter().find(|name| !is_known(&FIELDS, name));
                own.or_else(|| items.iter().flat_map(names).find(|name| !is_known(&TARGET_FIELDS, name)))
            }
        };
        if let Some(field) = unknown {
            bail!("unknown field `{field}`");
        }
        let found = |name: &str| value[name].as_str().map(str::to_owned);
        let number = |name: &str| value[name].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(1);
        let commit = found("commit");
        let (of_part, approvals): (Vec<&Value>, Vec<&Value>) = items.iter().partition(|item| item["with"].is_string());
        let approval = |item: &Value| Hidden::understood(item, (project, tool, commit.as_deref()));
        Ok(Self {
            project: project.to_owned(),
            tool: tool.to_owned(),
            part: number("part"),
            parts: number("parts"),
            review: found("review").unwrap_or_default(),
            // A comment without a seal counts as edited.
            seal: found("seal").unwrap_or_default(),
            approvals: approvals.into_iter().map(approval).collect::<Result<_, _>>()?,
            with: of_part.first().and_then(|item| item["with"].as_str()).map(str::to_owned),
            commit,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::ReviewState;
    use crate::plan::{Approved, Position};

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
        }
    }

    fn line(target: &str) -> HiddenLine {
        HiddenLine { seal: "5ea1".into(), ..HiddenLine::new(vec![hidden(target), hidden("other")], "r1") }
    }

    #[test]
    fn what_is_hidden_is_read_again_whatever_stands_in_it() {
        for target in ["prod", "--> @all <b>", "a--b---", "\"\\u003e\"", "üñ🚀\n\u{202e}", "`#1 !2 %3`"] {
            let expected = line(target);
            let line = expected.line();
            assert_eq!(HiddenLine::read(&format!("{line}\n\ntext")), Some(Ok(expected)), "{line}");
            let inner = line.strip_prefix("<!-- ").unwrap().strip_suffix(" -->").unwrap();
            assert!(!inner.contains("--") && !inner.contains(['<', '>', '@', '#', '!', '`', '\n']), "{line}");
            assert!(inner.is_ascii(), "{line}");
        }
    }

    #[test]
    fn only_the_very_beginning_of_a_comment_counts() {
        let line = line("prod").line();
        for body in [format!("\n{line}"), format!("> {line}"), format!("x\n{line}")] {
            assert_eq!(HiddenLine::read(&body), None, "{body}");
        }
        assert_eq!(HiddenLine::read(&format!("{line}\r\nx")), Some(Ok(super::tests::line("prod"))));
    }

    #[test]
    fn what_is_as_usual_takes_no_room() {
        let usual = Hidden {
            changes: vec![],
            more: 0,
            others: None,
            reached: Position { lineage: "l".into(), seq: 7 },
            begun: None,
            ..hidden("prod")
        };
        let line = HiddenLine::new(vec![usual.clone()], "r1");
        assert_eq!(HiddenLine::read(&line.line()), Some(Ok(line.clone())));
        for field in ["state", "truncated", "offline", "more", "others", "reached", "changes", "begun"] {
            assert!(!line.line().contains(field), "{field}");
        }
        let part = HiddenLine { with: Some("prod".into()), part: 2, parts: 2, ..HiddenLine::new(vec![], "r1") };
        let read = HiddenLine::read(&part.line()).expect("a comment").expect("of this version");
        assert!(read.is_about(&["prod"]) && read.of("prod").is_none(), "{read:?}");
    }

    #[test]
    fn a_comment_of_the_first_form_has_no_seal() {
        let old = "<!-- pushplan:comment {\"form\":1,\"project\":\"\",\"target\":\"prod\",\"state\":\"planned\",\"digest\":\"d\",\
                   \"about\":\"a\",\"truncated\":false,\"offline\":false,\"commit\":null,\"tool\":\"0\",\"more\":0,\"others\":null,\
                   \"lineage\":\"l\",\"seq\":7,\"reached\":[\"l\",7],\"changes\":[]} -->";
        let read = HiddenLine::read(old).expect("a comment").expect("of this version");
        assert!(read.of("prod").is_some() && read.seal.is_empty(), "{read:?}");
    }

    #[test]
    fn a_comment_with_anything_unknown_in_it_is_of_a_newer_version() {
        let line = line("prod").line();
        for (from, to, expected) in [
            ("\"form\":2", "\"form\":3", "the format 3"),
            ("\"form\":2", "\"form\":2,\"waits\":true", "unknown field `waits`"),
            ("\"about\":", "\"waits\":true,\"about\":", "unknown field `waits`"),
            ("segments/a", "journeys/a", "unknown kind: `journeys`"),
            ("\"more\":2", "\"more\":2,\"state\":\"paused\"", "state is \"paused\""),
        ] {
            let body = line.replacen(from, to, 1);
            assert_ne!(body, line, "{from}");
            let newer = HiddenLine::read(&body).expect("a comment by pushplan").expect_err("of a newer version");
            assert!(newer.targets[0] == "prod" && newer.why.contains(expected), "{newer}");
        }
    }
}

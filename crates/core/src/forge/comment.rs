//! The comments of a project and some of its targets: finding and composing them.

use super::line::{HiddenLine, Newer};

/// The separator between the plan and its result.
const RESULT: &str = "\n<!-- pushplan:result -->\n";

/// A comment of any author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    pub id: u64,
    pub author: String,
    pub body: String,
}

/// The result of writing a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    Created,
    Updated,
    /// It already has this text.
    Same,
    /// It shows the result of the plan, and is not replaced.
    Kept,
    /// There is none, and none is needed.
    None,
}

impl Comment {
    /// The comments of an author for a project and some of its targets, the oldest first. A comment that only a newer
    /// version understands is an error, because it may have the approval.
    pub fn own(
        all: Vec<Self>,
        author: &str,
        project: &str,
        targets: &[&str],
    ) -> Result<Vec<(Self, HiddenLine)>, Newer> {
        let of_it = |comment: Self| {
            let read = HiddenLine::read(&comment.body).filter(|_| comment.author == author)?;
            let is_of_it = match &read {
                Ok(line) => line.project == project && line.is_about(targets),
                Err(newer) => {
                    newer.project == project && newer.targets.iter().any(|target| targets.contains(&target.as_str()))
                }
            };
            is_of_it.then_some(read.map(|line| (comment, line)))
        };
        let mut own = all.into_iter().filter_map(of_it).collect::<Result<Vec<(Self, HiddenLine)>, Newer>>()?;
        own.sort_by_key(|(comment, _)| comment.id);
        Ok(own)
    }

    /// Whether neither its visible nor its hidden text was edited.
    pub fn is_sealed(&self) -> bool {
        let body = self.body.replace("\r\n", "\n");
        let shown = body.split_once('\n').map_or("", |(_, shown)| shown);
        matches!(HiddenLine::read(&body), Some(Ok(line)) if line.seal == line.seal_of(shown))
    }

    /// Whether it has this text. Hosts change line ends.
    pub fn says(&self, body: &str) -> bool {
        let plain = |text: &str| text.replace("\r\n", "\n").trim_end().to_owned();
        plain(&self.body) == plain(body)
    }
}

/// A whole comment: hidden line, plan and footer, sealed.
pub fn body(line: &HiddenLine, text: &str, footer: &str) -> String {
    let shown = format!("{}\n{RESULT}\n{}\n", text.trim_end(), footer.trim_end());
    let line = HiddenLine { seal: line.seal_of(&shown), ..line.clone() };
    format!("{}\n{shown}", line.line())
}

/// The plan in a comment, without its footer.
pub fn text_of(body: &str) -> String {
    let body = body.replace("\r\n", "\n");
    let text = body.split_once('\n').map_or("", |(_, text)| text);
    text.rsplit_once(RESULT).map_or(text, |(text, _)| text).to_owned()
}

/// The footer of a comment: what it waits for, or the result of its plans.
pub fn footer_of(body: &str) -> String {
    let body = body.replace("\r\n", "\n");
    body.rsplit_once(RESULT).map_or("", |(_, footer)| footer.trim()).to_owned()
}

/// Returns the body of a comment with another footer, which reports the result. `line` has that result too. An edited
/// comment is not sealed again.
pub fn with_footer(comment: &Comment, line: &HiddenLine, footer: &str) -> String {
    let body = body(line, &text_of(&comment.body), footer);
    match (comment.is_sealed(), body.split_once('\n')) {
        (false, Some((_, shown))) => {
            let line = HiddenLine { seal: String::new(), ..line.clone() }.line();
            format!("{line}\n{shown}")
        }
        _ => body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::{Hidden, ReviewState};
    use crate::plan::Position;

    fn hidden(target: &str) -> Hidden {
        Hidden {
            project: String::new(),
            target: target.into(),
            state: ReviewState::Planned,
            digest: "d".into(),
            about: "a".into(),
            truncated: false,
            offline: false,
            commit: None,
            tool: "0".into(),
            changes: vec![],
            more: 0,
            others: None,
            ledger: Position::default(),
            reached: Position::default(),
            begun: None,
        }
    }

    fn line(target: &str) -> HiddenLine {
        HiddenLine::new(vec![hidden(target)], "r")
    }

    fn comment(id: u64, author: &str, body: &str) -> Comment {
        Comment { id, author: author.into(), body: body.into() }
    }

    #[test]
    fn a_comment_is_its_authors_and_its_targets() {
        let (prod, other) = (line("prod").line(), line("other").line());
        let all = vec![
            comment(9, "bot", &prod),
            comment(1, "mallory", &prod),
            comment(3, "bot", &prod),
            comment(2, "bot", &other),
            comment(4, "bot", &format!("> {prod}")),
        ];
        let own = Comment::own(all, "bot", "", &["prod"]).expect("all of this version");
        let own: Vec<u64> = own.into_iter().map(|(comment, _)| comment.id).collect();
        assert_eq!(own, [3, 9]);
    }

    #[test]
    fn a_footer_takes_the_place_of_the_one_before() {
        let text = "Plan\n```\n<!-- pushplan:result -->\n```";
        let first = body(&line("prod"), text, "for review");
        assert!(first.ends_with("\nfor review\n"), "{first}");
        // A host may use other line ends.
        let posted = comment(1, "bot", &first.replace('\n', "\r\n"));
        assert!(posted.says(&first));
        let done = HiddenLine::new(vec![Hidden { state: ReviewState::Applied, ..hidden("prod") }], "r");
        let second = with_footer(&posted, &done, "applied");
        assert_eq!(second, body(&done, text, "applied"));
        assert!(!second.contains("for review"));
    }

    #[test]
    fn a_comment_is_sealed_until_someone_edits_it() {
        let first = body(&line("prod"), "Plan: Hello  \n\ttext", "for review");
        let is_sealed = |body: &str| comment(1, "bot", body).is_sealed();
        // Changes that hosts make.
        for same in [first.clone(), first.replace('\n', "\r\n"), first.replace("  \n", "\n"), first.trim().to_owned()] {
            assert!(is_sealed(&same), "{same}");
        }
        for edited in [
            first.replace("Hello", "Good evening"),
            first.replace("for review", "for nobody"),
            first.replace("\"digest\":\"d\"", "\"digest\":\"e\""),
            first.replace("<!-- pushplan:result -->\n", ""),
            format!("{first}more"),
            first.replace("\"seal\":\"", "\"seal\":\"0"),
        ] {
            assert_ne!(edited, first);
            assert!(!is_sealed(&edited), "{edited}");
            // A result does not seal it either.
            let told = with_footer(&comment(1, "bot", &edited), &line("prod"), "held");
            assert!(told.ends_with("\nheld\n") && !is_sealed(&told), "{told}");
        }
    }
}

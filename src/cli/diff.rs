use clap::Args;

use super::forms::Forms;
use super::offline::OfflineRequest;
use super::places::Places;
use super::planning::Chosen;
use super::presenting::ExitCodes;
use super::{Context, Ended};
use crate::engine::offline::Against;
use crate::engine::workspace::PlanRequest;
use crate::failure::Failure;
use crate::git::Repository;
use crate::manifest::{read_commit, read_project};
use crate::text::shell_word;

/// Compare the manifests of two commits, without the service.
#[derive(Debug, Args)]
#[command(mut_arg("out", |arg| arg.help(
    "After a --format, write that form to FILE. Otherwise, save the plan for `pushplan ci comment`",
)))]
pub struct Diff {
    /// Two commits: `A..B`, or `A...B` for changes in B since it branched off from A. `A` alone is compared with the
    /// current files
    #[arg(value_name = "A..B")]
    range: String,

    #[command(flatten)]
    places: Places,

    #[command(flatten)]
    chosen: Chosen,

    #[command(flatten)]
    forms: Forms,

    /// Exit with 2 if there are changes
    #[arg(long)]
    detailed_exitcode: bool,
}

/// The range of commits.
#[derive(Debug, PartialEq, Eq)]
struct Range<'r> {
    from: &'r str,
    /// `None`: the current files.
    to: Option<&'r str>,
    /// Whether it begins with the newest common commit of both.
    is_since: bool,
}

impl<'r> Range<'r> {
    /// Parses a range like git: a missing side is HEAD.
    fn read(text: &'r str) -> Self {
        let side = |name: &'r str| if name.is_empty() { "HEAD" } else { name };
        let two = |is_since, mark| {
            let (from, to) = text.split_once(mark)?;
            Some(Self { from: side(from), to: Some(side(to)), is_since })
        };
        two(true, "...").or_else(|| two(false, "..")).unwrap_or(Self { from: text, to: None, is_since: false })
    }
}

impl Diff {
    pub fn run(&self, context: &Context) -> Ended {
        let root = self.places.root()?;
        let Range { from, to, is_since } = Range::read(&self.range);
        if to.is_some_and(|to| to.contains("..")) {
            return Err(Failure::usage(format!("`{}` names more than two commits", self.range))
                .help("such as pushplan diff origin/main..HEAD"));
        }
        let repository = Repository::of(&root)?;
        let mut from = repository.revision(from)?;
        let to = to.map(|to| repository.revision(to)).transpose()?;
        if let (true, Some(to)) = (is_since, &to) {
            from = repository.merge_base(&from, to)?;
        }
        let manifests = match &to {
            Some(to) => read_commit(&root, repository.commit(to)?.into()),
            None => read_project(&root, None),
        };
        let against = Against::commit(&root, &repository, from, to)?;
        let request = PlanRequest { choice: self.chosen.choice(), ..PlanRequest::default() };
        let command = format!("diff {}", shell_word(&self.range));
        let (places, forms) = (&self.places, &self.forms);
        // Older commits can be compared as well, and are not applied.
        let codes = ExitCodes { refused: false, changes: self.detailed_exitcode };
        OfflineRequest { places, request: &request, forms, codes, command }.show(&root, manifests, &against, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_named_as_git_names_them() {
        for (text, from, to, is_since) in [
            ("a..b", "a", Some("b"), false),
            ("a...b", "a", Some("b"), true),
            ("a", "a", None, false),
            ("v1.0..", "v1.0", Some("HEAD"), false),
            ("..b", "HEAD", Some("b"), false),
            ("origin/main...", "origin/main", Some("HEAD"), true),
        ] {
            assert_eq!(Range::read(text), Range { from, to, is_since }, "{text}");
        }
    }
}

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::fix::{self, Fixed};
use super::forms::among;
use super::scope::{self, Scope, Texts};
use super::{Context, Ended};
use crate::check::Verdict;
use crate::codes::Severity;
use crate::engine::select::select;
use crate::engine::{project, target};
use crate::failure::{Exit, Failure};
use crate::finding::Finding;
use crate::manifest::{Manifests, ManifestsHandle, Project, SingleTarget};
use crate::render::escape;
use crate::render::findings::{self, CheckReport, LocatedFinding};
use crate::render::{Format, Reader};
use crate::source::FileId;
use crate::text;

/// The formats that it prints.
const FORMATS: &[Format] =
    &[Format::Text, Format::Json, Format::Jsonl, Format::Sarif, Format::Github, Format::CodeQuality, Format::Junit];

/// Check manifests; no service is asked.
#[derive(Debug, Args)]
pub struct Validate {
    /// Files or folders, or `-` for standard input [default: the whole project]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Targets to check for: names, groups, or patterns such as `prod-*`; several with commas between them or by saying it
    /// again [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    target: Vec<String>,

    /// Check for all targets, which is what happens where none is named
    #[arg(long, conflicts_with = "target")]
    all_targets: bool,

    /// Form of the findings: text for people, the others for programs
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,

    /// Severity from which on to exit with 3
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,

    /// Make the edits that cannot change what was meant; with `-`, print the result
    #[arg(long)]
    fix: bool,

    /// File of the project that `-` stands in for
    #[arg(long, value_name = "FILE")]
    stdin_path: Option<PathBuf>,

    /// Time to check schedules against, such as 2026-11-15T12:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FailOn {
    Warning,
    Error,
}

/// A scope that was read, checked and, if asked for, fixed.
struct Checked {
    scope: Scope,
    manifests: Manifests,
    verdict: Verdict,
    fixed: Fixed,
    /// The files that were asked about.
    asked: BTreeSet<FileId>,
    /// What is to be said besides, a line each.
    notes: Vec<String>,
}

impl Checked {
    fn new(
        scope: Scope,
        mut manifests: Manifests,
        verdict: Verdict,
        fixed: Fixed,
        (here, shown_from): (&Path, &Path),
    ) -> Self {
        let asked = asked(&scope, &manifests);
        let mut notes = Vec::new();
        let empty = scope.without_manifests(here, &manifests);
        if !empty.is_empty() {
            notes.push(format!("No manifests in {}.", text::any_of(&empty)));
        }
        if scope.is_apart() && verdict.findings.iter().any(|finding| finding.code.name.starts_with("RF")) {
            notes.push(
                "Standard input was checked on its own. --stdin-path FILE checks it as a file of the project.".into(),
            );
        }
        scope.show_from(shown_from, &mut manifests.sources);
        Self { scope, manifests, verdict, fixed, asked, notes }
    }
}

impl Validate {
    pub fn run(&self, context: &Context) -> Ended {
        let here = project::here()?;
        let now = self.now.unwrap_or_else(Timestamp::now);
        let mut all = Vec::new();
        for scope in scope::scopes(&here, &self.paths, self.stdin_path.as_deref())? {
            let judge = |manifests: &Manifests| self.judge(&scope, manifests, now);
            let (manifests, verdict, fixed) = if self.fix {
                fix::fix(&scope, judge)?
            } else {
                let (manifests, verdict) = match scope.read_as(|project| self.only(project).is_some()) {
                    ManifestsHandle::Often(manifests) => {
                        let verdict = judge(&manifests)?;
                        (manifests, verdict)
                    }
                    ManifestsHandle::Once(once) => self.judge_once(&scope, once, now),
                };
                (manifests, verdict, Fixed::default())
            };
            let shown_from = self.shown_from(&scope, &here);
            all.push(Checked::new(scope, manifests, verdict, fixed, (&here, &shown_from)));
        }
        let written = if self.fix { self.write(&all, context) } else { Ok(false) };
        if written.is_err() {
            // The files are not what was fixed in memory: what is said is said of them.
            for checked in &mut all {
                let manifests = checked.scope.read(&Texts::new());
                let verdict = self.judge(&checked.scope, &manifests, now)?;
                let scope = std::mem::take(&mut checked.scope);
                let shown_from = self.shown_from(&scope, &here);
                *checked = Checked::new(scope, manifests, verdict, Fixed::default(), (&here, &shown_from));
            }
        }
        let report = self.report(&all);
        self.print(&report, written.as_ref().is_ok_and(|printed| *printed), context);
        written?;
        let fails = report.found.iter().any(|found| report.fails(found.finding));
        // The process ends here: what was read need not be taken apart first.
        std::mem::forget(all);
        Ok(if fails { Exit::Findings } else { Exit::Done })
    }

    /// The folder from which files are named: for people the one that they are in, for code hosts the top of the checkout.
    fn shown_from(&self, scope: &Scope, here: &Path) -> PathBuf {
        let for_hosts = matches!(self.format, Format::Github | Format::CodeQuality | Format::Sarif);
        for_hosts.then(|| project::checkout(&scope.root)).flatten().unwrap_or_else(|| here.to_owned())
    }

    /// The only target that is asked about, which has no name in a project without targets.
    fn only(&self, project: &Project) -> Option<Option<String>> {
        let names = project.target_names();
        match (self.target.as_slice(), names.as_slice()) {
            _ if project.is_unmade() => None,
            ([], []) => Some(None),
            ([], [name]) => Some(Some((*name).to_owned())),
            ([], _) => None,
            (asked, _) => match select(project, asked).ok()?.as_slice() {
                [name] => Some(Some(name.clone())),
                _ => None,
            },
        }
    }

    /// The findings for the only target, in the files that are asked about.
    fn judge_once(&self, scope: &Scope, once: SingleTarget, now: Timestamp) -> (Manifests, Verdict) {
        let target = self.only(once.project()).flatten();
        let (manifests, desired, found) = once.resolve(target.as_deref());
        let mut verdict = project::check_one(&manifests, target.as_deref(), &desired, found, now);
        // It is let go with the process, which is quicker.
        std::mem::forget(desired);
        let asked = asked(scope, &manifests);
        verdict.retain(|finding| finding.at.file().is_none_or(|file| asked.contains(&file)));
        (manifests, verdict)
    }

    /// The findings for the targets that are asked about, in the files that are.
    fn judge(&self, scope: &Scope, manifests: &Manifests, now: Timestamp) -> Result<Verdict, Failure> {
        let names = manifests.project.target_names();
        let asked = asked(scope, manifests);
        let is_asked = |finding: &Finding| finding.at.file().is_none_or(|file| asked.contains(&file));
        let chosen = select(&manifests.project, &self.target);
        let targets: Vec<Option<&str>> = match (&chosen, self.target.as_slice()) {
            (_, []) if names.is_empty() && manifests.project.is_unmade() => Vec::new(),
            (_, []) if names.is_empty() => vec![None],
            (_, []) => names.iter().copied().map(Some).collect(),
            (Ok(chosen), _) => chosen.iter().map(|name| Some(name.as_str())).collect(),
            // The target may stand in the part of the project file that cannot be read, which is what has to be said.
            (Err(_), _) if hides_targets(manifests, &asked) => Vec::new(),
            (Err(_), [name]) if !name.contains('*') => return Err(target::unknown(name, &names)),
            (Err(failure), _) => return Err(failure.clone()),
        };
        let mut verdict = project::check(manifests, &targets, now);
        verdict.retain(is_asked);
        Ok(verdict)
    }

    /// Writes what was fixed, or prints it if it came from standard input; says whether it was printed.
    fn write(&self, all: &[Checked], context: &Context) -> Result<bool, Failure> {
        if let [Checked { scope, fixed, .. }] = all
            && let Some(stdin) = &scope.stdin
        {
            context.out.exact(fixed.after.values().next().unwrap_or(stdin));
            return Ok(true);
        }
        let (mut problems, mut files) = (0, 0);
        for Checked { scope, fixed, .. } in all {
            fixed.write(&scope.root)?;
            problems += fixed.problems;
            files += fixed.after.len();
        }
        let line = findings::fixed(problems, files);
        match self.format {
            Format::Text => context.out.print(&line),
            _ => context.out.note(&line),
        }
        Ok(false)
    }

    fn report<'a>(&self, all: &'a [Checked]) -> CheckReport<'a> {
        let mut report = CheckReport {
            found: Vec::new(),
            suppressed: 0,
            resources: 0,
            files: Vec::new(),
            project_files: Vec::new(),
            notes: Vec::new(),
            fails_from: match self.fail_on {
                FailOn::Warning => Severity::Warning,
                FailOn::Error => Severity::Error,
            },
        };
        for Checked { manifests, verdict, asked, notes, .. } in all {
            let sources = &manifests.sources;
            let own = manifests.project_file();
            report.resources += manifests.count_in(asked);
            report.files.extend(asked.iter().filter(|file| Some(**file) != own).map(|file| &*sources.get(*file).path));
            report.project_files.extend(own.filter(|own| asked.contains(own)).map(|own| &*sources.get(own).path));
            report.notes.extend(notes.iter().map(String::as_str));
            report.found.extend(verdict.findings.iter().map(|finding| LocatedFinding { finding, sources }));
            report.suppressed += verdict.suppressed.len();
        }
        report
    }

    /// Prints the report: to standard output, or beside a fixed text that is there already.
    fn print(&self, report: &CheckReport, elsewhere: bool, context: &Context) {
        let out = &context.out;
        let style = out.style();
        let text = match self.format {
            Format::Json => findings::json::json(report),
            Format::Jsonl => findings::json::lines(report),
            Format::Sarif => findings::sarif(report),
            Format::CodeQuality => findings::code_quality(report),
            Format::Github => findings::github(report),
            Format::Junit => findings::junit(report),
            _ => findings::text(report, style),
        };
        if self.format != Format::Text {
            report.notes.iter().for_each(|note| out.note(note));
        }
        match self.format.reader() {
            _ if !elsewhere => out.show(self.format, &text),
            Reader::Person => out.note(&text),
            Reader::Json => out.exact_note(escape::json::text(&text).as_bytes()),
            Reader::Bytes => out.exact_note(text.as_bytes()),
        }
        if self.format == Format::Github {
            findings::github_rest(report).iter().for_each(|line| out.note(line));
        }
    }
}

/// The files of the scope that are asked about.
fn asked(scope: &Scope, manifests: &Manifests) -> BTreeSet<FileId> {
    let asked = manifests.sources.iter().filter(|(_, source)| scope.covers(&source.path));
    asked.map(|(file, _)| file).collect()
}

/// Whether something in the project file, which is asked about, cannot be read. A target may stand there.
fn hides_targets(manifests: &Manifests, asked: &BTreeSet<FileId>) -> bool {
    let own = manifests.project_file().filter(|file| asked.contains(file));
    own.is_some() && manifests.findings.iter().any(|finding| finding.at.file() == own)
}

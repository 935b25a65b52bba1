use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::forms::among;
use super::{Context, Ended};
use crate::codes::Severity;
use crate::engine::validate::{CheckedFiles, FixedCount, ValidateRequest};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::escape;
use crate::render::findings::json::FindingsDocument;
use crate::render::findings::{self, CheckReport, LocatedFinding};
use crate::render::{Format, Reader};

/// The output formats.
const FORMATS: &[Format] =
    &[Format::Text, Format::Json, Format::Jsonl, Format::Sarif, Format::Github, Format::CodeQuality, Format::Junit];

/// Check manifests, offline.
#[derive(Debug, Args)]
pub struct Validate {
    /// Files or folders, or `-` for standard input [default: the whole project]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Targets to check for: names, groups, or patterns such as `prod-*`; separate several with commas, or repeat the option
    /// [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    target: Vec<String>,

    /// Check for all targets (the default)
    #[arg(long, conflicts_with = "target")]
    all_targets: bool,

    /// Form of the findings: text for people, the others for programs
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,

    /// Exit with 3 if there are findings of this severity or higher
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,

    /// Fix problems with safe edits, such as missing quotes; with `-`, print the result
    #[arg(long)]
    fix: bool,

    /// Path of the file whose contents are on standard input
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

impl Validate {
    pub fn run(&self, context: &Context) -> Ended {
        let request = ValidateRequest {
            paths: self.paths.clone(),
            stdin_path: self.stdin_path.clone(),
            targets: self.target.clone(),
            now: self.now.unwrap_or_else(Timestamp::now),
            fix: self.fix,
            from_checkout: matches!(self.format, Format::Github | Format::CodeQuality | Format::Sarif),
        };
        let mut all = request.check()?;
        let written = if self.fix { self.write(&all, context) } else { Ok(false) };
        if written.is_err() {
            // The files differ from the fixed texts in memory, and the report is about the files.
            all = request.check_unfixed(all)?;
        }
        let report = self.report(&all);
        self.print(&report, written.as_ref().is_ok_and(|printed| *printed), context);
        written?;
        let fails = report.found.iter().any(|found| report.fails(found.finding));
        // The process ends here: dropping what was read would only take time.
        std::mem::forget(all);
        Ok(if fails { Exit::Findings } else { Exit::Done })
    }

    /// Writes the fixed files, or prints the text if it came from standard input; returns whether it was printed.
    fn write(&self, all: &[CheckedFiles], context: &Context) -> Result<bool, Failure> {
        if let [only] = all
            && let Some(text) = only.fixed_stdin()
        {
            context.out.exact(text);
            return Ok(true);
        }
        let mut fixed = FixedCount::default();
        for one in all {
            let FixedCount { problems, files } = one.write()?;
            fixed = FixedCount { problems: fixed.problems + problems, files: fixed.files + files };
        }
        let line = findings::fixed(fixed.problems, fixed.files);
        match self.format {
            Format::Text => context.out.print(&line),
            _ => context.out.note(&line),
        }
        Ok(false)
    }

    fn report<'a>(&self, all: &'a [CheckedFiles]) -> CheckReport<'a> {
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
        for CheckedFiles { manifests, verdict, asked, notes, .. } in all {
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

    /// Prints the report: to standard output, or to standard error if that already has a fixed text.
    fn print(&self, report: &CheckReport, elsewhere: bool, context: &Context) {
        let out = &context.out;
        let style = out.style();
        if self.format != Format::Text {
            report.notes.iter().for_each(|note| out.note(note));
        }
        if self.format == Format::Json && !elsewhere {
            return out.json_of(&FindingsDocument::new(report));
        }
        let text = match self.format {
            Format::Json => findings::json::json(report),
            Format::Jsonl => findings::json::lines(report),
            Format::Sarif => findings::sarif(report),
            Format::CodeQuality => findings::code_quality(report),
            Format::Github => findings::github(report),
            Format::Junit => findings::junit(report),
            _ => findings::text(report, style),
        };
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

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::{Context, Ended};
use crate::engine::project;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::describe;

/// Write a sample project that uses every kind.
#[derive(Debug, Args)]
pub struct Init {
    /// Folder to write to [default: this one]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Write only a project file and an empty folder for manifests
    #[arg(long)]
    bare: bool,

    /// Start time for the dates of the sample, such as 2026-11-15T12:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
}

/// The sample's files. Marks such as `@SALE@` are dates relative to the day of writing.
const FILES: &[(&str, &str)] = &[
    ("pushplan.toml", include_str!("sample/pushplan.toml")),
    ("messages/audience.yaml", include_str!("sample/messages/audience.yaml")),
    ("messages/automation.yaml", include_str!("sample/messages/automation.yaml")),
    ("campaigns/sale.yaml", include_str!("sample/campaigns/sale.yaml")),
    ("bodies/sale.html", include_str!("sample/bodies/sale.html")),
    ("tests/sale.test.yaml", include_str!("sample/tests/sale.test.yaml")),
    (".gitignore", include_str!("sample/gitignore")),
];

/// The files of a project without the sample.
const BARE: &[(&str, &str)] = &[("pushplan.toml", include_str!("sample/bare.toml"))];
/// The folder of its manifests.
const MANIFESTS: &str = "messages";

const DAYS: &[(&str, i64)] = &[("@TEST@", 14), ("@SALE@", 21), ("@WINBACK@", 28)];

impl Init {
    pub fn run(&self, context: &Context) -> Ended {
        let here = project::here()?;
        let folder = self.folder.as_ref().map_or(here.clone(), |folder| here.join(folder));
        let today = TimeZone::UTC.to_datetime(self.now.unwrap_or_else(Timestamp::now)).date();
        let mut lines = Vec::new();
        let mut written = 0;
        let files = if self.bare { BARE } else { FILES };
        for (name, text) in files {
            let new = write(&folder.join(name), &dated(text, today))?;
            written += usize::from(new);
            lines.push(format!("  {} {name}", if new { "wrote" } else { "kept " }));
        }
        if self.bare {
            let path = folder.join(MANIFESTS);
            let new = !path.is_dir();
            fs::create_dir_all(&path)
                .map_err(|error| Failure::new(format!("{} cannot be created: {}", path.display(), describe(&error))))?;
            lines.push(format!("  {} {MANIFESTS}/", if new { "wrote" } else { "kept " }));
        }
        if written < files.len() {
            lines.push("Existing files were not changed.".to_owned());
        }
        let cd = self.folder.as_ref().map(|folder| format!("cd {} && ", folder.display())).unwrap_or_default();
        lines.push(match self.bare {
            true => format!(
                "Next: {cd}pushplan explain kinds, then write manifests in {MANIFESTS}/.\n\
                 If the service has content already: {cd}pushplan pull"
            ),
            false => format!("Next: {cd}pushplan validate"),
        });
        context.out.print(&lines.join("\n"));
        Ok(Exit::Done)
    }
}

/// The part of the sample with resources of a kind, as written on one fixed day.
pub(super) fn example(kind: &str) -> Option<String> {
    const WRITTEN_ON: Date = date(2035, 11, 2);
    let manifests = FILES.iter().filter(|(name, _)| name.ends_with(".yaml") && !name.ends_with(".test.yaml"));
    manifests.map(|(_, text)| dated(text, WRITTEN_ON)).find_map(|text| {
        let block = |key: &str| {
            let mut lines = text.lines().skip_while(|line| line.strip_suffix(':') != Some(key));
            let head = lines.next()?;
            let rest = lines.take_while(|line| line.is_empty() || line.starts_with(' '));
            let part: Vec<&str> = std::iter::once(head).chain(rest).collect();
            Some(part.join("\n").trim_end().to_owned())
        };
        let resources = block(kind)?;
        let defaults = block("defaults").filter(|defaults| defaults.contains(&format!("\n  {kind}:")));
        Some(match defaults {
            Some(defaults) => format!("{resources}\n\n{defaults}"),
            None => resources,
        })
    })
}

/// The first device tests of the sample.
pub(super) fn example_case() -> String {
    let tests = FILES.iter().find(|(name, _)| name.ends_with(".test.yaml")).map_or("", |(_, text)| text);
    let text = tests.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    text.split("\n\n").take(2).collect::<Vec<_>>().join("\n\n")
}

fn dated(text: &str, today: Date) -> String {
    DAYS.iter().fold(text.to_owned(), |text, (mark, days)| {
        let day = today.checked_add(days.days()).unwrap_or(Date::MAX);
        text.replace(mark, &day.to_string())
    })
}

/// Writes a new file; `false` if it exists already, and is not changed.
fn write(path: &Path, text: &str) -> Result<bool, Failure> {
    let fail =
        |error: &std::io::Error| Failure::new(format!("{} cannot be written: {}", path.display(), describe(error)));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| fail(&error))?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(fail(&error)),
    };
    file.write_all(text.as_bytes()).map_err(|error| fail(&error))?;
    Ok(true)
}

use std::env;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use crate::cli::{Context, Ended};
use crate::engine::saved;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::describe;
use crate::plan::Plan;
use crate::render::outputs::{self, OutputCounts};
use crate::text;

/// Set outputs for the next steps of a job: numbers, files and the digest of a plan.
///
/// Appends `changes`, `creates`, `updates`, `replaces`, `deletes`, `by-hand`, `sends`, `plan-file`, `report-html`,
/// `digest` and `failure-reason` to the file in GITHUB_OUTPUT. Without GITHUB_OUTPUT they are printed as variables,
/// `PUSHPLAN_BY_HAND=0`, for a dotenv report of GitLab. The numbers of several plans are added up. `sends` counts
/// changes that send messages when they are applied: at once, or later through a pipeline. It does not count scheduled
/// pushes. Unknown numbers are empty: with --drift, only `changes` is set.
#[derive(Debug, Args)]
pub struct Outputs {
    /// Plan saved by `pushplan plan --out FILE`, or a folder of plans; can be repeated
    #[arg(long = "plan", value_name = "FILE", required_unless_present_any = ["drift", "failed"])]
    plans: Vec<PathBuf>,

    /// Output of `pushplan drift --format json`, instead of a plan
    #[arg(long, value_name = "FILE", conflicts_with_all = ["plans", "widget"])]
    drift: Option<PathBuf>,

    /// The page that `pushplan plan --format html --out FILE` wrote
    #[arg(long, value_name = "FILE")]
    report_html: Option<PathBuf>,

    /// The exit code of what failed, for `failure-reason`
    #[arg(long, value_name = "CODE")]
    failed: Option<u8>,

    /// File with the error output of the failed command; its first error is reported
    #[arg(long, value_name = "FILE", requires = "failed")]
    log: Option<PathBuf>,

    /// Also write a file for `artifacts:reports:terraform` of GitLab, which a merge request shows as counts
    #[arg(long, value_name = "FILE", requires = "plans")]
    widget: Option<PathBuf>,
}

impl Outputs {
    pub fn run(&self, context: &Context) -> Ended {
        let plans = saved::read_all(&self.plans, &[])?.plans;
        let counts = (!plans.is_empty()).then(|| OutputCounts::of(&plans));
        let drifted = self.drift.as_deref().map(drifted).transpose()?;
        if let (Some(file), Some(counts)) = (&self.widget, &counts) {
            fs::write(file, counts.widget()).map_err(|error| unwritten(&file.display().to_string(), &error))?;
        }
        let shown = |path: &PathBuf| path.display().to_string();
        let files: Vec<String> = self.plans.iter().map(shown).collect();
        let changes = counts.as_ref().filter(|counts| counts.changes > 0).map(|counts| changes(&plans, counts.changes));
        let outputs = outputs::Outputs {
            drifted,
            counts,
            plan_file: (!files.is_empty()).then(|| files.join(" ")),
            report_html: self.report_html.as_ref().map(shown),
            digest: outputs::digest(&plans),
            failure_reason: self.failed.and_then(|code| reason(code, changes, self.log.as_deref())),
        };
        let Some(file) = env::var_os("GITHUB_OUTPUT").filter(|file| !file.is_empty()) else {
            context.out.exact(outputs.dotenv().as_bytes());
            return Ok(Exit::Done);
        };
        let written = OpenOptions::new().create(true).append(true).open(file).and_then(|mut file| {
            file.write_all(outputs.github().as_bytes())?;
            file.flush()
        });
        written.map_err(|error| unwritten("the file that GITHUB_OUTPUT names", &error))?;
        Ok(Exit::Done)
    }
}

fn unwritten(what: &str, error: &std::io::Error) -> Failure {
    Failure::new(format!("{what} cannot be written: {}", describe(error)))
}

/// The number of resources that were changed, removed or added, on one target or on several.
fn drifted(file: &Path) -> Result<usize, Failure> {
    let shown = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::new(format!("{shown} cannot be read: {}", describe(&error))))?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::new(format!("{shown} is not what `pushplan drift --format json` prints: {error}")))?;
    let targets = document["targets"].as_array().cloned().unwrap_or_else(|| vec![document]);
    let number = |target: &Value, name: &str| {
        let counts = target.get("drift").unwrap_or(target);
        usize::try_from(counts["counts"][name].as_u64().unwrap_or_default()).unwrap_or_default()
    };
    let sum = |name| targets.iter().map(|target| number(target, name)).sum::<usize>();
    Ok(sum("changed") + sum("removed") + sum("added"))
}

fn changes(plans: &[Plan], number: usize) -> String {
    let number = text::count(number, "change");
    match plans {
        [_] => format!("the plan has {number}"),
        _ => format!("the plans have {number}"),
    }
}

/// Why a run failed: a word for its exit code, and its first error. A run with changes did not fail: then the changes
/// are returned.
fn reason(code: u8, changes: Option<String>, log: Option<&Path>) -> Option<String> {
    if code == Exit::Done as u8 {
        return None;
    }
    let word = Exit::word_of(code);
    let said = log.and_then(|log| fs::read(log).ok()).map(|said| String::from_utf8_lossy(&said).into_owned());
    let said = said.unwrap_or_default();
    let error = said.lines().find_map(|line| line.strip_prefix("error").filter(|rest| rest.starts_with([':', '['])));
    let error = error.map(|error| error.trim_start_matches(": ").to_owned());
    let first = || said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    let why = if code == 2 { changes.or(error) } else { error.or_else(first) };
    Some(match why {
        Some(error) => format!("{word}: {error}"),
        None => word.to_owned(),
    })
}

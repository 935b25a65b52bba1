//! What many targets cost: `cargo bench --bench targets`.
//!
//! 100 targets with 100 resources each are planned by the real binary, and one target with 10,000 resources, in turns in one
//! run, so that the ratio means the same on any machine. The many may cost at most 1.3 times as much as the one; the run fails
//! otherwise. All targets are in sync, on applications of one built-in service. `PUSHPLAN_TARGETS=10` takes another number.

#[path = "../service/binary.rs"]
mod binary;
#[path = "../service/report.rs"]
#[expect(dead_code, reason = "nothing here has to reach a least ratio")]
mod report;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

use binary::run;
use pushplan::service::{self, Level, Settings};
use report::{Report, Target, ratios};
use tokio::net::TcpListener;

/// How many resources each of the many has.
const EACH: usize = 100;
/// How often both are measured.
const ROUNDS: usize = 7;
/// How much more than the one the many may cost.
const MOST: f64 = 1.3;

fn main() -> ExitCode {
    let targets: usize = std::env::var("PUSHPLAN_TARGETS").ok().and_then(|it| it.parse().ok()).unwrap_or(100);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let names: Vec<String> = (0..targets).map(|number| format!("app-{number:03}")).collect();
    let pair = |name: &str| (format!("key-of-{name}-0000000000"), format!("secret-of-{name}-0000000"));
    let apps = names.iter().map(String::as_str).chain(["one"]).map(pair).collect();
    let running = runtime.block_on(async {
        let settings = Settings { api: Level::Extended, apps, ..Settings::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        service::start(settings, listener).await.expect("the service starts")
    });
    let origin = format!("http://{}", running.address);
    let folder = tempfile::tempdir().expect("a folder");
    let section = |name: &str| {
        let (key, secret) = pair(name);
        format!("[\"{origin}\".{name}]\napp_key = \"{key}\"\nmaster_secret = \"{secret}\"\n")
    };
    let credentials = folder.path().join("credentials");
    let sections: String = names.iter().map(String::as_str).chain(["one"]).map(section).collect();
    fs::write(&credentials, sections).expect("a file");
    fs::set_permissions(&credentials, fs::Permissions::from_mode(0o600)).expect("a mode");
    let environment = [("PUSHPLAN_CREDENTIALS", credentials.to_str().expect("UTF-8"))];
    let (many, one) = (folder.path().join("many"), folder.path().join("one"));
    let list: Vec<String> = (0..targets).map(|number| format!("\"{number:03}\"")).collect();
    let matrix = format!(
        "[matrix]\nnumber = [{}]\nname = \"app-${{number}}\"\n[matrix.target]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\n",
        list.join(", ")
    );
    project(&many, &matrix, EACH);
    project(
        &one,
        &format!("[targets.one]\nbase_url = \"{origin}\"\nledger = \"file:\"\napi = \"extended\"\n"),
        targets * EACH,
    );
    run(&many, &environment, &["apply", "--all-targets", "--yes", "--concurrency", "64"]);
    run(&one, &environment, &["apply", "--yes", "--concurrency", "64"]);
    let (mut all, mut alone, mut checks, mut check) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (took, said) = run(&many, &environment, &["plan", "--all-targets"]);
        assert!(said.contains(&format!("{targets} targets: {targets} without changes.")), "{said}");
        all.push(took);
        let (took, said) = run(&one, &environment, &["plan"]);
        assert!(said.contains("No changes."), "{said}");
        alone.push(took);
        checks.push(run(&many, &environment, &["validate"]).0);
        check.push(run(&many, &environment, &["validate", "--target", &names[0]]).0);
    }
    let mut report = Report::default();
    let median = |times: &[f64]| report::Sample::new(times.to_vec()).median();
    report.line(&format!("{targets} targets with {EACH} resources each, and one with {}", targets * EACH));
    report.line(&format!("  {:<40} {:>7.2} s", "plan --all-targets", median(&all)));
    report.line(&format!("  {:<40} {:>7.2} s", "plan of the one", median(&alone)));
    report.ratio("many ÷ one", &ratios(&all, &alone), &Target::AtMost(MOST));
    report.line(&format!("  {:<40} {:>7.3} s", "validate, all targets", median(&checks)));
    report.line(&format!("  {:<40} {:>7.3} s", "validate, one of them", median(&check)));
    report.end()
}

/// A project with so many resources: half segments, half templates.
fn project(folder: &Path, toml: &str, resources: usize) {
    fs::create_dir_all(folder).expect("a folder");
    fs::write(folder.join("pushplan.toml"), toml).expect("a file");
    let numbers = || 0..resources / 2;
    let segments: String =
        numbers().map(|it| format!("  s{it}: {{criteria: {{and: [{{tag: tag-{it}}}, {{country: US}}]}}}}\n")).collect();
    let templates: String =
        numbers().map(|it| format!("  t{it}: {{push: {{notification: {{alert: \"Sale number {it}\"}}}}}}\n")).collect();
    fs::write(folder.join("segments.yaml"), format!("segments:\n{segments}")).expect("a file");
    fs::write(folder.join("templates.yaml"), format!("templates:\n{templates}")).expect("a file");
}

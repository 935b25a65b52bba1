//! The examples in the help of each command work unchanged.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;

use pushplan_testing::{Folder, Project, Ran, Service};

use super::{command, pushplan, ran};

/// Examples that fail here, with their exit codes and messages: their situation does not occur in the sample, or they
/// need a terminal.
const OTHERWISE: [(&str, i32, &str); 7] = [
    ("pushplan adopt segments/lapsed-buyers", 1, "is already managed"),
    ("pushplan resolve scheduled_pushes/winback-call --absent", 64, "is known"),
    ("pushplan resolve segments/lapsed-buyers --created 4f2a71c0", 64, "is known"),
    ("pushplan revert 2", 7, "pass --yes"),
    ("pushplan send templates/winback --to named_user:qa-team", 7, "pass --yes"),
    ("pushplan unlock --lease 4f2a71c0", 1, "is not locked"),
    ("pushplan unlock --lease 4f2a71c0 --target production --yes", 1, "is not locked"),
];

/// The sample project, applied to the built-in service and to a running one, with two commits and two runs.
struct Sample {
    folder: Folder,
    production: Service,
}

impl Sample {
    fn new() -> Self {
        let sample = Self { folder: Folder::new(), production: Project::new("").serve_with(&["--devices", "200"]) };
        let made = pushplan(&sample.folder, &["init"], &[]);
        assert_eq!(made.code, 0, "{made}");
        let target = |name: &str, place: &str| {
            format!("[targets.{name}]\napi = \"extended\"\n{place}[targets.{name}.variables]\ndiscount = \"10%\"\n")
        };
        let production = format!("base_url = \"{}\"\nledger = \"file:\"\n", sample.production.origin);
        let project =
            "[project]\nname = \"shop\"\nmanifests = [\"messages\", \"campaigns\"]\ndefault_target = \"local\"\n";
        let settings = [project, &target("local", ""), &target("production", &production)].concat();
        sample.folder.write("pushplan.toml", settings);
        let made = sample.shell(
            &sample.folder,
            "git init --quiet --initial-branch=main && git config user.name Ada && \
             git config user.email ada@example.com && git add . && git commit --quiet -m one && \
             pushplan apply --all-targets --yes && \
             sed -i s/interested/curious/ messages/automation.yaml tests/sale.test.yaml && git commit --quiet -am two && \
             pushplan apply --all-targets --yes",
        );
        assert_eq!(made.code, 0, "{made}");
        sample
    }

    /// Runs a script in a folder.
    fn shell(&self, folder: &Folder, script: &str) -> Ran {
        let mut shell = command("sh", folder);
        shell.args(["-c", script]).envs(self.production.credentials());
        ran(shell)
    }

    /// Runs an example in a copy of the folder. Returns the failure.
    fn run(&self, example: &str) -> Option<String> {
        let folder = Folder::new();
        let copied = self.shell(&folder, &format!("cp -r '{}/.' .", self.folder.path().display()));
        assert_eq!(copied.code, 0, "{copied}");
        if example.starts_with("pushplan serve") || example == "pushplan docs" {
            // The usual port may be in use.
            let port = if example == "pushplan docs" { "" } else { "--port 0" };
            let mut serve = command("sh", &folder);
            serve.args(["-c", &format!("exec {example} {port}")]).stdout(Stdio::piped());
            let mut serving = serve.spawn().expect("it starts");
            let line = BufReader::new(serving.stdout.take().expect("its output")).lines().next();
            serving.kill().expect("it is ended");
            serving.wait().expect("it ends");
            let is_ready = line.is_some_and(|line| line.is_ok_and(|line| line.contains(" http://")));
            return (!is_ready).then(|| format!("{example}: it is not ready"));
        }
        let ran = self.shell(&folder, example);
        let ends = OTHERWISE.iter().find(|(other, ..)| *other == example);
        let (code, words) = ends.map_or((0, ""), |(_, code, words)| (*code, *words));
        (ran.code != code || !ran.stderr.contains(words)).then(|| format!("{example}: {}\n{}", ran.code, ran.stderr))
    }
}

fn examples(help: &str) -> Vec<String> {
    let (_, examples) = help.split_once("\nExamples:\n").expect("examples come last");
    examples.lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn every_command_has_two_examples_that_run() {
    let sample = Sample::new();
    let help = pushplan(&sample.folder, &["--help"], &[]).stdout;
    let (commands, _) = help.split_once("\nOptions:\n").expect("options come last");
    let names: Vec<&str> =
        commands.lines().filter_map(|line| Some(line.strip_prefix("  ")?.split_once("  ")?.0)).collect();
    assert!(names.len() > 35, "{names:?}");
    let helps = names.iter().map(|name| (*name, pushplan(&sample.folder, &[name, "--help"], &[]).stdout));
    let examples: Vec<String> = helps
        .flat_map(|(name, help)| {
            let examples = examples(&help);
            assert_eq!(examples.len(), 2, "{name}");
            assert!(examples.iter().all(|example| example.starts_with(&format!("pushplan {name}"))), "{examples:?}");
            examples
        })
        .collect();
    assert!(OTHERWISE.iter().all(|(other, ..)| examples.iter().any(|example| example == other)));
    let failed: Vec<String> = thread::scope(|scope| {
        let parts = examples.chunks(examples.len().div_ceil(4));
        let sample = &sample;
        let run = move |part: &[String]| part.iter().filter_map(|example| sample.run(example)).collect::<Vec<_>>();
        let runs: Vec<_> = parts.map(|part| scope.spawn(move || run(part))).collect();
        runs.into_iter().flat_map(|run| run.join().expect("no panic")).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

//! Runs the composite action like GitHub's runner: steps with bash, conditions, expressions, and files for outputs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use pushplan_testing::Ran;
use pushplan_testing::hosts::TOKEN;
use serde_json::Value;

use crate::team::{Env, outside, ran};
use crate::yaml::{document, own};

/// The result of a workflow step that uses the action.
pub struct Used {
    pub code: i32,
    pub outputs: BTreeMap<String, String>,
    pub summary: String,
    /// The output of its steps, concatenated.
    pub log: String,
    /// The actions that it used.
    pub uses: Vec<String>,
    /// The additions of the steps to the path.
    pub path: Vec<String>,
}

impl Used {
    #[track_caller]
    pub fn output(&self, name: &str) -> &str {
        self.outputs.get(name).unwrap_or_else(|| panic!("no output {name}: {:?}", self.outputs))
    }
}

pub struct Runner<'r> {
    action: Value,
    /// The folder of the checkout.
    workspace: &'r Path,
    temp: PathBuf,
    /// The artifacts of the workflow's run, by name.
    artifacts: PathBuf,
    /// Folders at the beginning of the path.
    pub first: Vec<PathBuf>,
    /// The path of its machine, if it is not that of this one.
    pub path: Option<String>,
    /// What its context has beside the token, such as `github.action_ref`.
    pub context: Vec<(&'static str, String)>,
}

impl<'r> Runner<'r> {
    pub fn new(workspace: &'r Path) -> Self {
        let (temp, artifacts) = (workspace.join(".git/runner"), workspace.join(".git/artifacts"));
        for folder in [&temp, &artifacts] {
            fs::create_dir_all(folder).expect("a folder");
        }
        let action = document(&own("action.yml"));
        Self { action, workspace, temp, artifacts, first: Vec::new(), path: None, context: Vec::new() }
    }

    /// Uses the action in another job, which has another machine.
    pub fn job(&self, inputs: &[(&str, &str)], env: &Env) -> Used {
        fs::remove_dir_all(&self.temp).expect("a folder");
        fs::create_dir_all(&self.temp).expect("a folder");
        self.run(inputs, env)
    }

    /// Uses the action with these inputs in this environment.
    pub fn run(&self, inputs: &[(&str, &str)], env: &Env) -> Used {
        let mut given: BTreeMap<String, String> = BTreeMap::new();
        for (name, input) in self.action["inputs"].as_object().expect("inputs") {
            given.insert(format!("inputs.{name}"), input["default"].as_str().unwrap_or_default().to_owned());
        }
        for (name, value) in inputs {
            assert!(given.insert(format!("inputs.{name}"), (*value).to_owned()).is_some(), "no input {name}");
        }
        given.insert("github.token".to_owned(), TOKEN.to_owned());
        given.insert("runner.temp".to_owned(), self.temp.display().to_string());
        given.extend(self.context.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let mut used = Used {
            code: 0,
            outputs: BTreeMap::new(),
            summary: String::new(),
            log: String::new(),
            uses: Vec::new(),
            path: Vec::new(),
        };
        for step in self.action["runs"]["steps"].as_array().expect("steps") {
            let condition = step["if"].as_str().unwrap_or_default();
            let is_always = condition.starts_with("always() && ");
            let condition = condition.trim_start_matches("always() && ");
            if (used.code != 0 && !is_always) || !(condition.is_empty() || holds(condition, &given)) {
                continue;
            }
            if let Some(action) = step["uses"].as_str() {
                let with = |name: &str| filled(step["with"][name].as_str().unwrap_or_default(), &given);
                match action.split('@').next() {
                    Some("actions/upload-artifact") => self.upload(&with("name"), Path::new(&with("path"))),
                    Some("actions/download-artifact") => self.download(&with("pattern"), Path::new(&with("path"))),
                    _ => used.uses.push(action.to_owned()),
                }
                continue;
            }
            self.step(step, &mut given, env, &mut used);
        }
        for (name, output) in self.action["outputs"].as_object().expect("outputs") {
            used.outputs.insert(name.clone(), filled(output["value"].as_str().expect("a value"), &given));
        }
        used
    }

    /// Stores the files of a folder, if there are any, in place of those of the same name.
    fn upload(&self, name: &str, path: &Path) {
        assert!(!name.contains(['"', ':', '<', '>', '|', '*', '?', '\\', '/']), "the host refuses the name {name}");
        let artifact = self.artifacts.join(name);
        if path.exists() {
            let _ = fs::remove_dir_all(&artifact);
            copy(path, &artifact);
        }
    }

    /// Puts the files of all artifacts with names like this one into one folder.
    fn download(&self, pattern: &str, path: &Path) {
        let prefix = pattern.strip_suffix('*').expect("a pattern");
        for artifact in fs::read_dir(&self.artifacts).expect("a folder").map(|file| file.expect("a file")) {
            if artifact.file_name().to_string_lossy().starts_with(prefix) {
                copy(&artifact.path(), path);
            }
        }
    }

    fn step(&self, step: &Value, given: &mut BTreeMap<String, String>, env: &Env, used: &mut Used) {
        assert_eq!(step["shell"], "bash", "{step}");
        let script = step["run"].as_str().expect("a script");
        assert!(!script.contains("${{"), "{script}");
        let file = |name: &str| {
            let path = self.temp.join(name);
            fs::write(&path, "").expect("a file");
            path
        };
        let (output, path, summary) = (file("output"), file("path"), file("summary"));
        let mut command = outside("bash");
        let inherited =
            command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, path)| path).expect("a path");
        let first = used.path.iter().cloned().chain(self.first.iter().map(|folder| folder.display().to_string()));
        let rest = self.path.clone().unwrap_or_else(|| inherited.to_string_lossy().into_owned());
        let whole: Vec<String> = first.chain([rest]).collect();
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]).current_dir(self.workspace);
        command.env("PATH", whole.join(":")).env("GITHUB_ACTION_PATH", env!("CARGO_MANIFEST_DIR"));
        command.env("RUNNER_TEMP", &self.temp).env("RUNNER_OS", "Linux").env("GITHUB_WORKSPACE", self.workspace);
        // The token comes only from the context.
        command.envs(env.iter().filter(|(name, _)| *name != "GITHUB_TOKEN").map(|(name, value)| (*name, value)));
        for (name, value) in step["env"].as_object().into_iter().flatten() {
            command.env(name, filled(value.as_str().expect("a text"), given));
        }
        command.env("GITHUB_OUTPUT", &output).env("GITHUB_PATH", &path).env("GITHUB_STEP_SUMMARY", &summary);
        let Ran { stdout, stderr, code } = ran(&mut command);
        used.code = code;
        used.log.push_str(&stdout);
        used.log.push_str(&stderr);
        used.summary.push_str(&read(&summary));
        used.path.extend(read(&path).lines().map(str::to_owned));
        if let Some(id) = step["id"].as_str() {
            for (name, value) in handed_on(&read(&output)) {
                given.insert(format!("steps.{id}.outputs.{name}"), value);
            }
        }
    }
}

/// Copies the files of a folder.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for file in fs::read_dir(from).expect("a folder").map(|file| file.expect("a file")) {
        fs::copy(file.path(), to.join(file.file_name())).expect("a copy");
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

/// The outputs of a step, as a runner reads them: `name=value`, or `name<<END`, lines and `END`.
pub fn handed_on(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let (equals, heredoc) = (line.find('='), line.find("<<"));
        match (equals, heredoc) {
            (Some(at), other) if other.is_none_or(|other| at < other) => {
                found.insert(line[..at].to_owned(), line[at + 1..].to_owned());
            }
            (_, Some(at)) => {
                let value: Vec<&str> = lines.by_ref().take_while(|it| *it != &line[at + 2..]).collect();
                found.insert(line[..at].to_owned(), value.join("\n"));
            }
            _ => panic!("{line}"),
        }
    }
    found
}

/// A text with its expressions evaluated.
fn filled(text: &str, given: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${{") {
        let (expression, after) = behind.split_once("}}").expect("an end");
        out.push_str(before);
        out.push_str(&either(expression, given));
        rest = after;
    }
    out + rest
}

/// The first non-empty operand of `a || b`.
fn either(expression: &str, given: &BTreeMap<String, String>) -> String {
    let known = |term: &str| {
        let is_context = ["inputs.", "steps.", "env.", "github.token", "github.action_re", "runner.temp"]
            .iter()
            .any(|prefix| term.starts_with(prefix));
        assert!(is_context, "the runner of this test does not know {term}");
        given.get(term).cloned().unwrap_or_default()
    };
    expression.split("||").map(|term| known(term.trim())).find(|value| !value.is_empty()).unwrap_or_default()
}

/// Whether `a == 'b'` is true.
fn holds(condition: &str, given: &BTreeMap<String, String>) -> bool {
    let (left, right) = condition.split_once("==").unwrap_or_else(|| panic!("{condition}"));
    either(left, given) == right.trim().trim_matches('\'')
}

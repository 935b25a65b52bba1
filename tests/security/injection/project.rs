//! A project in which every text is hostile, with all commands run on it.

use std::process::{Command, Stdio};

use pushplan_testing::{Folder, Ran};

use super::points::is_raw;

pub struct Project {
    pub folder: Folder,
}

impl Project {
    /// Puts the text into a name, an alert, a tag, a variable, a description and a body, written as in YAML's double
    /// quotes.
    pub fn new(text: &str) -> Self {
        let manifest = format!(
            r#"
tag_groups:
  loyalty:
    description: "{text}"
    tags: ["{text}"]
segments:
  vip:
    display_name: "S {text}"
    criteria: {{and: [{{tag: "{text}", group: loyalty}}, {{tag: b}}]}}
  other:
    display_name: "{text}"
    criteria: {{tag: "{text} 2"}}
templates:
  winback:
    name: "T {text}"
    description: "{text}"
    variables: [{{key: FIRST_NAME, name: "{text}", default_value: "{text}"}}]
    push: {{notification: {{alert: "Hi {{{{FIRST_NAME}}}} {text}"}}}}
pipelines:
  later:
    name: "P {text}"
    enabled: true
    immediate_trigger: {{tag_added: "{text}"}}
    outcome: {{push: {{audience: triggered, device_types: [ios], notification: {{alert: "{text}"}}}}}}
"#
        );
        let folder = Folder::project(&manifest);
        folder.write("pushplan.toml", "[targets.local]\nsettle = \"1s\"\nsend_within = \"2s\"\n");
        Self { folder }
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_as(arguments, &[])
    }

    /// Runs the binary with these environment variables.
    pub fn run_as(&self, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pushplan"));
        for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LANG", "CI"] {
            command.env_remove(name);
        }
        let output = command
            .args(arguments)
            .current_dir(self.folder.path())
            .envs(env.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs");
        Ran {
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            code: output.status.code().expect("no signal"),
        }
    }

    /// Runs the usual commands, and passes each output to `look`.
    pub fn every_command(&self, look: impl Fn(&[&str], &Ran)) {
        let run = |arguments: &[&str]| {
            let ran = self.run(arguments);
            look(arguments, &ran);
            ran
        };
        for format in ["text", "json", "sarif", "github", "junit"] {
            run(&["validate", "--format", format]);
        }
        run(&["graph"]);
        run(&["graph", "--format", "mermaid"]);
        run(&["plan"]);
        run(&["plan", "--color", "always"]);
        for format in ["json", "markdown", "html"] {
            run(&["plan", "--format", format]);
        }
        for format in ["text", "json", "markdown"] {
            run(&["calendar", "--format", format]);
        }
        for address in ["templates/winback", "pipelines/later"] {
            run(&["preview", address]);
            run(&["preview", address, "--format", "html"]);
        }
        run(&["test"]);
        run(&["test", "--format", "json"]);
        let applied = run(&["apply", "--yes", "--on-error", "continue"]);
        assert!(applied.stdout.contains("segments/"), "something was applied: {applied}");
        for arguments in [
            &["show", "segments/vip"][..],
            &["show", "templates/winback"],
            &["show", "pipelines/later"],
            &["history"],
            &["history", "1"],
            &["history", "--format", "json"],
            &["outcome"],
            &["outcome", "--format", "json"],
            &["reach"],
            &["reach", "--format", "json"],
            &["send", "templates/winback", "--to", "named_user:\u{1b}[31m::error::qa", "--yes"],
            &["plan"],
            &["fmt", "--check"],
            &["api", "GET", "/api/segments"],
            &["api", "-i", "GET", "/api/templates"],
            &["api", "GET", "/api/nothing"],
            &["lookup", "segment", "vip"],
            &["lookup", "segment", "other", "--format", "json"],
            &["lookup", "template", "winback"],
            &["lookup", "template", "nearly"],
            &["report", "devices"],
            &["destroy", "--yes", "--allow-deletes", "100"],
            &["apply", "--yes", "--format", "jsonl"],
            &["apply", "--yes", "--format", "json"],
        ] {
            run(arguments);
        }
    }
}

/// Checks that the output does not move the cursor, set unexpected colours, change the direction or hide text. Only
/// pushplan's own colours are allowed, and isolates that are closed on their line.
#[track_caller]
pub fn assert_calm(arguments: &[&str], ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let plain = without_colors(text);
        for line in plain.split('\n') {
            let (mut open, mut before) = (0_i32, ' ');
            for c in line.chars() {
                // Emoji are joined by characters that are invisible elsewhere.
                let joins = matches!(c, '\u{200d}' | '\u{fe0f}') && before >= '\u{2190}' && !is_raw(before);
                let joins = joins || (c == '\u{200d}' && before == '\u{fe0f}');
                before = c;
                open += i32::from(c == '\u{2068}') - i32::from(c == '\u{2069}');
                assert!(
                    joins || matches!(c, '\u{2068}' | '\u{2069}') || !is_raw(c),
                    "{arguments:?} prints {c:?}: {line:?}"
                );
                assert!((0..=1).contains(&open), "{arguments:?} leaves direction turned: {line:?}");
            }
            assert_eq!(open, 0, "{arguments:?} leaves direction turned: {line:?}");
        }
    }
}

pub fn without_colors(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(after.len());
        match after[end..].strip_prefix('m') {
            Some(after) => rest = after,
            None => {
                out.push('\u{1b}');
                rest = after;
            }
        }
    }
    out + rest
}

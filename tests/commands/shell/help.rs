//! `pushplan help`: its contents match the sources.

use std::collections::BTreeSet;

use pushplan::exit::EXITS;
use pushplan::render::help::GROUPS;
use pushplan_testing::{Folder, SourceFile, crates, sources};

use super::pushplan;

fn said(words: &[&str]) -> String {
    let ran = pushplan(&Folder::new(), words, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}: {ran}");
    ran.stdout
}

#[test]
fn help_says_what_the_flag_says() {
    assert_eq!(said(&["help"]), said(&["--help"]));
    assert_eq!(said(&["help", "ledger", "move"]), said(&["ledger", "move", "--help"]));
    assert!(said(&["-h"]).contains("pushplan help exit-codes, environment, formats, time-zones"));
    for (words, near) in [
        (&["help", "exitcodes"][..], "`exit-codes`"),
        (&["help", "plam"], "`plan`"),
        (&["help", "ledger", "mov"], "`move`"),
    ] {
        let ran = pushplan(&Folder::new(), words, &[]);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.contains(&format!("did you mean {near}")), "{ran}");
    }
}

#[test]
fn commands_are_listed_by_groups_with_a_short_line_each() {
    let help = said(&["--help"]);
    let (commands, _) = help.split_once("\nOptions:\n").expect("options come last");
    let groups: Vec<&str> = commands.lines().filter_map(|line| line.strip_suffix(':')).collect();
    assert_eq!(groups, ["Start", "Write", "Review", "Apply", "Operate", "Automate", "Inspect"]);
    let rows: Vec<(&str, &str)> =
        commands.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  ")).collect();
    for (name, about) in &rows {
        let about = about.trim_start();
        assert!((10..=60).contains(&about.len()) && !about.ends_with('.'), "{name}: {about}");
        assert!(said(&[name, "--help"]).starts_with(about), "{name}: {about}");
    }
    assert!(rows.len() > 35 && rows.iter().any(|(name, _)| *name == "apply"), "{rows:?}");
}

#[test]
fn words_of_other_tools_work_or_are_explained() {
    assert_eq!(said(&["version"]), said(&["--version"]));
    for (words, instead) in [
        (&["import", "segments/a"][..], "`pushplan adopt`"),
        (&["state", "rm"], "`pushplan list`"),
        (&["rollback"], "`pushplan revert RUN`"),
    ] {
        let ran = pushplan(&Folder::new(), words, &[]);
        assert_eq!(ran.code, 64, "{ran}");
        assert!(ran.stderr.contains(&format!("`{}` is not a command", words[0])), "{ran}");
        assert!(ran.stderr.contains(instead) && !ran.stderr.contains("similar"), "{ran}");
    }
    // After a command, such a word is not explained.
    let ran = pushplan(&Folder::new(), &["ledger", "import"], &[]);
    assert!(ran.code == 64 && !ran.stderr.contains("adopt"), "{ran}");
}

#[test]
fn exit_codes_are_those_of_the_program() {
    let text = said(&["help", "exit-codes"]);
    for (exit, _, meaning) in EXITS {
        let code = exit as u8;
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("{code} {meaning}")), "{code}: {text}");
    }
}

#[test]
fn formats_name_every_form_of_every_command() {
    let text = said(&["help", "formats"]);
    for (command, forms) in
        [("plan", "text, json, markdown, html"), ("graph", "dot, mermaid"), ("ledger status", "text, json")]
    {
        let line = text.lines().find(|line| line.trim_start().starts_with(&format!("{command} ")));
        assert!(line.is_some_and(|line| line.contains(forms)), "{command}: {text}");
    }
    assert!(text.contains("SARIF 2.1.0"), "{text}");
}

#[test]
fn time_zones_are_explained_by_codes_that_exist() {
    let text = said(&["help", "time-zones"]);
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with("SC")) {
        assert!(pushplan::codes::code(word).is_some(), "{word}");
    }
    assert!(text.contains("SC102") && text.contains("SC103"), "{text}");
}

/// Texts in capital letters that are not names of variables.
const NO_VARIABLES: &[&str] = &[
    "AND",
    "API",
    "CANCELLED",
    "CARGO_PKG_VERSION",
    "DELETE",
    "DIFFERENT",
    "ENVIRONMENT",
    "EVERYONE",
    "EXAMPLES",
    "FAILED",
    "FALSE",
    "FEWER",
    "GET",
    "GMT",
    "HEAD",
    "HTTP",
    "KEY",
    "LOOSENED",
    "MORE",
    "NOBODY",
    "NOT",
    "NULL",
    "PASSWORD",
    "PATCH",
    "POSIX",
    "POST",
    "PROXY",
    "PUT",
    "SAS",
    "SCHEDULED_PUSH",
    "SECRET",
    "SENDS",
    "TEXT",
    "TIGHTENED",
    "TOKEN",
    "TRUE",
    "UPPERCASE",
    "UTC",
];

/// Sources that read no variables: the content of the service and of files.
const ELSEWHERE: [&str; 5] = [
    "crates/service/",
    "crates/model/src/nouns/",
    "crates/model/src/audience/",
    "crates/project/src/check/",
    "src/render/calendar",
];

/// The value names in the help, such as `DIR`.
fn values(text: &str) -> impl Iterator<Item = &str> {
    let named = ["value_name = \"", "value_name(\""].into_iter().flat_map(|start| text.split(start).skip(1));
    named.filter_map(|rest| rest.split('"').next())
}

/// Texts of a source that could be names of variables, in capital letters.
fn names(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let texts = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    let is_name = |text: &&str| {
        let is_sign = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let is_code = text.len() == 5 && text.bytes().skip(2).all(|byte| byte.is_ascii_digit());
        text.len() > 2 && text.starts_with(|c: char| c.is_ascii_uppercase()) && text.chars().all(is_sign) && !is_code
    };
    texts.filter(is_name).collect()
}

#[test]
fn every_variable_that_is_read_is_in_the_topic() {
    let told: Vec<&str> = GROUPS.iter().flat_map(|group| group.variables).map(|variable| variable.name).collect();
    let is_told = |name: &str| {
        told.iter().any(|told| *told == name || told.strip_suffix('*').is_some_and(|start| name.starts_with(start)))
    };
    let mut files = sources(&crates());
    files.retain(|file| !file.name.ends_with("/tests.rs"));
    let values: BTreeSet<&str> = files.iter().flat_map(|file| values(&file.text)).collect();
    let (mut missing, mut found) = (Vec::new(), BTreeSet::new());
    for SourceFile { name, text } in &files {
        if ELSEWHERE.iter().any(|folder| name.starts_with(folder)) {
            assert!(!text.contains("env::var"), "{name} reads the environment");
            continue;
        }
        // Variables that git is started without, or with.
        let is_git =
            |word: &str| name == "crates/io/src/git/run.rs" && word.starts_with("GIT_") && word != "GIT_ALLOW_PROTOCOL";
        for word in names(text).into_iter().filter(|word| !is_git(word) && !values.contains(word)) {
            found.insert(word.to_owned());
            if !is_told(word) && !NO_VARIABLES.contains(&word) {
                missing.push(format!("{name}: {word}"));
            }
        }
    }
    assert!(missing.is_empty(), "not in src/render/help/environment.rs: {missing:#?}");
    assert!(
        found.contains("PUSHPLAN_MASTER_SECRET") && found.contains("CI_JOB_URL") && found.contains("HOME"),
        "{found:?}"
    );
    let stale: Vec<_> = NO_VARIABLES.iter().filter(|word| !found.contains(**word)).collect();
    assert!(stale.is_empty(), "{stale:?} stand nowhere any more");
    let text = said(&["help", "environment"]);
    assert!(told.iter().all(|name| text.contains(name)), "{text}");
}

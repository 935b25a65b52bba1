//! Commands that CI systems read in a log. Texts that contain them are shown, and none of them takes effect.

use proptest::prelude::*;
use pushplan::render::escape::stream;
use pushplan_testing::Ran;

use super::project::{Project, assert_calm, without_colors};

/// A part of the output that a CI system would take for a command, if any. Colours do not matter.
fn obeyed(output: &str) -> Option<String> {
    let names =
        ["::error", "::warning", "::notice", "::add-mask", "::set-output", "::stop-commands", "::debug", "::group"];
    for line in without_colors(output).split(['\n', '\r']) {
        let start = line.trim_start();
        let at_start =
            names.iter().any(|name| start.starts_with(name)) || (start.starts_with("::") && start[2..].contains("::"));
        let signs: Vec<&str> = line.split("##").skip(1).collect();
        let anywhere = signs.iter().any(|rest| {
            rest.split('[')
                .next()
                .is_some_and(|name| rest.contains('[') && name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        });
        if at_start || anywhere {
            return Some(line.to_owned());
        }
    }
    None
}

#[track_caller]
fn assert_disobeyed(arguments: &[&str], ran: &Ran) {
    assert_calm(arguments, ran);
    // The form for GitHub consists of commands; pushplan's own are at the beginning of a line.
    if arguments.contains(&"github") {
        for line in ran.stdout.lines() {
            let is_ours = line.starts_with("::error ") || line.starts_with("::warning ");
            assert!(is_ours && !line.contains("##["), "{line}");
        }
        return;
    }
    for output in [&ran.stdout, &ran.stderr] {
        assert_eq!(obeyed(output), None, "{arguments:?}: {ran}");
    }
}

#[test]
fn no_command_of_the_binary_lets_one_through() {
    for text in
        ["::error::x", "##[error]x ##vso[task.complete result=Failed]x ###[x] ##teamcity[x]", "a \\n ::error file=a::x"]
    {
        let project = Project::new(text);
        project.every_command(assert_disobeyed);
    }
}

#[test]
fn commands_do_not_get_to_the_beginning_of_a_line_where_lines_are_broken() {
    let project = Project::new(&format!("{} ::error::x", "word ".repeat(3).trim_end()));
    for width in (20..60).step_by(3) {
        for arguments in [&["plan"][..], &["plan", "--color", "always"]] {
            let ran = project.run_as(arguments, &[("COLUMNS", &width.to_string())]);
            assert_disobeyed(arguments, &ran);
        }
    }
}

#[test]
fn file_names_arguments_and_errors_of_a_service_are_texts_too() {
    let project = Project::new("x");
    project.folder.write("##[error]x.yaml", "segments: {a: {criteria: {tag: true}}}\n");
    project.folder.write("b.yaml", "::error::x: [\n");
    for arguments in [&["validate"][..], &["plan"], &["fmt", "--check"], &["validate", "--format", "junit"]] {
        assert_disobeyed(arguments, &project.run(arguments));
    }
    for arguments in [
        &["show", "segments/##[error]x"][..],
        &["show", "\n::error::x"],
        &["plan", "\n::error::x"],
        &["explain", "\n##vso[x]\n ::error::y\u{1b}[2J"],
        &["history", "##[error]"],
    ] {
        let ran = project.run(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}");
        assert_disobeyed(arguments, &ran);
    }
}

#[test]
fn what_we_say_ourselves_is_never_changed() {
    let project = Project::new("x");
    for arguments in [&["--help"][..], &["explain"], &["explain", "AU101"], &["plan"], &["graph"]] {
        let ran = project.run(arguments);
        assert!(!ran.stdout.contains("\\x"), "{ran}");
    }
    // Two places of one finding have three colons between them.
    project.folder.write("more.yaml", "segments: {vip: {criteria: {tag: b}}}\n");
    let ran = project.run(&["validate"]);
    assert!(ran.stdout.contains("\n ::: messages.yaml") || ran.stdout.contains("\n  ::: messages.yaml"), "{ran}");
    // Manifests that pass through are not for users.
    let yaml = "segments:\n  a:\n    display_name:\n      ::error::x\n";
    let ran = project.folder.run_with(&["fmt", "-"], yaml.as_bytes());
    assert!(ran.stdout.contains("\n      ::error::x\n"), "{ran}");
}

#[test]
fn plain_output_costs_nothing_more() {
    let line = "    alert      Hi there, we miss you: come back # today\n".repeat(3);
    assert!(matches!(stream::text(&line, false), std::borrow::Cow::Borrowed(_)));
}

proptest! {
    #[test]
    fn no_text_is_obeyed(text in "([ \t\u{a0}\u{3000}]|::|#|##|\\[|error|vso|\u{1b}\\[31m|\n|\r|a|\u{200b}|ש){0,12}") {
        for ascii in [false, true] {
            let written = stream::text(&text, ascii);
            prop_assert_eq!(obeyed(&written), None, "{:?}", written);
            // Escaping twice has no further effect, except for direction marks, which then are data.
            if ascii || !text.contains('ש') {
                prop_assert_eq!(stream::text(&written, ascii), &*written);
            }
        }
    }
}

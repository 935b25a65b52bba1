//! The abilities of terminals, and the settings of their users.

use unicode_width::UnicodeWidthStr;

use super::project::{Project, assert_calm};

const PLAIN: &str = "Hi there";

fn colored(project: &Project, arguments: &[&str], env: &[(&str, &str)]) -> bool {
    let ran = project.run_as(&[&["plan"], arguments].concat(), env);
    assert_eq!(ran.code, 0, "{ran}");
    ran.stdout.contains('\u{1b}')
}

#[test]
fn colours_are_shown_where_they_are_wanted() {
    let project = Project::new(PLAIN);
    assert!(!colored(&project, &[], &[]), "a pipe shows none");
    assert!(colored(&project, &["--color", "always"], &[]));
    assert!(
        colored(&project, &["--color", "always"], &[("NO_COLOR", "1"), ("TERM", "dumb")]),
        "an argument is the last word"
    );
    assert!(colored(&project, &[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&project, &["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&project, &[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!colored(&project, &[], &[("CLICOLOR", "1")]), "a pipe is still a pipe");
}

/// Runs a plan on a terminal, which `script` creates.
fn on_terminal(project: &Project, env: &[(&str, &str)]) -> Option<String> {
    let mut command = std::process::Command::new("script");
    for name in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LANG", "CI"] {
        command.env_remove(name);
    }
    let run = format!("{} plan", env!("CARGO_BIN_EXE_pushplan"));
    let output = command
        .args(["-qec", &run, "/dev/null"])
        .current_dir(project.folder.path())
        .env("TERM", "xterm")
        .envs(env.iter().copied())
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

#[test]
fn a_terminal_has_colours_unless_it_cannot_or_its_user_does_not_want_them() {
    let project = Project::new(PLAIN);
    // Not every machine has the program that creates a terminal.
    let Some(shown) = on_terminal(&project, &[]) else { return };
    assert!(shown.contains("\u{1b}["), "{shown:?}");
    for env in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
        let shown = on_terminal(&project, &[env]).expect("a terminal");
        assert!(shown.contains("Plan:") && !shown.contains('\u{1b}'), "{env:?}: {shown:?}");
    }
}

#[test]
fn where_only_ascii_can_be_shown_there_is_nothing_else() {
    let project = Project::new("Grüße 日本 שלום 😀 ±…");
    let commands = [
        &["validate"][..],
        &["plan"],
        &["plan", "--color", "always"],
        &["apply", "--yes"],
        &["show", "segments/vip"],
        &["history"],
        &["history", "1"],
        &["explain", "AU101"],
        &["show", "segments/ü"],
    ];
    for arguments in commands {
        let ran = project.run_as(arguments, &[("LC_ALL", "C")]);
        assert!(ran.stdout.is_ascii() && ran.stderr.is_ascii(), "{arguments:?}: {ran}");
    }
    let ran = project.run_as(&["show", "segments/vip"], &[("LANG", "POSIX")]);
    assert!(ran.stdout.contains(r#"Gr\xFC\xDFe \u65E5\u672C"#), "{ran}");
    // A sign of pushplan has a replacement; the same sign in a text is escaped.
    let ran = project.run_as(&["show", "segments/vip"], &[("LC_CTYPE", "de_DE.ISO-8859-1")]);
    assert!(ran.stdout.contains(r"\xB1"), "{ran}");
    project.folder.write("messages.yaml", project.folder.read("messages.yaml").replace("tag: b}", "tag: c}"));
    let ran = project.run_as(&["plan"], &[("LC_ALL", "C")]);
    assert!(
        ran.stdout.lines().any(|line| line.starts_with("* segments/vip") || line.starts_with("~ segments/vip")),
        "{ran}"
    );
    for env in
        [&[][..], &[("LC_ALL", "C.UTF-8")], &[("LANG", "en_US.UTF-8")], &[("LC_ALL", ""), ("LANG", "de_DE.utf8")]]
    {
        assert!(project.run_as(&["plan"], env).stdout.contains("Grüße 日本"), "{env:?}");
    }
    // Programs read UTF-8 regardless of the terminal.
    let ran = project.run_as(&["plan", "--format", "json"], &[("LC_ALL", "C")]);
    assert!(ran.stdout.contains("Grüße"), "{ran}");
}

#[test]
fn lines_fit_every_width_whatever_the_script() {
    let texts = [
        "Grüße 日本語日本語日本語日本語日本語日本語 end",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦👩\u{200d}👩\u{200d}👧\u{200d}👦👩\u{200d}👩\u{200d}👧\u{200d}👦 🇩🇪🇫🇷 ❤\u{fe0f}",
        "שלום לכולם, מבצע היום 20% עליכם",
    ];
    for text in texts {
        let project = Project::new(text);
        for width in [20, 21, 25, 33, 40, 80, 200] {
            for locale in ["C.UTF-8", "C"] {
                let env = [("COLUMNS", width.to_string()), ("LC_ALL", locale.to_owned())];
                let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let ran = project.run_as(&["plan"], &env);
                assert_eq!(ran.code, 0, "{ran}");
                assert_calm(&["plan"], &ran);
                for line in ran.stdout.lines() {
                    // Texts that are meant to be copied are never broken.
                    let copied = line.contains("pushplan ");
                    assert!(copied || line.width() <= width, "{width} columns, {}: {line}", line.width());
                }
            }
        }
    }
}

#[test]
fn joined_emoji_are_never_taken_apart() {
    let family = "👩\u{200d}👩\u{200d}👧\u{200d}👦";
    let project = Project::new(&family.repeat(12));
    for width in ["20", "27", "40", "63"] {
        let ran = project.run_as(&["plan"], &[("COLUMNS", width)]);
        let alert = ran.stdout.replace(family, "");
        assert!(!alert.contains('👩') && !alert.contains("\\u200D"), "{ran}");
    }
}

#[test]
fn right_to_left_text_leaves_labels_and_columns_where_they_are() {
    let project = Project::new("שלום עולם");
    let ran = project.run(&["plan"]);
    assert_calm(&["plan"], &ran);
    for line in ran.stdout.lines().filter(|line| line.contains('ש')) {
        assert!(line.contains("\u{2068}") && line.contains("\u{2069}"), "{line:?}");
        let label = line.split('\u{2068}').next().expect("a first part");
        assert!(!label.contains(|c: char| ('\u{590}'..'\u{600}').contains(&c)), "{line:?}");
    }
    let plain = Project::new("plain").run(&["plan"]);
    assert!(!plain.stdout.contains(['\u{2068}', '\u{2069}']), "{plain}");
}

//! Completions in real shells.

use std::net::TcpListener;
use std::process::Command;

use pushplan_testing::{Folder, root};

use super::{command, contents, program, ran};

/// A project with targets, a group, and resources. No request may be sent: a listener on the service's port checks
/// that.
fn project() -> (Folder, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("an option");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let folder = Folder::new();
    folder.write(
        "pushplan.toml",
        format!(
            "[targets.staging]\n[targets.shop-de]\nbase_url = \"{origin}\"\nledger = \"file:\"\n[targets.shop-us]\nbase_url = \"{origin}\"\nledger = \"file:\"\n\
             [groups.shops]\ntargets = [\"shop-*\"]\n"
        ),
    );
    folder.write(
        "messages.yaml",
        "segments:\n  lapsed-buyers: {criteria: {tag: a}}\n  news: {criteria: {tag: b}}\n\
         templates:\n  winback: {push: {notification: {alert: Hello}}}\n",
    );
    (folder, listener)
}

/// Command lines with an incomplete last word, and its completions.
const ASKED: [(&[&str], &[&str]); 10] = [
    (&["va"], &["validate"]),
    (&["ledger", "mo"], &["move"]),
    (&["validate", "--form"], &["--format"]),
    (&["plan", "--format", "ma"], &["markdown"]),
    (&["plan", "--target", ""], &["shop-de", "shop-us", "staging", "shops"]),
    (&["plan", "--target", "staging,shop-d"], &["staging,shop-de"]),
    (&["plan", "--target", "shop-*"], &["shop-*"]),
    (&["show", "segments/l"], &["segments/lapsed-buyers"]),
    (&["lookup", "segment", "n"], &["news"]),
    (&["explain", "AU107"], &["AU107"]),
];

/// The completions of a shell, in blocks that end with a line of dashes.
fn blocks(shell: Command) -> Vec<Vec<String>> {
    let ran = ran(shell);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    let block = |block: &str| {
        let lines = block.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let mut blocks: Vec<_> = ran.stdout.split("-----\n").map(block).collect();
    blocks.pop();
    blocks
}

fn as_expected(shell: &str, found: &[Vec<String>]) {
    assert_eq!(found.len(), ASKED.len(), "{shell}: {found:?}");
    for ((words, expected), found) in ASKED.iter().zip(found) {
        assert_eq!(found, expected, "{shell} completes {words:?}");
    }
}

/// The line that the book gives for the shell's start file.
fn set_up(shell: &str) -> String {
    let page = std::fs::read_to_string(root().join("docs/src/how-to/shell-and-editor.md")).expect("the page");
    let line = page.lines().find(|line| line.contains(&format!("pushplan completions {shell}"))).expect("a line");
    line.split("  #").next().unwrap_or_default().trim().to_owned()
}

fn quoted(word: &str) -> String {
    format!("'{word}'")
}

#[test]
fn bash_completes_from_the_project() {
    let Some(bash) = program("bash") else { return };
    let (folder, listener) = project();
    let before = contents(folder.path());
    let mut script = set_up("bash")
        + "\n\
        ask() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMP_TYPE=9; COMPREPLY=()\n\
        _pushplan_complete pushplan \"${COMP_WORDS[COMP_CWORD]}\" \"\"\n\
        printf '%s\\n' \"${COMPREPLY[@]}\"; echo -----; }\n\
        complete -p pushplan | grep -q -- '-F _pushplan_complete' || exit 1\n";
    for (words, _) in ASKED {
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        script.push_str(&format!("ask pushplan {}\n", words.join(" ")));
    }
    let mut shell = command(bash, &folder);
    shell.args(["--norc", "--noprofile", "-c", &script]);
    as_expected("bash", &blocks(shell));
    assert_eq!(contents(folder.path()), before, "nothing is written");
    assert!(listener.accept().is_err(), "no service is asked");
}

/// If `=` separates words, bash passes `--target=prod` as three words, and replaces the last one with the completion.
#[test]
fn bash_completes_what_stands_behind_an_equals_sign() {
    let Some(bash) = program("bash") else { return };
    let (folder, _listener) = project();
    // The words as bash separates them, the index of the current word, its typed part, and its completions.
    let asked: [(&[&str], usize, &str, &[&str]); 7] = [
        (&["plan", "--target", "=", "stag"], 4, "stag", &["staging"]),
        (&["plan", "--target", "="], 3, "", &["shop-de", "shop-us", "staging", "shops"]),
        (&["plan", "--target", "=", "staging,shop-d"], 4, "staging,shop-d", &["staging,shop-de"]),
        (&["plan", "--format", "=", "ht"], 4, "ht", &["html"]),
        (&["plan", "--format", "=", "html", "--target", "=", "sta"], 7, "sta", &["staging"]),
        (&["plan", "--target", "=", "staging", "--form"], 5, "--form", &["--format"]),
        // If `=` does not separate words, nothing is removed.
        (&["plan", "--target=stag"], 2, "--target=stag", &["--target=staging"]),
    ];
    let mut script = set_up("bash")
        + "\n\
        ask() { COMP_CWORD=$1; local typed=$2; shift 2; COMP_WORDS=(\"$@\"); COMP_TYPE=9; COMPREPLY=()\n\
        _pushplan_complete pushplan \"$typed\" \"\"\n\
        printf '%s\\n' \"${COMPREPLY[@]}\"; echo -----; }\n";
    for (words, at, typed, _) in asked {
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        script.push_str(&format!("ask {at} {} pushplan {}\n", quoted(typed), words.join(" ")));
    }
    let mut shell = command(bash, &folder);
    shell.args(["--norc", "--noprofile", "-c", &script]);
    let found = blocks(shell);
    assert_eq!(found.len(), asked.len(), "{found:?}");
    for ((words, .., expected), found) in asked.iter().zip(&found) {
        assert_eq!(found, expected, "{words:?}");
    }
}

#[test]
fn fish_completes_from_the_project() {
    let Some(fish) = program("fish") else { return };
    let (folder, _listener) = project();
    // The file is read automatically when a pushplan command is completed for the first time.
    folder.write(".config/fish/completions/README", "Completions go here.");
    let mut script = set_up("fish") + "\n";
    for (words, _) in ASKED {
        // The typed text, in which a star is not a pattern yet.
        script.push_str(&format!("complete -C {}; echo -----\n", quoted(&format!("pushplan {}", words.join(" ")))));
    }
    let mut shell = command(fish, &folder);
    shell.args(["-c", &script]);
    as_expected("fish", &blocks(shell));
}

#[test]
fn elvish_completes_from_the_project() {
    let Some(elvish) = program("elvish") else { return };
    let (folder, _listener) = project();
    // The editor exists only in interactive shells; the function that the script sets in it is called as the editor
    // would call it.
    let mut script = "var edit: = (ns [&completion:=(ns [&arg-completer=[&]])])\n".to_owned();
    script.push_str(&format!("{}\n", set_up("elvish")));
    for (words, _) in ASKED {
        let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        script
            .push_str(&format!("$edit:completion:arg-completer[pushplan] pushplan {}\necho -----\n", words.join(" ")));
    }
    let mut shell = command(elvish, &folder);
    shell.args(["-norc", "-c", &script]);
    as_expected("elvish", &blocks(shell));
}

/// PowerShell is not available in the packages of the other shells. So its script is only inspected, and pushplan is
/// called as the script calls it.
#[test]
fn what_powershell_would_ask_is_answered() {
    let (folder, _listener) = project();
    let mut script = command(env!("CARGO_BIN_EXE_pushplan"), &folder);
    script.args(["completions", "powershell"]);
    let script = ran(script).stdout;
    assert!(script.contains("Register-ArgumentCompleter -Native -CommandName pushplan"), "{script}");
    assert_eq!(set_up("powershell"), "pushplan completions powershell | Out-String | Invoke-Expression");
    assert!(script.contains("$env:PUSHPLAN_COMPLETE = \"powershell\"") && script.contains("& pushplan -- $args"));
    for (words, expected) in ASKED {
        let mut asked = command(env!("CARGO_BIN_EXE_pushplan"), &folder);
        asked.env("PUSHPLAN_COMPLETE", "powershell").args(["--", "pushplan"]).args(words);
        let ran = ran(asked);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
        let found: Vec<&str> = ran.stdout.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        assert_eq!(found, expected, "{words:?}");
    }
}

/// In a separate terminal, with the line editor: a word and a tab, and then the line is printed.
#[test]
fn zsh_completes_what_is_typed() {
    let Some(zsh) = program("zsh") else { return };
    let (folder, _listener) = project();
    let typed = [
        ("pushplan vali", "pushplan validate "),
        ("pushplan plan --target sta", "pushplan plan --target staging "),
        ("pushplan show segments/l", "pushplan show segments/lapsed-buyers "),
        ("pushplan plan --format mark", "pushplan plan --format markdown "),
        ("pushplan explain faul", "pushplan explain faults.toml "),
    ];
    let mut script = "zmodload zsh/zpty\nzpty inner zsh -f -i\n\
        expect() { local all part; while zpty -r inner part; do all+=$part; [[ $all == *\"$1\"* ]] && { print -r -- \"$all\"; return }; done }\n\
        zpty -w inner 'PS1= PS2= RPS1=; autoload -Uz compinit && compinit -D -u; README'\n\
        zpty -w inner 'tell() { BUFFER=\"print -r -- \\\"<${(V)BUFFER}>\\\"\"; zle accept-line }; zle -N tell; bindkey \"^X\" tell; print rea\"\"dy'\n\
        expect ready >/dev/null\n"
        .replace("README", &set_up("zsh"));
    for (words, _) in typed {
        script.push_str(&format!("zpty -w -n inner $'{words}\\t\\x18'\nexpect '>\"' >/dev/null; expect '>' \n"));
    }
    script.push_str("zpty -d inner\n");
    // A timeout, in case no completion arrives.
    let mut shell = command("timeout", &folder);
    shell.arg("60").arg(zsh).args(["-f", "-c", &script]);
    let ran = ran(shell);
    for (words, expected) in typed {
        assert!(ran.stdout.contains(&format!("<{expected}>")), "{words}: {ran}");
    }
}

#[test]
fn completing_is_silent_whatever_the_project_is_like() {
    let asks: [(&[&str], &str); 3] =
        [(&["va"], "validate"), (&["show", ""], "--project"), (&["plan", "--target", ""], "")];
    type Make = fn(&Folder);
    let odd: [(&str, Make); 5] = [
        ("no project", |_| {}),
        ("broken TOML", |folder| drop(folder.write("pushplan.toml", "[targets.local\n"))),
        ("broken YAML", |folder| {
            folder.write("pushplan.toml", "[targets.local]\n");
            folder.write("a.yaml", "segments: {a: [\n");
            folder.write("b.yaml", b"\xff\xfe\x00");
        }),
        ("a folder in place of the file", |folder| drop(folder.write("pushplan.toml/x", ""))),
        ("a link that leads nowhere", |folder| {
            folder.write("pushplan.toml", "[targets.local]\n");
            std::os::unix::fs::symlink("nowhere", folder.path().join("a.yaml")).expect("a link");
        }),
    ];
    for (what, make) in odd {
        let folder = Folder::new();
        make(&folder);
        let before = contents(folder.path());
        for (words, expected) in asks {
            let mut asked = command(env!("CARGO_BIN_EXE_pushplan"), &folder);
            asked.env("PUSHPLAN_COMPLETE", "fish").args(["--", "pushplan"]).args(words);
            let ran = ran(asked);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{what}, {words:?}: {ran}");
            assert!(ran.stdout.contains(expected), "{what}, {words:?}: {ran}");
        }
        assert_eq!(contents(folder.path()), before, "{what}: nothing is written");
    }
}

/// Bash and PowerShell insert completions into the command line unchanged.
#[test]
fn nothing_is_offered_that_a_shell_would_run_or_split() {
    let folder = Folder::new();
    let odd = [
        "$(touch made)",
        "a b",
        "`made`",
        "a;b",
        "a'b",
        "a&b",
        "~a",
        "-a",
        "a\\\\b",
        "a|b",
        "a>b",
        "a*",
        "{a,b}",
        "#a",
        "!a",
    ];
    let targets: String = odd.iter().map(|name| format!("[targets.\"{name}\"]\n[groups.\"{name}g\"]\n")).collect();
    folder.write("pushplan.toml", format!("[targets.staging]\n[targets.shop_2]\n{targets}"));
    let segments: String = odd.iter().map(|name| format!("  \"{name}\": {{criteria: {{tag: a}}}}\n")).collect();
    folder.write("files/messages.yaml", format!("segments:\n  news: {{criteria: {{tag: a}}}}\n{segments}"));
    for name in odd {
        folder.write(&format!("files/{name}.yaml"), "");
    }
    folder.write("files/größe+1.yaml", "");
    let asks: [(&[&str], &[&str]); 5] = [
        (&["plan", "--target", ""], &["shop_2", "staging"]),
        (&["plan", "--target", "$"], &[]),
        (&["show", "segments/"], &["segments/news"]),
        (&["lookup", "segment", ""], &["news"]),
        (&["plan", "--out", "files/"], &["files/-a.yaml", "files/größe+1.yaml", "files/messages.yaml"]),
    ];
    for shell in ["bash", "powershell"] {
        for (words, expected) in asks {
            let mut asked = command(env!("CARGO_BIN_EXE_pushplan"), &folder);
            let index = words.len().to_string();
            asked.env("PUSHPLAN_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
            asked.args(["--", "pushplan"]).args(words);
            let ran = ran(asked);
            let lines = ran.stdout.lines().map(|line| line.split('\t').next().unwrap_or_default());
            let mut found: Vec<&str> = lines.filter(|line| !line.starts_with("--")).collect();
            found.sort_unstable();
            assert_eq!((ran.code, found), (0, expected.to_vec()), "{shell} {words:?}");
        }
    }
    // Fish adds the quotes that a name needs.
    let mut asked = command(env!("CARGO_BIN_EXE_pushplan"), &folder);
    asked.env("PUSHPLAN_COMPLETE", "fish").args(["--", "pushplan", "plan", "--out", "files/a b"]);
    assert_eq!(ran(asked).stdout, "files/a b.yaml\n");
}

#[test]
fn another_project_is_completed_from_where_it_is_named() {
    let (folder, _listener) = project();
    let elsewhere = Folder::new();
    let mut asked = command(env!("CARGO_BIN_EXE_pushplan"), &elsewhere);
    let root = folder.path().to_str().expect("UTF-8");
    asked.env("PUSHPLAN_COMPLETE", "fish").args(["--", "pushplan", "show", "--project", root, "templates/"]);
    assert_eq!(ran(asked).stdout, "templates/winback\n");
    let mut asked = command(env!("CARGO_BIN_EXE_pushplan"), &elsewhere);
    asked.env("PUSHPLAN_COMPLETE", "tcsh").args(["--", "pushplan", ""]);
    let ran = ran(asked);
    assert_eq!(ran.code, 64, "{ran}");
    assert!(ran.stderr.contains("not one of bash, elvish, fish, powershell, zsh"), "{ran}");
}

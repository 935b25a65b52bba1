//! Protection of the machine that checks a pull request.

use std::os::unix::fs::symlink;
use std::process::Command;

use pushplan_testing::Folder;

const RIGHT: &str = "segments: {a: {criteria: {tag: x}}}\n";

fn make_pipe(folder: &Folder, name: &str) {
    assert!(Command::new("mkfifo").arg(folder.path().join(name)).status().expect("mkfifo").success());
}

#[test]
fn files_that_say_what_git_ignores_are_not_opened() {
    let folder = Folder::project(RIGHT);
    make_pipe(&folder, ".gitignore");
    make_pipe(&folder, ".ignore");
    std::fs::create_dir(folder.path().join(".git")).expect("a folder");
    let ran = folder.run(&["validate"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "No problems in 1 resource (1 file).\n"), "{}", ran.stderr);
}

#[test]
fn a_project_file_that_is_a_link_is_not_read() {
    let outside = Folder::new();
    let secret = outside.write("secret", "the secret\n");
    let folder = Folder::project(RIGHT);
    std::fs::remove_file(folder.path().join("pushplan.toml")).expect("removed");
    symlink(&secret, folder.path().join("pushplan.toml")).expect("a link");
    let ran = folder.run(&["validate"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(!ran.stdout.contains("the secret") && ran.stdout.contains("symbolic link"), "{}", ran.stdout);
}

#[test]
fn a_linked_folder_of_manifests_is_reported_and_not_read() {
    let outside = Folder::new();
    outside.write("m.yaml", "the secret\n");
    let folder = Folder::project(RIGHT);
    folder.write("pushplan.toml", "[project]\nmanifests = [\"linked\"]\n[targets.local]\n");
    symlink(outside.path(), folder.path().join("linked")).expect("a link");
    let ran = folder.run(&["validate"]);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert!(!ran.stdout.contains("the secret") && ran.stdout.contains("symbolic link"), "{}", ran.stdout);
}

#[test]
fn manifests_outside_the_project_are_not_read() {
    let folder = Folder::project(RIGHT);
    for place in ["/etc/passwd", "../other", "a/../../b"] {
        folder.write("pushplan.toml", format!("[project]\nmanifests = [\"{place}\"]\n[targets.local]\n"));
        let ran = folder.run(&["validate"]);
        assert_eq!(ran.code, 3, "{place}: {}", ran.stdout);
        assert!(ran.stdout.contains("error[RF106]") && !ran.stdout.contains("root:"), "{place}: {}", ran.stdout);
    }
}

#[test]
fn nothing_in_a_manifest_becomes_a_line_of_the_output_or_a_command_to_the_terminal() {
    let keys =
        "x-a: {\"k\\n::error::injected\": 1, \"k\\n::error::injected\": 2, \"\\e[31mred\": 1, \"\\e[31mred\": 2}\n";
    let folder = Folder::project(keys);
    let name = "m\u{1b}[31m\n::error::named.yaml";
    folder.write(name, keys);
    for arguments in [
        &["validate"][..],
        &["validate", "--format", "github"],
        &["fmt", "--check"],
        &["fmt"],
        &["validate", "no\u{1b}[31m\n::error::path"],
    ] {
        let ran = folder.run(arguments);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains('\u{1b}'), "{arguments:?}: {said:?}");
        let forged =
            said.lines().any(|line| line.starts_with("::error::injected") || line.starts_with("::error::named"));
        assert!(!forged, "{arguments:?}: {said}");
    }
}

#[test]
fn schemas_are_not_written_through_a_link() {
    let outside = Folder::new();
    let folder = Folder::project(RIGHT);
    symlink(outside.path(), folder.path().join(".pushplan")).expect("a link");
    let ran = folder.run(&["schema"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(!outside.path().join("schema.json").exists());
}

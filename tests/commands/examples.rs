//! Every folder of `examples/` is a project that works with the built-in service.

use std::fs;
use std::path::{Path, PathBuf};

use pushplan::manifest::Project;
use pushplan_testing::{Folder, copy_but, says};

/// The example projects: a new folder is one.
fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = fs::read_dir(folder).expect("the examples").map(|entry| entry.expect("an entry").path());
    let mut projects: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    projects.sort();
    projects
}

#[test]
fn every_example_is_valid_and_can_be_applied() {
    let examples = examples();
    assert!(examples.len() >= 3, "{examples:?}");
    for example in examples {
        let name = example.file_name().expect("a name").to_string_lossy().into_owned();
        let folder = Folder::new();
        copy_but(&example, folder.path(), &[".pushplan"]);
        // Files of someone who tried the example.
        let _ = fs::remove_dir_all(folder.path().join(".pushplan"));
        let project = Project::open(folder.path());
        let is_built_in = |target: &&str| project.target(target).is_some_and(|it| it.is_built_in(target));
        let targets: Vec<&str> = project.target_names().into_iter().filter(is_built_in).collect();
        assert!(!targets.is_empty(), "{name} has no target on the built-in service");
        let all = targets.join(",");
        let good = |arguments: &[&str]| {
            let ran = folder.run(arguments);
            assert_eq!(ran.code, 0, "{name}: {arguments:?}: {ran}");
            ran
        };
        let checked = good(&["validate", "--fail-on", "warning"]);
        assert!(!checked.stdout.contains("warning"), "{name}: {checked}");
        good(&["fmt", "--check"]);
        for target in &targets {
            says(&good(&["test", "--target", target]).stdout, &["passed."]);
        }
        assert_eq!(folder.run(&["plan", "--target", &all, "--detailed-exitcode"]).code, 2, "{name} has changes");
        good(&["apply", "--target", &all, "--yes"]);
        good(&["plan", "--target", &all, "--detailed-exitcode"]);
    }
}

#[test]
fn every_example_is_named_in_the_readme() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    for example in examples() {
        let name = format!("examples/{}", example.file_name().expect("a name").to_string_lossy());
        assert!(readme.contains(&name), "the README does not name {name}");
    }
}

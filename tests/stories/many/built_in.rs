//! Targets on the built-in service: each has its own data.

use std::fs;

use pushplan_testing::{Folder, Project, says};

const MATRIX: &str = "\
[matrix]
brand = [\"shop\", \"cafe\"]
[matrix.target]
built_in = true
settle = \"1s\"
send_within = \"2s\"
";

const MANIFEST: &str = "\
segments:
  fans: {display_name: \"Fans of the ${var.brand}\", criteria: {country: US}}
";

fn project() -> Project {
    let project = Project { folder: Folder::project(MANIFEST) };
    project.folder.write("pushplan.toml", MATRIX);
    project
}

#[test]
fn a_matrix_is_applied_to_the_built_in_service_target_by_target() {
    let project = project();
    let planned = project.good(&["plan", "--all-targets"]);
    says(&planned.stdout, &["cafe ", "shop ", "2 targets: 2 with changes."]);
    let applied = project.good(&["apply", "--all-targets", "--yes"]);
    says(&applied.stdout, &["cafe", "shop"]);
    assert_eq!(project.run(&["plan", "--all-targets", "--detailed-exitcode"]).code, 0, "nothing is left");
    // Each has the values of its own variables, and none of the other.
    for (target, name, other) in [("shop", "Fans of the shop", "cafe"), ("cafe", "Fans of the cafe", "shop")] {
        let answer = project.good(&["api", "GET", "/api/segments", "--target", target]).stdout;
        assert!(answer.contains(name) && !answer.contains(other), "{target}: {answer}");
        says(&project.good(&["list", "--target", target]).stdout, &["segments/fans"]);
    }
    let kept = |name: &str| project.folder.path().join(".pushplan").join(name).is_file();
    assert!(kept("service-shop.db") && kept("service-cafe.db") && !kept("service.db"));
    // A change of one brand does not affect the other.
    project.write(&MANIFEST.replace("US", "\"${var.home:-US}\""));
    project.folder.write("pushplan.toml", format!("{MATRIX}[targets.cafe.variables]\nhome = \"CA\"\n"));
    let planned = project.good(&["plan", "--all-targets"]).stdout;
    says(&planned, &["2 targets: 1 with changes, 1 without changes."]);
}

#[test]
fn serve_runs_the_target_that_it_names() {
    let project = project();
    let ran = project.run(&["serve", "--target", "shp", "--port", "0"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["did you mean `shop`?"]);
    let service = project.serve_with(&["--target", "shop"]);
    project.good(&["apply", "--target", "shop", "--yes"]);
    assert!(service.asked().iter().any(|line| line.contains("POST /api/segments")), "{:?}", service.asked());
    drop(service);
    // The next command starts it with the same data.
    says(&project.good(&["plan", "--target", "shop"]).stdout, &["No changes."]);
    says(&project.good(&["plan", "--target", "cafe"]).stdout, &["Plan: 1 to create"]);
}

#[test]
fn two_targets_of_which_one_is_in_use_do_not_disturb_each_other() {
    let project = project();
    let _service = project.serve_with(&["--target", "shop"]);
    let doctor = project.run(&["doctor"]).stdout;
    says(&doctor, &["`pushplan serve --target shop` runs on", "built in; it has no data yet"]);
    project.good(&["apply", "--target", "cafe", "--yes"]);
    assert!(fs::metadata(project.folder.path().join(".pushplan/service-cafe.env")).is_ok());
}

#[test]
fn a_target_without_an_address_is_built_in_only_if_it_says_so() {
    let project = Project { folder: Folder::project("segments:\n  fans: {criteria: {country: US}}\n") };
    project.folder.write("pushplan.toml", "[targets.production]\n");
    let ran = project.run(&["plan"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["the target `production` has no base_url", "or `built_in = true` for the built-in service"]);
    project.folder.write("pushplan.toml", "[targets.local]\nbuilt_in = false\n");
    says(&project.run(&["plan"]).stderr, &["the target `local` has no base_url"]);
    let both = "[targets.local]\nbase_url = \"https://messaging.example\"\nledger = \"git\"\nbuilt_in = true\n";
    project.folder.write("pushplan.toml", both);
    let ran = project.run(&["validate"]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stdout, &["a target with a `base_url` is not the built-in service", "pushplan.toml:4:12"]);
}

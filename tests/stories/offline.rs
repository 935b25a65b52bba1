//! Plans without the service and without credentials: against the ledger, or against another commit.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use pushplan_testing::{Folder, Project, Ran, changes, checked, says};
use serde_json::Value;

const SEGMENTS: &str = "\
segments:
  buyers: {display_name: Buyers, criteria: {tag: buyer}}
  visitors: {display_name: Visitors, criteria: {tag: visitor}}
";

/// A remote target without credentials on this machine.
const AWAY: &str = "[targets.production]\nbase_url = \"https://messaging.example\"\nledger = \"file:\"\n";

/// The built-in service.
const LOCAL: &str = "[targets.local]\n";

fn git(folder: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git")
        .args(["-c", "user.name=ada", "-c", "user.email=ada@example.invalid", "-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git runs");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("UTF-8").trim().to_owned()
}

fn commit(folder: &Path, message: &str) {
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "-m", message]);
}

/// A project in its own repository, with one commit on `main`.
fn repository(project_file: &str, manifest: &str) -> Folder {
    let folder = Folder::project(manifest);
    folder.write("pushplan.toml", project_file);
    git(folder.path(), &["init", "--quiet", "-b", "main"]);
    commit(folder.path(), "base");
    folder
}

fn good(folder: &Folder, arguments: &[&str]) -> Ran {
    let ran = folder.run(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran}");
    ran
}

#[test]
fn a_contributor_without_credentials_sees_what_the_change_means() {
    let folder = repository(AWAY, SEGMENTS);
    folder.write("messages.yaml", SEGMENTS.replace("tag: visitor", "tag: guest"));
    assert_eq!(folder.run(&["plan"]).code, 4, "a plan of the service needs credentials");
    let before = git(folder.path(), &["status", "--porcelain"]);
    let ran = good(&folder, &["plan", "--against-git", "main"]);
    assert_eq!(changes(&ran), ["± segments/visitors"]);
    // The verdict comes first, and the basis of the comparison precedes all changes.
    let (above, _) = ran.stdout.split_once("± segments/visitors").expect("the change");
    assert!(above.starts_with("No message changes."), "{ran}");
    says(above, &["Compared with the manifests of main (", "The service was not asked"]);
    says(&ran.stdout, &["POST   /api/segments", "DELETE /api/segments/(id)", "It is for reading"]);
    assert!(!ran.stdout.contains("Next:") && !ran.stdout.contains("stand-in"), "{ran}");
    assert!(!ran.stdout.contains("Not in git"), "nobody knows what else is there: {ran}");
    assert_eq!(git(folder.path(), &["status", "--porcelain"]), before, "nothing was touched");
}

#[test]
fn every_form_is_marked() {
    let folder = repository(AWAY, SEGMENTS);
    folder.write("messages.yaml", SEGMENTS.replace("tag: visitor", "tag: guest"));
    let mark = "Compared with the manifests of main";
    let plan = ["plan", "--against-git", "main", "--format"];
    let markdown = good(&folder, &[&plan[..], &["markdown"]].concat());
    says(&markdown.stdout, &["<!-- pushplan target=production", "> [!NOTE]", mark, "It is for reading"]);
    assert!(!markdown.stdout.contains("can be applied") && !markdown.stdout.contains("Next:"), "{markdown}");
    let html = good(&folder, &[&plan[..], &["html"]].concat());
    says(&html.stdout, &[mark, "It is for reading"]);
    assert!(!html.stdout.contains("can be applied") && !html.stdout.contains("pushplan apply"), "{html}");
    let json = good(&folder, &[&plan[..], &["json"]].concat());
    let document = checked(&json, "plan.schema.json");
    let id = git(folder.path(), &["rev-parse", "main"]);
    assert_eq!(document["compared_with"]["what"], "commit");
    assert_eq!(document["compared_with"]["commit"], Value::from(id));
    assert_eq!((&document["unmanaged"], &document["changes"][0]["id"]), (&Value::Null, &Value::Null));
    // Also without changes.
    folder.write("messages.yaml", SEGMENTS);
    for form in ["text", "markdown", "html"] {
        let ran = good(&folder, &[&plan[..], &[form]].concat());
        says(&ran.stdout.replace('\n', " "), &[mark, "No changes for"]);
    }
}

#[test]
fn a_plan_that_was_not_compared_with_the_service_is_not_applied() {
    let project = Project::new(SEGMENTS);
    git(project.folder.path(), &["init", "--quiet", "-b", "main"]);
    commit(project.folder.path(), "base");
    let service = project.serve();
    project.edit("tag: visitor", "tag: guest");
    for arguments in [
        &["plan", "--offline", "--out", "saved.plan"][..],
        &["plan", "--against-git", "main", "--out", "saved.plan"],
        &["diff", "main", "--out", "saved.plan"],
    ] {
        project.good(arguments);
        let ran = project.run(&["apply", "saved.plan", "--yes"]);
        assert_eq!(ran.code, 7, "{ran}");
        says(&ran.stderr, &["it was not compared with the service", "pushplan plan --out FILE"]);
    }
    assert_eq!(service.segments(), [""; 0]);
}

#[test]
fn the_ledger_says_what_was_applied_and_nobody_is_asked() {
    let project = Project::new(SEGMENTS);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.edit("tag: visitor", "tag: guest");
    // Changes made on the service are not visible.
    let id = service.segment_id("Buyers");
    service.put(&format!("/api/segments/{id}"), &serde_json::json!({"display_name": "B", "criteria": {"tag": "b"}}));
    service.forget();
    let ran = project.good(&["plan", "--offline"]);
    assert_eq!(changes(&ran), ["~ segments/visitors"]);
    says(
        &ran.stdout,
        &["Compared with the ledger (record ", "changes made there since are not seen", "is for reading"],
    );
    assert_eq!(service.asked(), [""; 0]);
    drop(service);
    let again = project.good(&["plan", "--offline", "--detailed-exitcode", "--only", "segments/buyers"]);
    says(&again.stdout, &["No changes in the selected part"]);
    assert_eq!(project.run(&["plan", "--offline", "--detailed-exitcode"]).code, 2);
}

#[test]
fn where_no_ledger_can_be_read_the_branch_is_compared_with() {
    let folder = repository(&AWAY.replace("file:", "postgres://127.0.0.1:9/x/y"), SEGMENTS);
    folder.write("messages.yaml", SEGMENTS.replace("tag: visitor", "tag: guest"));
    let ran = folder.run(&["plan", "--offline"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["--against-git origin/main"]);
    let ran = good(&folder, &["plan", "--offline", "--against-git", "main"]);
    says(&ran.stderr, &["Comparing with main ("]);
    says(&ran.stdout, &["Compared with the manifests of main", "± segments/visitors"]);
}

#[test]
fn a_contributor_cannot_choose_which_ledger_is_believed() {
    let folder = repository(LOCAL, SEGMENTS);
    let changed = SEGMENTS.replace("tag: visitor", "tag: guest");
    folder.write("messages.yaml", &changed);
    // The checkout contains a ledger in which the change is applied, and the settings name another ledger.
    let elsewhere = Project::new(&changed);
    elsewhere.good(&["apply", "--yes"]);
    let forged = folder.path().join(".pushplan/ledger/local");
    fs::create_dir_all(&forged).expect("a folder");
    for file in fs::read_dir(elsewhere.folder.path().join(".pushplan/ledger/local")).expect("a ledger") {
        let file = file.expect("a file");
        fs::copy(file.path(), forged.join(file.file_name())).expect("a copy");
    }
    folder.write("pushplan.toml", format!("{LOCAL}ledger = \"postgres://ada@evil.example/x/y\"\n"));
    git(folder.path(), &["checkout", "--quiet", "-b", "change"]);
    git(folder.path(), &["add", "--all", "--force"]);
    git(folder.path(), &["commit", "--quiet", "-m", "change"]);
    let ran = good(&folder, &["plan", "--offline", "--against-git", "main"]);
    says(&ran.stderr, &["git tracks .pushplan/ledger/local/00000001.json"]);
    assert!(!ran.stderr.contains("evil.example"), "{ran}");
    assert_eq!(changes(&ran), ["~ segments/visitors"]);
}

#[test]
fn any_two_commits_are_compared() {
    let folder = repository(AWAY, SEGMENTS);
    git(folder.path(), &["checkout", "--quiet", "-b", "change"]);
    folder.write("more.yaml", "segments:\n  staff: {display_name: Staff, criteria: {tag: staff}}\n");
    commit(folder.path(), "change");
    git(folder.path(), &["checkout", "--quiet", "main"]);
    folder.write("messages.yaml", SEGMENTS.replace("buyer", "shopper"));
    commit(folder.path(), "main goes on");
    let diff = |range: &str| changes(&good(&folder, &["diff", range]));
    assert_eq!(diff("main~1..main"), ["- segments/buyers", "+ segments/shoppers"]);
    assert_eq!(diff("main..change"), ["- segments/shoppers", "+ segments/buyers", "+ segments/staff"]);
    assert_eq!(diff("main...change"), ["+ segments/staff"]);
    assert_eq!(diff("change.."), ["- segments/buyers", "- segments/staff", "+ segments/shoppers"]);
    assert_eq!(diff("main"), [""; 0]);
    folder.write("messages.yaml", "segments:\n  shoppers: {display_name: Shoppers, criteria: {tag: other}}\n");
    assert_eq!(diff("main").len(), 2, "the files as they are");
    let ran = good(&folder, &["diff", "main...change"]);
    says(&ran.stdout.replace('\n', " "), &["The manifests of change (", "merge base of main and change ("]);
    assert_eq!(folder.run(&["diff", "main~1..main", "--detailed-exitcode"]).code, 2);
}

#[test]
fn bodies_variables_and_overlays_are_those_of_the_commit() {
    let folder = Folder::new();
    let settings = |word: &str| format!("{AWAY}variables = {{word = \"{word}\"}}\n[project]\nmanifests = [\"push\"]\n");
    folder.write("mail/pushplan.toml", settings("Hello"));
    folder.write("mail/bodies/page.html", "<p>${var.word}, old</p>");
    let manifest = "\
templates:
  page:
    name: Page
    push: {notification: {alert: \"${var.word}\"}, message: {title: T, body: {file: bodies/page.html}, content_type: text/html}}
overlays:
  production:
    templates:
      page: {name: Page of production}
";
    folder.write("mail/push/page.yaml", manifest);
    folder.write("mail/not-read.yaml", "this is: no manifest\n");
    git(folder.path(), &["init", "--quiet", "-b", "main"]);
    commit(folder.path(), "base");
    let run = |arguments: &[&str]| {
        let ran = folder.run_in("mail", arguments, b"");
        assert_eq!(ran.code, 0, "{ran}");
        ran.stdout
    };
    says(&run(&["diff", "HEAD"]), &["No changes for production (1 resource)"]);
    folder.write("mail/pushplan.toml", settings("Good day"));
    folder.write("mail/bodies/page.html", "<p>${var.word}, new</p>");
    folder.write("mail/push/page.yaml", manifest.replace("Page of production", "Page two"));
    let ran = run(&["diff", "HEAD", "--format", "json"]);
    let document: Value = serde_json::from_str(&ran).expect("JSON");
    let live = &document["changes"][0]["live"];
    assert_eq!(
        (&live["name"], &live["push"]["notification"]["alert"]),
        (&"Page of production".into(), &"Hello".into())
    );
    assert_eq!(live["push"]["message"]["body"], "<p>Hello, old</p>");
    commit(folder.path(), "change");
    let committed = run(&["diff", "HEAD~1..HEAD", "--format", "json"]);
    let committed: Value = serde_json::from_str(&committed).expect("JSON");
    assert_eq!(committed["changes"], document["changes"], "the files are as the commit has them");
}

#[test]
fn links_of_a_commit_are_not_followed() {
    let folder = repository(AWAY, SEGMENTS);
    symlink("messages.yaml", folder.path().join("linked.yaml")).expect("a link");
    commit(folder.path(), "a link");
    let ran = folder.run(&["diff", "HEAD~1..HEAD"]);
    assert_eq!(ran.code, 3, "an error of the new side: {ran}");
    says(&ran.stderr, &["linked.yaml", "symbolic link, which is not followed"]);
    fs::remove_file(folder.path().join("linked.yaml")).expect("a link");
    let ran = folder.run(&["plan", "--against-git", "HEAD"]);
    assert_eq!(ran.code, 1, "an error of the other side: {ran}");
    says(&ran.stderr, &["HEAD:linked.yaml", "the manifests of HEAD (", "not part of your change"]);
}

#[test]
fn errors_of_the_base_are_told_as_such() {
    let folder = repository(AWAY, "segments:\n  buyers: {criterion: {tag: buyer}}\n");
    folder.write("messages.yaml", SEGMENTS);
    let ran = folder.run(&["plan", "--against-git", "main"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["main:messages.yaml", "the manifests of main (", "have errors", "not part of your change"]);
    let ran = folder.run(&["diff", "HEAD..HEAD"]);
    assert_eq!(ran.code, 3, "{ran}");
}

#[test]
fn a_project_or_a_target_that_is_new_has_only_new_things() {
    let folder = Folder::new();
    folder.write("README", "nothing yet");
    git(folder.path(), &["init", "--quiet", "-b", "main"]);
    commit(folder.path(), "base");
    folder.write("mail/pushplan.toml", AWAY);
    folder.write("mail/messages.yaml", SEGMENTS);
    let new = |word: &str| {
        let ran = folder.run_in("mail", &["plan", "--against-git", "main", "--target", word], b"");
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stdout.replace('\n', " "), &["This target is not in that commit, so everything is new."]);
        assert_eq!(changes(&ran).len(), 2, "{ran}");
    };
    new("production");
    commit(folder.path(), "the project");
    folder.write(
        "mail/pushplan.toml",
        format!("{AWAY}[targets.other]\nbase_url = \"https://other.example\"\nledger = \"file:\"\n"),
    );
    new("other");
}

#[test]
fn several_targets_are_compared_at_once() {
    let two = format!("{AWAY}[targets.staging]\nbase_url = \"https://staging.example\"\nledger = \"file:\"\n");
    let folder = repository(&two, SEGMENTS);
    folder.write("messages.yaml", SEGMENTS.replace("tag: visitor", "tag: guest"));
    for arguments in [&["plan", "--against-git", "main", "--all-targets"][..], &["diff", "main", "--all-targets"]] {
        let ran = good(&folder, arguments);
        assert_eq!(ran.stdout.matches("Compared with the manifests of main").count(), 1, "{ran}");
        says(&ran.stdout, &["The same change on 2 targets: production, staging", "2 targets: 2 with changes."]);
        assert!(!ran.stdout.contains("Next:"), "{ran}");
    }
    let markdown = good(&folder, &["diff", "main", "--all-targets", "--format", "markdown"]);
    says(&markdown.stdout, &["Compared with the manifests of main"]);
}

#[test]
fn a_commit_that_is_not_here_is_told_with_what_to_do() {
    let origin = repository(AWAY, SEGMENTS);
    origin.write("messages.yaml", SEGMENTS.replace("tag: visitor", "tag: guest"));
    commit(origin.path(), "second");
    git(origin.path(), &["branch", "other"]);
    let id = git(origin.path(), &["rev-parse", "HEAD~1"]);
    let clone = Folder::new();
    let url = format!("file://{}", origin.path().display());
    git(clone.path(), &["clone", "--quiet", "--depth=1", "--branch", "main", &url, "."]);
    let told = |arguments: &[&str], words: &[&str]| {
        let ran = clone.run(arguments);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, words);
    };
    let fetch = "git fetch --depth=1 origin +refs/heads/other:refs/remotes/origin/other";
    told(&["plan", "--against-git", "origin/other"], &["`origin/other` is not in this clone", fetch, "fetch-depth: 0"]);
    told(&["diff", &format!("{id}..HEAD")], &["git fetch --unshallow", "fetch-depth: 0"]);
    git(clone.path(), &["fetch", "--quiet", "--depth=1", "origin", "+refs/heads/other:refs/remotes/origin/other"]);
    says(&good(&clone, &["plan", "--against-git", "origin/other"]).stdout, &["No changes for production"]);
    let outside = Folder::project(SEGMENTS);
    let ran = outside.run(&["diff", "main"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["not in a git repository"]);
}

#[test]
fn the_name_of_a_commit_is_never_an_option() {
    let folder = repository(AWAY, SEGMENTS);
    let planted = folder.path().join("planted");
    let output = format!("--output={}", planted.display());
    for arguments in [
        &["diff", "--", &output][..],
        &["diff", "--", &format!("{output}..HEAD")],
        &["diff", "--", &format!("HEAD..{output}")],
        &["plan", &format!("--against-git={output}")],
        &["diff", "HEAD..HEAD..HEAD"],
    ] {
        let ran = folder.run(arguments);
        assert_eq!(ran.code, 64, "{arguments:?}: {ran}");
    }
    assert!(!planted.exists());
}

#[test]
fn in_ci_the_branch_of_the_pull_request_is_known() {
    let project = Project::new(SEGMENTS);
    let folder = project.folder.path();
    git(folder, &["init", "--quiet", "-b", "main"]);
    commit(folder, "base");
    git(folder, &["update-ref", "refs/remotes/origin/trunk", "main"]);
    project.edit("tag: visitor", "tag: guest");
    let plan = ["plan", "--against-git"];
    let nothing = [("GITHUB_BASE_REF", ""), ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")];
    assert_eq!(project.run_as(&plan, &nothing).code, 64);
    for name in ["GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] {
        let other = nothing.iter().copied().filter(|(other, _)| *other != name);
        let ran = project.run_as(&plan, &other.chain([(name, "trunk")]).collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{ran}");
        says(&ran.stdout, &["Compared with the manifests of origin/trunk (", "~ segments/visitors"]);
    }
    // In CI, the files do not determine the trusted ledger.
    project.folder.write("pushplan.toml", format!("{LOCAL}ledger = \"postgres://ada@evil.example/x/y\"\n"));
    let ran = project.run_as(&["plan", "--offline"], &[("GITHUB_BASE_REF", "trunk")]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["The ledger is read from the place that the commit names", "Comparing with origin/trunk"]);
    assert!(!ran.to_string().contains("evil.example"), "{ran}");
}

#[test]
fn what_has_had_its_time_is_not_sent_again_by_an_edit() {
    let push = "\
scheduled_pushes:
  sale:
    name: Sale
    schedule: {scheduled_time: 2020-11-27T09:00}
    push: {audience: {tag: buyer}, device_types: [ios], notification: {alert: Sale}}
    lifecycle: {allow: [SC101]}
";
    let folder = repository(AWAY, push);
    says(&good(&folder, &["diff", "main"]).stdout, &["No changes for production"]);
    folder.write("messages.yaml", push.replace("alert: Sale", "alert: Sale again"));
    let ran = good(&folder, &["diff", "main"]);
    says(&ran.stdout, &["· scheduled_pushes/sale", "will not be sent again"]);
}

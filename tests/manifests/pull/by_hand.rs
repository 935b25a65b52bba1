//! Stories: what a person has to edit by hand is told in the words of their files, with all places that matter.

use pushplan_testing::{Project, Service, says};
use serde_json::{Value, json};

use super::applied;

const FILE: &str = "messages.yaml";

fn edit_template(service: &Service, name: &str, change: &dyn Fn(&mut Value)) {
    let all = service.get("/api/templates");
    let all = all["templates"].as_array().expect("a list");
    let mut template = all.iter().find(|it| it["name"] == name).expect("a template").clone();
    let id = template["id"].as_str().expect("an id").to_owned();
    change(&mut template);
    let body = json!({"name": name, "push": template["push"]});
    service.post(&format!("/api/templates/{id}"), &body);
}

/// What a pull says is to be edited by hand.
fn by_hand(project: &Project) -> String {
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    ran.stderr
}

#[test]
fn a_time_is_told_as_the_file_writes_it() {
    let manifest = "\
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-02-01T09:00, time_zone: Europe/Paris}
    push: {audience: {tag: a}, device_types: [ios], notification: {alert: Hello}}
";
    let (project, service) = applied(manifest);
    let mut push = service.get("/api/schedules")["schedules"][0].clone();
    let url = push["url"].as_str().expect("a place").to_owned();
    push["schedule"] = json!({"scheduled_time": "2035-02-01T12:34:00"});
    let body = json!({"name": push["name"], "schedule": push["schedule"], "push": push["push"]});
    service.put(&url[url.find("/api/").expect("a path")..], &body);
    project.write(&manifest.replace("T09:00", "T10:00"));
    let told = by_hand(&project);
    says(
        &told,
        &[
            "git has {scheduled_time: 2035-02-01T10:00, time_zone: Europe/Paris}",
            "the service has {scheduled_time: 2035-02-01T13:34, time_zone: Europe/Paris}",
            "last applied was {scheduled_time: 2035-02-01T09:00, time_zone: Europe/Paris}",
        ],
    );
}

#[test]
fn a_condition_is_told_by_its_short_names() {
    let manifest = "segments:\n  s:\n    criteria: {country: DE}\n";
    let (project, service) = applied(manifest);
    let id = service.segment_id("s");
    let country = |code: &str| json!({"tag": code, "group": "ua_locale_country"});
    let criteria = json!({"and": [country("FR"), {"not": {"tag": "x"}}]});
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "s", "criteria": criteria}));
    project.write(&manifest.replace("DE", "IT"));
    let told = by_hand(&project);
    says(
        &told,
        &[
            "git has {country: IT}",
            "the service has {and: [{country: FR}, {not: {tag: x}}]}",
            "last applied was {country: DE}",
        ],
    );
}

fn with_body(manifest: &str, body: &str, variables: &str) -> (Project, Service) {
    let project = Project::new(manifest);
    let service = project.serve();
    let targets = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", format!("{targets}{variables}"));
    std::fs::create_dir(project.folder.path().join("bodies")).expect("a folder");
    project.folder.write("bodies/hi.html", body);
    project.good(&["apply", "--yes"]);
    (project, service)
}

#[test]
fn a_variable_in_a_body_is_told_with_its_line_and_its_value() {
    let manifest =
        "templates:\n  t: {push: {notification: {alert: Hi}, message: {title: T, body: {file: bodies/hi.html}}}}\n";
    let body = "<p>Hi</p>\n<p>${var.sale:-none}</p>\n";
    let (project, service) = with_body(manifest, body, "\n[targets.local.variables]\nsale = \"20 %\"\n");
    edit_template(&service, "t", &|template| template["push"]["message"]["body"] = json!("<p>Ho</p>\n"));
    let told = by_hand(&project);
    says(&told, &["messages.yaml:2:", "bodies/hi.html:2: `${var.sale:-none}` is filled in here"]);
    let toml = project.folder.read("pushplan.toml");
    let line = toml.lines().position(|line| line.starts_with("sale")).expect("it is set") + 1;
    says(&told, &[&format!("pushplan.toml:{line}:1: its value")]);
}

#[test]
fn a_body_that_several_use_is_told_with_the_file_and_the_others() {
    let manifest = "\
templates:
  t: {push: {notification: {alert: Hi}, message: {title: T, body: {file: bodies/hi.html}}}}
  u: {push: {notification: {alert: Hi}, message: {title: T, body: {file: ./bodies/hi.html}}}}
";
    let (project, service) = with_body(manifest, "<p>Hi</p>\n", "");
    edit_template(&service, "t", &|template| template["push"]["message"]["body"] = json!("<p>Ho</p>\n"));
    let told = by_hand(&project);
    let column = manifest.lines().nth(1).expect("a line").find("bodies/").expect("a name") + 1;
    says(&told, &[&format!("messages.yaml:2:{column}: a file that several resources use")]);
    says(&told, &[&format!("messages.yaml:3:{column}: used here as well"), "bodies/hi.html: the file"]);
}

#[test]
fn the_default_of_a_variable_is_told_with_where_it_can_be_set() {
    let manifest = "templates:\n  t: {push: {notification: {alert: \"${var.x:-hi}\"}}}\n";
    let (project, service) = applied(manifest);
    edit_template(&service, "t", &|template| template["push"]["notification"]["alert"] = json!("ho"));
    let told = by_hand(&project);
    says(&told, &["messages.yaml:2:36: the default of a variable is filled in here"]);
    says(&told, &["pushplan.toml: `x` can be set under [targets.local.variables]"]);
}

#[test]
fn an_alias_is_told_where_it_stands_and_an_anchor_with_all_who_use_it() {
    let manifest = "\
templates:
  t:
    push:
      notification: &n {alert: Hi}
  u:
    push:
      notification: *n
  v:
    push:
      notification: *n
";
    let (project, service) = applied(manifest);
    edit_template(&service, "u", &|template| template["push"]["notification"]["alert"] = json!("Ho"));
    says(
        &by_hand(&project),
        &["messages.yaml:7:21: used here; messages.yaml:4:", "messages.yaml:10:21: used here as well"],
    );
    let (project, service) = applied(manifest);
    edit_template(&service, "t", &|template| template["push"]["notification"]["alert"] = json!("Ho"));
    let told = by_hand(&project);
    says(&told, &["messages.yaml:7:21: used here as well; messages.yaml:10:21: used here as well"]);
    assert_eq!(project.folder.read(FILE), manifest);
}

#[test]
fn a_pull_says_how_many_comments_went() {
    let manifest = "\
segments:
  s:
    criteria:
      or:
        # one
        - tag: a
        # two: never remove, legal
        - tag: b  # b
        # three
        - named_user: c
";
    let (project, service) = applied(manifest);
    let id = service.segment_id("s");
    let criteria = json!({"or": [{"tag": "a"}, {"named_user": "c"}]});
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": "s", "criteria": criteria}));
    let would = project.good(&["pull", "--dry-run"]).stdout;
    says(&would, &["-        # two: never remove, legal", "in 1 place; 2 comments would go with what is removed"]);
    let did = project.good(&["pull"]).stdout;
    says(&did, &["Edited segments/s in 1 place; 2 comments went with what was removed"]);
    let gone = "        # two: never remove, legal\n        - tag: b  # b\n";
    assert_eq!(project.folder.read(FILE), manifest.replace(gone, ""));
}

#[test]
fn what_cannot_be_said_beside_the_defaults_is_told_by_field_with_their_place() {
    let manifest = "\
defaults:
  scheduled_pushes: {schedule: {time_zone: Europe/Paris}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-10-01T09:00}
    push: {audience: {tag: a}, device_types: [ios], notification: {alert: Hi}}
";
    let (project, service) = applied(manifest);
    let push = service.get("/api/schedules")["schedules"][0].clone();
    let path = push["url"].as_str().and_then(|url| url.find("/api/").map(|at| url[at..].to_owned())).expect("a path");
    // An hour that Paris has twice.
    let schedule = json!({"scheduled_time": "2035-10-28T00:30:00"});
    service.put(&path, &json!({"name": push["name"], "schedule": schedule, "push": push["push"]}));
    let told = by_hand(&project);
    says(&told, &["scheduled_pushes/p schedule.scheduled_time: the service has \"2035-10-28T0030\""]);
    says(&told, &["messages.yaml:5:16: written in a way that cannot be edited"]);
    says(&told, &["messages.yaml:2:22: the defaults of its kind"]);
}

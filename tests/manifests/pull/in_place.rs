//! Stories: someone changes in the dashboard what is in git, and a pull brings it there.

use pushplan_testing::{Project, Service, says};
use serde_json::{Value, json};

use super::{applied, in_sync};

const FILE: &str = "messages.yaml";

const MINE: &str = "\
# What people see who left us.
templates:
  winback:   # a name for people
    description: Bring them back
    push:
      notification:
        alert: 'Come back'   # short

      message:
        title: \"Welcome back\"
        body: |
          <h1>Hello</h1>
          <p>It is on us.</p>

# Who they are.
tag_groups: {lifecycle: {}}
segments:
  lapsed:
    display_name: Lapsed
    criteria: # all of it
      and:
        - {tag: lapsed, group: lifecycle}   # set by the shop
        - country: [US, CA]
";

/// Someone edits the only template in the dashboard.
fn edit_template(service: &Service, change: &dyn Fn(&mut Value)) {
    let mut template = service.get("/api/templates")["templates"][0].clone();
    let id = template["id"].as_str().expect("an id").to_owned();
    change(&mut template);
    let body = json!({"name": template["name"], "description": template["description"], "push": template["push"]});
    service.post(&format!("/api/templates/{id}"), &body);
}

fn edit_segment(service: &Service, name: &str, criteria: &Value) {
    let id = service.segment_id(name);
    service.put(&format!("/api/segments/{id}"), &json!({"display_name": name, "criteria": criteria}));
}

#[test]
fn what_was_changed_in_the_dashboard_is_edited_in_place() {
    let (project, service) = applied(MINE);
    edit_template(&service, &|template| {
        template["push"]["notification"]["alert"] = json!("It's time");
        template["push"]["message"]["body"] = json!("<h1>Hello</h1>\n<p>Last days.</p>\n");
        template["description"] = json!("");
    });
    edit_segment(
        &service,
        "Lapsed",
        &json!({"and": [
            {"tag": "lapsed", "group": "lifecycle"},
            {"or": [{"tag": "US", "group": "ua_locale_country"}, {"tag": "MX", "group": "ua_locale_country"}]},
            {"not": {"tag": "vip"}},
        ]}),
    );
    let ran = project.good(&["pull", "--dry-run"]);
    says(
        &ran.stdout,
        &[
            "-        alert: 'Come back'   # short",
            "+        alert: 'It''s time'   # short",
            "-    description: Bring them back",
            "+        - country: [US, MX]",
            "2 resources would be edited in place. Nothing was written.",
        ],
    );
    assert_eq!(project.folder.read(FILE), MINE);
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Edited segments/lapsed in 2 places", "Edited templates/winback in 3 places"]);
    let expected = MINE
        .replace("    description: Bring them back\n", "")
        .replace("'Come back'", "'It''s time'")
        .replace("It is on us.", "Last days.")
        .replace("        - country: [US, CA]\n", "        - country: [US, MX]\n        - not: {tag: vip}\n");
    assert_eq!(project.folder.read(FILE), expected);
    in_sync(&project);
    says(&project.good(&["pull"]).stdout, &["Nothing to pull"]);
}

#[test]
fn a_change_in_git_that_is_not_applied_yet_stays() {
    let (project, service) = applied(MINE);
    let mine = MINE.replace("Welcome back", "Welcome home");
    project.write(&mine);
    says(&project.good(&["pull"]).stdout, &["Nothing to pull"]);
    edit_template(&service, &|template| template["push"]["notification"]["alert"] = json!("Now"));
    project.good(&["pull"]);
    assert_eq!(project.folder.read(FILE), mine.replace("'Come back'", "'Now'"));
    let changes = project.changes(&[]);
    assert_eq!(changes, ["~ templates/winback"]);
}

#[test]
fn what_stands_elsewhere_is_told_and_left() {
    let manifest = "\
defaults:
  templates: {description: Ours}
templates:
  winback:
    push: {notification: {alert: Hi}}  # short
";
    let (project, service) = applied(manifest);
    edit_template(&service, &|template| {
        template["description"] = json!("Theirs");
        template["push"]["notification"]["alert"] = json!("Ho");
    });
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stdout, &["1 resource edited in place, 1 resource left for you to edit"]);
    says(&ran.stderr, &["Not edited: templates/winback description: the service has \"Theirs\""]);
    says(&ran.stderr, &["messages.yaml:4:3: used here; messages.yaml:2:28: the defaults of its kind"]);
    assert_eq!(project.folder.read(FILE), manifest.replace("alert: Hi", "alert: Ho"));
}

#[test]
fn a_body_in_a_file_gets_the_new_text() {
    let manifest = "templates:\n  winback: {push: {notification: {alert: Hi}, message: {title: T, body: {file: bodies/hi.html}}}}\n";
    let project = Project::new(manifest);
    let service = project.serve();
    std::fs::create_dir(project.folder.path().join("bodies")).expect("a folder");
    project.folder.write("bodies/hi.html", "<p>Hi</p>\n");
    project.good(&["apply", "--yes"]);
    edit_template(&service, &|template| template["push"]["message"]["body"] = json!("<p>Ho</p>\n"));
    says(&project.good(&["pull", "--dry-run"]).stdout, &["--- a/bodies/hi.html", "+<p>Ho</p>"]);
    project.good(&["pull"]);
    assert_eq!(project.folder.read("bodies/hi.html"), "<p>Ho</p>\n");
    assert_eq!(project.folder.read(FILE), manifest);
    in_sync(&project);
}

#[test]
fn what_has_another_key_in_git_has_one_owner_after_a_pull() {
    let (project, service) = applied(
        "scheduled_pushes:
  old:
    schedule: {scheduled_time: 2035-01-22T10:00}
    push: {audience: {tag: a}, device_types: [ios], notification: {alert: Hello}}
",
    );
    project.good(&["mv", "scheduled_pushes/old", "scheduled_pushes/new", "--in-git"]);
    let mut push = service.get("/api/schedules")["schedules"][0].clone();
    let url = push["url"].as_str().expect("a place").to_owned();
    let path = url[url.find("/api/").expect("a path")..].to_owned();
    push["push"]["notification"]["alert"] = json!("Hello again");
    service.put(&path, &json!({"name": push["name"], "schedule": push["schedule"], "push": push["push"]}));
    project.good(&["pull"]);
    in_sync(&project);
    service.forget();
    project.good(&["apply", "--yes"]);
    assert_eq!(service.writes(), [""; 0], "nothing is deleted");
    let ran = project.good(&["history"]);
    says(&ran.stdout, &["moved"]);
}

fn with_bodies(manifest: &str, body: &str) -> (Project, Service) {
    let project = Project::new(manifest);
    let service = project.serve();
    std::fs::create_dir(project.folder.path().join("bodies")).expect("a folder");
    project.folder.write("bodies/hi.html", body);
    project.good(&["apply", "--yes"]);
    (project, service)
}

#[test]
fn a_body_that_another_resource_spells_differently_stays() {
    let manifest = "\
templates:
  winback: {push: {notification: {alert: Hi}, message: {title: T, body: {file: bodies/hi.html}}}}
scheduled_pushes:
  p:
    schedule: {scheduled_time: 2035-01-01T09:00}
    push: {audience: {tag: x}, device_types: all, notification: {alert: Hi}, message: {title: T, body: {file: ./bodies/hi.html}}}
";
    let (project, service) = with_bodies(manifest, "<p>Hi</p>\n");
    edit_template(&service, &|template| template["push"]["message"]["body"] = json!("<p>Ho</p>\n"));
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stderr, &["a file that several resources use"]);
    assert_eq!(project.folder.read("bodies/hi.html"), "<p>Hi</p>\n");
}

#[test]
fn a_body_with_an_escaped_variable_is_edited() {
    let manifest = "templates:\n  winback: {push: {notification: {alert: Hi}, message: {title: T, body: {file: bodies/hi.html}}}}\n";
    let (project, service) = with_bodies(manifest, "<p>$${var.x}</p>\n");
    edit_template(&service, &|template| template["push"]["message"]["body"] = json!("<b>${var.x}</b>\n"));
    project.good(&["pull"]);
    assert_eq!(project.folder.read("bodies/hi.html"), "<b>$${var.x}</b>\n");
    in_sync(&project);
}

#[test]
fn a_body_that_changes_for_another_target_as_well_is_told() {
    let manifest = "templates:\n  winback: {push: {notification: {alert: Hi}, message: {title: T, body: {file: bodies/hi.html}}}}\n";
    let (project, service) = with_bodies(manifest, "<p>Hi</p>\n");
    let targets = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", format!("{targets}\n[targets.elsewhere]\n"));
    edit_template(&service, &|template| template["push"]["message"]["body"] = json!("<p>Ho</p>\n"));
    let ran = project.good(&["pull", "--target", "local"]);
    assert!(
        format!("{}{}", ran.stdout, ran.stderr).contains("this also changes it for the target elsewhere, which uses"),
        "{ran}"
    );
    assert_eq!(project.folder.read("bodies/hi.html"), "<p>Ho</p>\n");
}

#[test]
fn what_is_added_to_a_file_ends_its_lines_as_the_file_does() {
    let (project, service) = applied("segments:\r\n  a:\r\n    criteria: {tag: x}\r\n");
    std::fs::rename(project.folder.path().join(FILE), project.folder.path().join("segments.yaml")).expect("moved");
    service.post("/api/segments", &json!({"display_name": "Others", "criteria": {"tag": "y"}}));
    project.good(&["pull"]);
    let text = project.folder.read("segments.yaml");
    assert!(text.contains("Others"), "{text}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
}

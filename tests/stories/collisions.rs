//! Unmanaged resources with the same name.

use pushplan_testing::{Project, changes, says};

const ONE: &str = "\
segments:
  vip: {criteria: {tag: vip}}
templates:
  winback: {push: {notification: {alert: Hello}}}
";

#[test]
fn something_of_the_same_name_stops_the_plan_until_it_is_adopted_untouched() {
    let project = Project::new(ONE);
    let service = project.serve();
    let id = service.segment("vip", "vip");
    service.forget();
    let ran = project.refused(&[]);
    says(
        &ran.stdout,
        &["! segments/vip", &id, "pushplan adopt segments/vip", "1 waits for your decision (segments/vip)."],
    );
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["segments/vip: the service already has an unmanaged", &id, "pushplan adopt segments/vip"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    let ran = project.good(&["adopt", "segments/vip"]);
    assert_eq!(ran.stdout, format!("segments/vip  {id}\n1 resource adopted. Next: pushplan plan\n"));
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(project.changes(&[]), ["+ templates/winback"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segment_id("vip"), id);
}

#[test]
fn what_is_adopted_and_differs_shows_the_difference() {
    let project = Project::new(ONE);
    let service = project.serve();
    service.segment("vip", "old");
    project.good(&["adopt", "segments/vip"]);
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["~ segments/vip", "- tag old", "+ tag vip"]);
}

#[test]
fn the_rest_goes_on_without_what_collides() {
    let project = Project::new(ONE);
    let service = project.serve();
    service.segment("vip", "old");
    let ran = project.good(&["apply", "--yes", "--except", "segments/vip"]);
    assert_eq!(changes(&ran), ["+ templates/winback"]);
    assert_eq!(service.templates(), ["winback"]);
}

#[test]
fn of_two_with_the_name_one_is_chosen_by_its_id() {
    let project = Project::new(ONE);
    let service = project.serve();
    let (first, second) = (service.segment("vip", "vip"), service.segment("vip", "vip"));
    says(
        &project.refused(&[]).stdout,
        &["the service already has 2 unmanaged segments with this name", &first, &second],
    );
    let ran = project.run(&["adopt", "segments/vip"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["2 have the name of segments/vip", &first, &second, "pushplan adopt segments/vip --id ID"]);
    let ran = project.run(&["adopt", "--all-matching"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["2 have the name of segments/vip", "pushplan adopt ADDRESS --id ID"]);
    let ran = project.run(&["adopt", "segments/vip", "--id", "no-such-id"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["the service has no no-such-id that could be segments/vip"]);
    service.forget();
    project.good(&["adopt", "segments/vip", "--id", &second]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(project.changes(&["--only", "segments/*"]), Vec::<String>::new());
    // The other one is unmanaged, and stays.
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["vip", "vip"]);
}

#[test]
fn everything_with_one_namesake_is_adopted_at_once() {
    let project =
        Project::new("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n  c: {criteria: {tag: c}}\n");
    let service = project.serve();
    for (name, tag) in [("a", "a"), ("b", "b"), ("c", "c"), ("c", "c")] {
        service.segment(name, tag);
    }
    service.forget();
    let ran = project.good(&["adopt", "--all-matching"]);
    says(&ran.stdout, &["segments/a  ", "segments/b  ", "2 resources adopted."]);
    says(&ran.stderr, &["Skipped: 2 have the name of segments/c"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    assert_eq!(changes(&project.refused(&[])), ["! segments/c"]);
    let ran = project.run(&["adopt", "segments/a"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["segments/a is already managed", "pushplan forget segments/a"]);
}

#[test]
fn a_name_that_is_taken_is_not_given_to_ours_either() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let theirs = service.segment("Gold", "x");
    project.edit("vip: {criteria", "vip: {display_name: Gold, criteria");
    service.forget();
    let ran = project.refused(&[]);
    assert_eq!(changes(&ran), ["! segments/vip"]);
    says(&ran.stdout, &["a segment that is not managed has this name", &theirs, "choose another name"]);
    let ran = project.run(&["apply", "--yes"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["the service already has an unmanaged", "choose another name"]);
    assert_eq!(service.writes(), Vec::<String>::new());
    service.delete(&format!("/api/segments/{theirs}"));
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["Gold"]);
}

#[test]
fn what_somebody_deleted_and_made_anew_is_taken_over_and_not_made_twice() {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    service.delete(&format!("/api/segments/{}", service.segment_id("vip")));
    let theirs = service.segment("vip", "vip");
    let ran = project.refused(&[]);
    assert_eq!(changes(&ran), ["! segments/vip"]);
    says(&ran.stdout, &["removed on the service", "pushplan forget segments/vip", "pushplan adopt segments/vip"]);
    assert_eq!(project.run(&["apply", "--yes"]).code, 7);
    project.good(&["forget", "segments/vip"]);
    project.good(&["adopt", "segments/vip"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    assert_eq!(service.segment_id("vip"), theirs);
}

#[test]
fn one_thing_does_not_become_two_resources() {
    let project = Project::new("segments:\n  a: {criteria: {tag: a}}\n");
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    project.write("segments:\n  a: {criteria: {tag: a}}\n  b: {criteria: {tag: a}}\n");
    let ran = project.run(&["adopt", "segments/b", "--id", &service.segment_id("a")]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["is already managed, with another address"]);
}

#[test]
fn only_what_is_declared_is_adopted() {
    let project = Project::new(ONE);
    let _service = project.serve();
    let ran = project.run(&["adopt", "segments/vipp"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["segments/vipp is not declared for local", "did you mean segments/vip?"]);
    let ran = project.run(&["adopt", "segments/vip"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["no resource on the service has the name of segments/vip"]);
}

#[test]
fn an_adopted_user_of_a_segment_outside_git_says_so() {
    let project = Project::new("segments:\n  east: {criteria: {and: [{tag: x}, {tag: y}]}}\n");
    let service = project.serve();
    let outside = service.segment("outside", "o");
    service.post(
        "/api/segments",
        &serde_json::json!({"display_name": "east", "criteria": {"and": [{"segment": outside}, {"tag": "y"}]}}),
    );
    project.good(&["adopt", "segments/east"]);
    let ran = project.good(&["plan"]);
    says(&ran.stdout, &["~ segments/east", &outside]);
}

#[test]
fn one_thing_is_not_adopted_under_two_addresses() {
    let project = Project::new("segments:\n  a: {display_name: A, criteria: {tag: a}}\n  b: {criteria: {tag: b}}\n");
    let service = project.serve();
    let (both, own) = (service.segment("A", "a"), service.segment("b", "b"));
    project.edit("  b:", "  a2: {display_name: A, criteria: {tag: c}}\n  b:");
    let ran = project.run(&["adopt", "segments/a", "segments/a2"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(
        &ran.stderr,
        &[&format!("{both} has the name of segments/a and of segments/a2"), "a resource has one address"],
    );
    let ran = project.good(&["adopt", "--all-matching"]);
    assert!(ran.stdout.starts_with(&format!("segments/b  {own}\n1 resource adopted.")), "{ran}");
    says(&ran.stderr, &[&format!("Skipped: {both} has the name of segments/a and of segments/a2")]);
    let ran = project.run(&["adopt", "--all-matching"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["nothing was adopted", "or a name that others have too"]);
    // A person decides which one it is.
    project.good(&["adopt", "segments/a"]);
    assert_eq!(project.changes(&[]), ["+ segments/a2"]);
}

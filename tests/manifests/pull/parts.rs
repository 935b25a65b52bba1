//! Stories: what is applied in parts. Members, channels and carriers come, go and change on the service.

use pushplan_testing::{Project, Service, says};
use reqwest::Method;
use serde_json::{Value, json};

use super::in_sync;

const FILE: &str = "messages.yaml";

const MINE: &str = "\
# People we know.
tag_groups:
  loyalty:   # the programme
    description: Who is what
    members:
      named_users:
        ada: [gold]   # since 2019
        # He asked for it.
        bob: [silver, vip]
        eve: ['gold']
      ios_channels: {phone-1: [gold], phone-2: [silver], phone-3: [silver]}

named_users:
  ada:
    channels:
      - {channel_id: phone-2, device_type: ios}   # the new one
      - channel_id: phone-1
        device_type: ios

tags:
  news: {ios_channels: [phone-2, phone-1]} # carriers
  quiet: {}
";

fn device(service: &Service, id: &str, device_type: &str, tags: &Value) {
    let device = json!({"device_type": device_type, "opt_in": true, "tags": {"": tags}});
    let (status, answer) = service.ask(Method::PUT, &format!("/local/devices/{id}"), Some(&device));
    assert!(status < 300, "{answer}");
}

fn applied(manifest: &str) -> (Project, Service) {
    let project = Project::new(manifest);
    let service = project.serve();
    for id in ["phone-1", "phone-2", "phone-3"] {
        device(&service, id, "ios", &json!([]));
    }
    device(&service, "droid-1", "android", &json!([]));
    project.good(&["apply", "--yes"]);
    (project, service)
}

/// Someone gives a named user other tags of a group.
fn tag_user(service: &Service, user: &str, tags: &Value) {
    let body = json!({"audience": {"named_user_id": user}, "set": {"loyalty": tags}});
    service.post("/api/named_users/tags", &body);
}

fn tag_phone(service: &Service, channel: &str, tags: &Value) {
    service.post("/api/channels/tags", &json!({"audience": {"ios_channel": channel}, "set": {"loyalty": tags}}));
}

#[test]
fn members_are_edited_in_place() {
    for what in ["tag_groups", "tag_groups/loyalty", "--all"] {
        let (project, service) = applied(MINE);
        tag_user(&service, "ada", &json!(["gold", "platinum"]));
        tag_user(&service, "bob", &json!([]));
        tag_user(&service, "carl", &json!(["silver"]));
        tag_phone(&service, "phone-1", &json!([]));
        tag_phone(&service, "phone-2", &json!([]));
        let before = project.folder.read(FILE);
        says(
            &project.good(&["pull", what, "--dry-run"]).stdout,
            &["-        bob: [silver, vip]", "Would forget 3 parts"],
        );
        assert_eq!(project.folder.read(FILE), before);
        service.forget();
        let ran = project.good(&["pull", what]);
        assert_eq!(service.writes(), Vec::<String>::new(), "nothing is touched");
        says(&ran.stdout, &["Edited tag_groups/loyalty", "1 resource edited in place."]);
        says(&ran.stdout, &["Forgot 3 parts that the service no longer has: ", "tag_groups/loyalty/named_users/bob"]);
        let expected = MINE
            .replace("ada: [gold]   # since 2019\n", "ada: [gold, platinum]   # since 2019\n        carl: [silver]\n")
            .replace("        # He asked for it.\n        bob: [silver, vip]\n", "")
            .replace("{phone-1: [gold], phone-2: [silver], phone-3: [silver]}", "{phone-3: [silver]}");
        assert_eq!(project.folder.read(FILE), expected, "{what}\n{ran}");
        in_sync(&project);
        says(&project.good(&["pull", what]).stdout, &["Nothing to pull"]);
    }
}

#[test]
fn members_that_were_never_declared_come_only_when_people_are_asked_for() {
    let (project, service) = applied(MINE);
    tag_user(&service, "carl", &json!(["silver"]));
    says(&project.good(&["pull"]).stdout, &["Nothing to pull"]);
    says(&project.good(&["pull", "tag_groups/loyalty"]).stdout, &["Adopted 1 part from the service"]);
    assert_eq!(project.folder.read(FILE), MINE.replace("        eve:", "        carl: [silver]\n        eve:"));
    in_sync(&project);
}

#[test]
fn the_last_member_leaves_the_group() {
    let manifest =
        "tag_groups:\n  loyalty: # mine\n    members:\n      # all of them\n      named_users:\n        ada: [gold]\n";
    let (project, service) = applied(manifest);
    tag_user(&service, "ada", &json!([]));
    project.good(&["pull"]);
    assert_eq!(project.folder.read(FILE), "tag_groups:\n  loyalty: {} # mine\n");
    in_sync(&project);
    tag_user(&service, "bob", &json!(["gold"]));
    project.good(&["pull", "--all"]);
    says(&project.folder.read(FILE), &["loyalty:", "# mine", "named_users: {bob: [gold]}"]);
    in_sync(&project);
}

#[test]
fn channels_of_a_named_user_come_and_go() {
    let (project, service) = applied(MINE);
    let link = |verb: &str, channel: &str, device_type: &str| {
        let body = json!({"channel_id": channel, "device_type": device_type, "named_user_id": "ada"});
        service.post(&format!("/api/named_users/{verb}"), &body);
    };
    link("disassociate", "phone-1", "ios");
    let ran = project.good(&["pull"]);
    says(&ran.stdout, &["Forgot 1 part that the service no longer has: named_users/ada/phone-1"]);
    let one = MINE.replace("      - channel_id: phone-1\n        device_type: ios\n", "");
    assert_eq!(project.folder.read(FILE), one);
    in_sync(&project);
    link("associate", "droid-1", "android");
    project.good(&["pull", "named_users"]);
    let two =
        one.replace("channels:\n      -", "channels:\n      - {channel_id: droid-1, device_type: android}\n      -");
    assert_eq!(project.folder.read(FILE), two);
    in_sync(&project);
}

#[test]
fn carriers_of_a_tag_come_and_go() {
    let (project, service) = applied(MINE);
    service.post("/api/tags/news", &json!({"ios_channels": {"remove": ["phone-2"], "add": ["phone-3"]}}));
    service.post("/api/tags/quiet", &json!({"android_channels": {"add": ["droid-1"]}}));
    project.good(&["pull", "tags"]);
    let expected = MINE
        .replace("[phone-2, phone-1]", "[phone-3, phone-1]")
        .replace("quiet: {}", "quiet: {android_channels: [droid-1]}");
    assert_eq!(project.folder.read(FILE), expected);
    in_sync(&project);
}

#[test]
fn what_was_pulled_without_people_gets_them_later() {
    let project = Project::new("");
    let service = project.serve();
    device(&service, "phone-1", "ios", &json!(["news"]));
    device(&service, "phone-2", "ios", &json!(["news"]));
    tag_phone(&service, "phone-1", &json!(["gold"]));
    project.good(&["pull"]);
    assert_eq!(project.folder.read("tags.yaml"), "tags:\n  news: {}\n");
    project.folder.write("groups.yaml", "tag_groups:\n  loyalty: {description: Ours}   # kept\n");
    let ran = project.good(&["pull", "--all"]);
    says(&ran.stdout, &["2 resources edited in place"]);
    says(&project.folder.read("tags.yaml"), &["ios_channels: [phone-1, phone-2]"]);
    assert_eq!(
        project.folder.read("groups.yaml"),
        "tag_groups:\n  loyalty: {description: Ours, members: {ios_channels: {phone-1: [gold]}}}   # kept\n"
    );
    in_sync(&project);
    says(&project.good(&["pull", "--all"]).stdout, &["Nothing to pull"]);
}

#[test]
fn a_part_that_git_says_otherwise_and_never_applied_is_left() {
    let (project, service) = applied(MINE);
    let mine = MINE.replace("        eve:", "        carl: [gold]\n        dora: [gold]\n        eve:");
    project.write(&mine);
    tag_user(&service, "carl", &json!(["silver"]));
    tag_user(&service, "dora", &json!(["gold"]));
    let ran = project.run(&["pull", "tag_groups"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stderr, &["it is different in git; `pushplan adopt tag_groups/loyalty` manages it", "named_users/carl"]);
    says(&ran.stdout, &["1 resource adopted as declared"]);
    assert_eq!(project.folder.read(FILE), mine);
}

#[test]
fn what_was_removed_as_a_whole_is_told_with_the_way_out() {
    let manifest = format!("{MINE}segments:\n  lapsed: {{criteria: {{tag: lapsed}}}}\n");
    let (project, service) = applied(&manifest);
    let body = json!({"channel_id": "phone-1", "device_type": "ios", "named_user_id": "ada"});
    service.post("/api/named_users/disassociate", &body);
    let body = json!({"channel_id": "phone-2", "device_type": "ios", "named_user_id": "ada"});
    service.post("/api/named_users/disassociate", &body);
    service.delete(&format!("/api/segments/{}", service.segment_id("lapsed")));
    service.delete("/api/tags/news");
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(
        &ran.stdout,
        &["3 resources removed on the service and left for you to delete in your files. Next: pushplan plan"],
    );
    for (address, line) in [("segments/lapsed", 24), ("named_users/ada", 14), ("tags/news", 21)] {
        let said = format!("Removed on the service: {address}. Delete it in messages.yaml:{line}");
        says(&ran.stderr, &[said.as_str()]);
        let ran = project.run(&["pull", address]);
        assert_eq!(ran.code, 7, "{ran}");
        says(
            &ran.stderr,
            &["was removed on the service: there is nothing to pull", "the next apply then removes it from the ledger"],
        );
    }
    assert_eq!(project.folder.read(FILE), manifest);
    project.write(MINE);
    says(&project.good(&["apply", "--yes"]).stdout, &["segments/lapsed"]);
    assert_eq!(service.segments(), Vec::<String>::new());
}

#[test]
fn a_member_that_stands_elsewhere_is_told_and_the_others_are_edited() {
    let manifest = "\
x-vip: &vip [vip]
tag_groups:
  loyalty:
    members:
      named_users:
        ada: *vip
        bob: [silver]
        eve: *vip
";
    let (project, service) = applied(manifest);
    tag_user(&service, "ada", &json!(["gold"]));
    tag_user(&service, "bob", &json!(["gold"]));
    let ran = project.run(&["pull"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stderr, &["Not edited: tag_groups/loyalty members.named_users.ada: the service has [\"gold\"]"]);
    says(
        &ran.stderr,
        &["messages.yaml:6:14: used here; messages.yaml:1:", "an anchor, whose value stands in several places"],
    );
    assert_eq!(project.folder.read(FILE), manifest.replace("[silver]", "[gold]"));
    assert_eq!(project.changes(&[]), ["~ tag_groups/loyalty"]);
    let plan = project.good(&["plan"]).stdout;
    assert!(plan.contains("ada") && !plan.contains("bob"), "{plan}");
}

#[test]
fn a_tag_outside_the_vocabulary_is_no_error_afterwards() {
    let manifest = "\
tag_groups:
  loyalty:
    tags: [gold, silver]
    members: {named_users: {ada: [gold]}}
";
    let (project, service) = applied(manifest);
    tag_user(&service, "ada", &json!(["platinum"]));
    project.good(&["pull"]);
    let expected = manifest.replace("ada: [gold]}}", "ada: [platinum]}}\n    lifecycle: {warn: [TG101]}");
    assert_eq!(project.folder.read(FILE), expected);
    in_sync(&project);
}

#[test]
fn a_resource_that_says_nothing_is_told() {
    let manifest = "tags:\n  news:   # nothing yet\n";
    let (project, service) = applied(manifest);
    service.post("/api/tags/news", &json!({"ios_channels": {"add": ["phone-1"]}}));
    let ran = project.run(&["pull", "--all"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stdout, &["1 resource left for you to edit"]);
    says(&ran.stderr, &["Not edited: tags/news: it was changed on the service (messages.yaml:2:3: used here)"]);
    assert_eq!(project.folder.read(FILE), manifest);
}

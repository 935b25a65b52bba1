//! What is the same on several targets is told once, also where every application has its own ids.

use super::{MATRIX, World};
use pushplan_testing::says;

const APPS: &str = "cafe-de,cafe-us,shop-de,shop-us";

#[test]
fn updates_and_removals_of_several_targets_are_told_once_without_the_ids_of_each() {
    let world = World::new("", &super::APPS);
    world.settle(MATRIX, "");
    let before = "segments:\n  vip: {criteria: {tag: vip}}\n  gone: {criteria: {tag: gone}}\ntemplates:\n  t: {push: {notification: {alert: Hi}}}\n";
    world.project.write(before);
    world.good(&["apply", "--target", APPS, "--yes"]);
    world
        .project
        .write("segments:\n  vip: {criteria: {tag: vip2}}\ntemplates:\n  t: {push: {notification: {alert: Ho}}}\n");
    let told = world.good(&["plan", "--all-targets"]).stdout;
    says(
        &told,
        &[
            "The same 3 changes on 4 targets: cafe-de, cafe-us, shop-de, shop-us\n",
            "    request    PUT /api/segments/<id>\n",
            "    request    DELETE /api/segments/<id>\n",
            "    request    POST /api/templates/<id>\n",
        ],
    );
    assert_eq!(told.matches("~ segments/vip").count(), 1, "{told}");
    let page = world.good(&["plan", "--all-targets", "--format", "markdown"]).stdout;
    says(&page, &["### The same 3 changes on 4 targets: cafe-de, cafe-us, shop-de, shop-us"]);

    // What one target has by itself has its ids.
    let more = "overlays: {shop-de: {segments: {vip: {display_name: Wichtig}}}}\n";
    world.project.write(&(before.replace("vip}}", "vip2}}") + more));
    let told = world.good(&["plan", "--all-targets"]).stdout;
    says(&told, &["The same change on 3 targets: cafe-de, cafe-us, shop-us\n", "1 change on shop-de\n"]);
    let (shared, own) = told.split_once("1 change on shop-de").expect("both");
    assert!(shared.contains("PUT /api/segments/<id>\n") && !own.contains("<id>"), "{told}");
    let id = own.split("PUT /api/segments/").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("an id");
    assert!(world.good(&["plan", "--target", "shop-de"]).stdout.contains(id), "{told}");
}

//! Equal changes on several targets are shown once, even if each application has its own ids.

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

    // A change on a single target has its ids.
    let more = "overlays: {shop-de: {segments: {vip: {display_name: Wichtig}}}}\n";
    world.project.write(&(before.replace("vip}}", "vip2}}") + more));
    let told = world.good(&["plan", "--all-targets"]).stdout;
    says(&told, &["The same change on 3 targets: cafe-de, cafe-us, shop-us\n", "1 change on shop-de\n"]);
    let (shared, own) = told.split_once("1 change on shop-de").expect("both");
    assert!(shared.contains("PUT /api/segments/<id>\n") && !own.contains("<id>"), "{told}");
    let id = own.split("PUT /api/segments/").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("an id");
    assert!(world.good(&["plan", "--target", "shop-de"]).stdout.contains(id), "{told}");
}

/// Messages that differ only in the value of a variable are shown as one, with the name of the variable.
#[test]
fn messages_that_differ_by_a_variable_alone_are_told_once_with_its_values() {
    let world = World::new("", &super::APPS);
    let group = |brand: &str, discount: &str| {
        format!(
            "[groups.{brand}s]\ntargets = [\"{brand}-*\"]\n[groups.{brand}s.variables]\ndiscount = \"{discount}\"\n"
        )
    };
    world.settle(MATRIX, &(group("shop", "10 %") + &group("cafe", "15 %")));
    let push = |text: &str| {
        format!(
            "scheduled_pushes:\n  sale:\n    schedule: {{scheduled_time: 2035-04-01T10:00}}\n    push: {{audience: {{tag: vip}}, \
             device_types: [ios], notification: {{alert: \"{text}: ${{var.discount}} off\"}}}}\n"
        )
    };
    world.project.write(&push("Today"));
    world.good(&["apply", "--all-targets", "--yes"]);
    world.project.write(&push("Only today"));
    let four = "4 targets: cafe-de, cafe-us, shop-de, shop-us";
    let told = world.good(&["plan", "--all-targets"]).stdout;
    says(
        &told,
        &[
            &format!("Messages on {four}\n"),
            "  ${var.discount} is \"15 %\" on cafe-de, cafe-us; \"10 %\" on shop-de, shop-us\n",
            ": ${var.discount} off",
            &format!("The same change on {four}\n"),
        ],
    );
    assert_eq!(told.matches("TEXT").count(), 1, "{told}");
    let page = world.good(&["plan", "--all-targets", "--format", "markdown"]).stdout;
    let (table, _) = page.split_once("### The same change").expect("the table stands before the changes");
    says(
        table,
        &[&format!("On {four}:"), "&#34;15 &#37;&#34; on cafe-de, cafe-us; &#34;10 &#37;&#34; on shop-de, shop-us"],
    );
    // A target with further differences has its own text, with its value.
    let more = "overlays: {shop-de: {scheduled_pushes: {sale: {push: {notification: {alert: \"Nur heute: ${var.discount}\"}}}}}}\n";
    world.project.write(&(push("Only today") + more));
    let told = world.good(&["plan", "--all-targets"]).stdout;
    says(&told, &["Messages on 3 targets: cafe-de, cafe-us, shop-us\n", "Messages on shop-de\n", "Nur heute"]);
    let own = told.split("Messages on shop-de\n").nth(1).expect("its own");
    let rows = own.split("\n\n").next().expect("rows");
    assert!(rows.contains("10 %") && !rows.contains("${var"), "{told}");
}

/// A value with further effects, such as a cut text or another cause, keeps its target separate.
#[test]
fn what_only_one_value_brings_about_is_not_folded_away() {
    let world = World::new("", &super::APPS);
    let settle = |shop: &str, cafe: &str| {
        let group = |brand: &str, words: &str| {
            format!("[groups.{brand}s]\ntargets = [\"{brand}-*\"]\n[groups.{brand}s.variables]\nwords = \"{words}\"\n")
        };
        world.settle(MATRIX, &(group("shop", shop) + &group("cafe", cafe)));
    };
    let push = "scheduled_pushes:\n  sale:\n    schedule: {scheduled_time: 2035-04-01T10:00}\n    push: {audience: {tag: vip}, \
                device_types: [ios, android], notification: {alert: \"Today: ${var.words}\"}}\n";
    world.project.write(push);
    settle("shoes", &"many ".repeat(60));
    let told = world.good(&["plan", "--all-targets"]).stdout;
    says(&told, &["Messages on 2 targets: cafe-de, cafe-us\n", "Messages on 2 targets: shop-de, shop-us\n", "fits"]);
    settle("shoes", "shoes");
    world.good(&["apply", "--all-targets", "--yes"]);
    settle("hats", "tea");
    let told = world.good(&["plan", "--all-targets"]).stdout;
    says(&told, &["because var.words changes from \"shoes\" to \"hats\"", "because var.words changes from"]);
}

//! Promotion over a matrix: each target of one environment to the target of the other one with the same brand.

use std::fs::read_dir;

use pushplan_testing::{checked, says};

use super::{PLANS, REPORTS, World, key, secret, tag};

const PROMOTE: [&str; 5] = ["promote", "--from", "staging", "--to", "production"];

const SEGMENTS: &str =
    "segments:\n  vip: {criteria: {tag: \"vip-${var.stage}\"}}\n  own: {criteria: {tag: \"${var.brand}\"}}\n";

/// The targets, and the applications of the service that they are.
const TARGETS: [(&str, &str); 4] = [
    ("cafe-production", "cafe-us"),
    ("cafe-staging", "cafe-de"),
    ("shop-production", "shop-us"),
    ("shop-staging", "shop-de"),
];

fn with(more: &[&str]) -> Vec<&'static str> {
    PROMOTE.into_iter().chain(more.iter().map(|word| -> &'static str { String::leak((*word).to_owned()) })).collect()
}

/// A matrix of two brands with two environments, and more of its settings.
fn world_with(brands: &str, more: &str) -> World {
    let world = World::with(SEGMENTS, &[], "");
    let stages = "stage = [\"staging\", \"production\"]";
    world.settle(&format!("[matrix]\nbrand = [{brands}]\n{stages}\n{more}"), "");
    credentials(&world, "");
    world
}

fn world() -> World {
    world_with("\"shop\", \"cafe\"", "")
}

/// Writes the credentials of all targets but one.
fn credentials(world: &World, without: &str) {
    let origin = &world.service.origin;
    let section = |(target, app): &(&str, &str)| {
        format!("[\"{origin}\".{target}]\napp_key = \"{}\"\nmaster_secret = \"{}\"\n", key(app), secret(app))
    };
    let sections = TARGETS.iter().filter(|(target, _)| *target != without).map(section);
    world.project.folder.write("credentials", sections.collect::<String>());
}

#[test]
fn each_target_gets_what_the_target_of_its_brand_has() {
    let world = world();
    world.good(&["apply", "--target", "staging", "--yes"]);
    // Staging does not have this yet.
    world.project.write(&format!("{SEGMENTS}  new: {{criteria: {{tag: new}}}}\n"));
    let plan = world.good(&PROMOTE);
    says(
        &plan.stdout,
        &[
            "  cafe-production  from cafe-staging: No message changes. 2 to create, 0 unchanged\n",
            "  shop-production  from shop-staging: No message changes. 2 to create, 0 unchanged\n",
            "The same change on 2 targets: cafe-production, shop-production\n\n+ segments/vip",
            "tag vip-production",
            "1 change on cafe-production\n\n+ segments/own",
            "Not promoted to 2 targets: cafe-production, shop-production:\n  segments/new: not on the source yet\n",
            "2 targets: 2 with changes. Next: pushplan promote --from staging --to production --yes",
        ],
    );
    assert_eq!(world.segments("shop-us"), vec![], "without --yes nothing is changed");
    let told = checked(&world.good(&with(&["--format", "json"])), PLANS);
    assert_eq!(told["targets"][1]["plan"]["promoted_from"], "shop-staging");

    let ran = world.good(&with(&["--yes", "--parallel", "2"]));
    says(&ran.stdout, &["  shop-production  applied: 2 created\n"]);
    let of = |brand: &str| vec![("own".into(), tag(brand)), ("vip".into(), tag("vip-production"))];
    assert_eq!((world.segments("shop-us"), world.segments("cafe-us")), (of("shop"), of("cafe")));
    says(&world.good(&PROMOTE).stdout, &["2 targets, none with changes."]);
}

#[test]
fn groups_patterns_and_names_are_paired_too() {
    let world = world_with("\"shop\", \"cafe\"", "name = \"${brand}-${stage}\"\n");
    let project = world.project.folder.read("pushplan.toml");
    let groups = "[groups.before]\ntargets = [\"*-staging\"]\n[groups.after]\ntargets = [\"*-production\"]\n";
    world.project.folder.write("pushplan.toml", format!("{project}{groups}"));
    world.good(&["apply", "--target", "before", "--yes"]);
    for (from, to) in [
        ("before", "after"),
        ("*-staging", "*-production"),
        ("shop-staging,cafe-staging", "cafe-production,shop-production"),
    ] {
        let ran = world.good(&["promote", "--from", from, "--to", to]);
        says(&ran.stdout, &["  shop-production  from shop-staging: ", "  cafe-production  from cafe-staging: "]);
    }
    // A pair of two targets is shown as a plan of one target.
    let ran = world.good(&["promote", "--from", "before", "--to", "shop-production", "--skip-unpaired"]);
    says(&ran.stdout, &["pushplan promote --from shop-staging --to shop-production --yes"]);
    says(&ran.stderr, &["cafe-staging is left out: --to has no target with brand = cafe."]);
    // One named source is for all targets.
    let ran = world.good(&["promote", "--from", "shop-staging", "--to", "*-production"]);
    says(&ran.stdout, &["pushplan promote --from shop-staging --to '*-production' --yes"]);
    assert!(!ran.stdout.contains("from shop-staging: "), "{ran}");
}

#[test]
fn targets_without_a_counterpart_are_named() {
    let world = world_with("\"shop\", \"cafe\"", "exclude = [{brand = \"cafe\", stage = \"staging\"}]\n");
    world.good(&["apply", "--target", "staging", "--yes"]);
    for command in [PROMOTE.to_vec(), with(&["--yes"])] {
        let ran = world.run(&command);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{ran}");
        says(
            &ran.stderr,
            &["no counterpart", "cafe-production: --from has no target with brand = cafe", "--skip-unpaired"],
        );
    }
    let ran = world.good(&with(&["--skip-unpaired", "--yes"]));
    says(&ran.stderr, &["cafe-production is left out: --from has no target with brand = cafe."]);
    assert_eq!((world.segments("shop-us").len(), world.segments("cafe-us").len()), (2, 0));
}

#[test]
fn sides_that_form_no_pairs_are_refused() {
    let world = world();
    for (from, to, why) in [
        ("shop-staging,cafe-staging", "shop-staging,cafe-production", "`shop-staging` cannot be promoted to itself"),
        ("*-staging,shop-production", "cafe-production", "differ in no dimension of the matrix"),
        ("shop-sta*", "cafe-production", "differ in brand and stage"),
        ("nix", "production", "no target has the name `nix`"),
    ] {
        let ran = world.run(&["promote", "--from", from, "--to", to]);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{from}: {ran}");
        says(&ran.stderr, &[why]);
    }
    let project = world.project.folder.read("pushplan.toml");
    world.project.folder.write("pushplan.toml", project.replace("[\"staging\", ", "[\"staging\", \"test\", "));
    let ran = world.run(&["promote", "--from", "staging,test", "--to", "production"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["`cafe-staging` and `cafe-test` would be promoted to the same targets"]);
}

#[test]
fn a_pair_that_fails_does_not_hold_the_others_back_if_they_shall_continue() {
    let world = world();
    world.good(&["apply", "--target", "shop-staging", "--yes"]);
    let ran = world.run(&PROMOTE);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stdout, &["  cafe-production  failed: nothing was applied to `cafe-staging` yet"]);
    let ran = world.run(&with(&["--yes"]));
    assert_eq!(ran.code, 1, "{ran}");
    assert_eq!(world.segments("shop-us"), vec![]);
    world.good(&["apply", "--target", "cafe-staging", "--yes"]);
    credentials(&world, "cafe-production");
    let ran = world.run(&with(&["--yes", "--on-error", "continue", "--format", "json"]));
    assert_eq!(ran.code, 6, "{ran}");
    checked(&ran, REPORTS);
    assert_eq!((world.segments("shop-us").len(), world.segments("cafe-us").len()), (2, 0));
    credentials(&world, "");
    world.good(&with(&["--yes"]));
    assert_eq!(world.segments("cafe-us").len(), 2);
}

#[test]
fn saved_promotions_are_applied_together_and_continue_as_promotions() {
    let world = world();
    world.good(&["apply", "--target", "staging", "--yes"]);
    world.good(&with(&["--out", "plans"]));
    let files = read_dir(world.project.folder.path().join("plans")).expect("a folder");
    assert_eq!(files.count(), 2);
    credentials(&world, "cafe-production");
    let ran = world.run(&["apply", "plans", "--on-error", "continue"]);
    assert_eq!(ran.code, 6, "{ran}");
    says(&ran.stdout, &["promote --from cafe-staging,shop-staging --to cafe-production,shop-production --yes"]);
    credentials(&world, "");
    world.good(&["promote", "--from", "cafe-staging", "--to", "cafe-production", "--yes"]);
    assert_eq!((world.segments("shop-us").len(), world.segments("cafe-us").len()), (2, 2));
}

#[test]
fn a_value_of_the_matrix_selects_its_targets() {
    let world = world();
    says(&world.good(&["plan", "--target", "production"]).stdout, &["  cafe-production ", "  shop-production "]);
    says(&world.good(&["plan", "--target", "cafe"]).stdout, &["  cafe-production ", "  cafe-staging "]);
}

//! Output for several targets, and names that match none.

use super::{MANIFEST, World};
use pushplan_testing::says;

#[test]
fn a_matrix_that_is_wrong_is_told_and_not_that_there_are_no_targets() {
    let world = World::new("segments: {vip: {criteria: {tag: vip}}}\n", &[]);
    world.settle("[matrix]\nbrand = [\"shop\"]\nname = \"${brnd}\"\n", "");
    for command in [&["plan", "--all-targets"][..], &["reconcile", "--once", "--all-targets"]] {
        let ran = world.run(command);
        assert_eq!(ran.code, 3, "{command:?}: {ran}");
        says(&ran.stderr, &["error[RF116]"]);
        assert!(!ran.stderr.contains("has no targets"), "{ran}");
    }
}

#[test]
fn a_word_that_means_no_target_is_told_once_with_those_that_do() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    let ran = world.run(&["plan", "--target", "nix*"]);
    assert_eq!(ran.code, 64, "{ran}");
    says(&ran.stderr, &["the targets are cafe-de, cafe-us, shop-de, shop-us; the groups are germany\n"]);
    let ran = world.run(&["promote", "--from", "nix", "--to", "*-de"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{ran}");
    assert_eq!(ran.stderr.matches("nix").count(), 1, "{ran}");
}

#[test]
fn every_line_of_an_apply_names_its_target_and_a_removal_is_called_one() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    let ran = world.good(&["apply", "--target", "*-de", "--yes"]);
    for target in ["cafe-de", "shop-de"] {
        says(&ran.stderr, &[&format!("{target}: + segments/vip created (")]);
    }
    assert!(ran.stderr.lines().all(|line| line.starts_with("cafe-de: ") || line.starts_with("shop-de: ")), "{ran}");
    world.project.write("segments:\n  own: {criteria: {tag: \"${var.brand}\"}}\n");
    let ran = world.run(&["reconcile", "--once", "--target", "*-de"]);
    let told = ran.stdout + &ran.stderr;
    says(&told, &["cafe-de - segments/vip is no longer in your files"]);
}

#[test]
fn the_folder_of_several_plans_is_no_file_for_one_and_its_name_in_there_is_told() {
    let world = World::new(MANIFEST, &["cafe-de", "shop-de"]);
    world.good(&["plan", "--target", "*-de", "--out", "plans", "--format", "html", "--out", "pages"]);
    for (options, file) in [
        (&["--out", "plans"][..], "plans/cafe-de.plan"),
        (&["--format", "html", "--out", "pages"], "pages/cafe-de.html"),
    ] {
        let one = ["plan", "--target", "cafe-de"];
        let ran = world.run(&[&one[..], options].concat());
        assert_eq!(ran.code, 64, "{ran}");
        let folder = options.last().expect("a folder");
        says(
            &ran.stderr,
            &[&format!("{folder} is a folder, but a plan for one target is one file"), &format!("--out {file}")],
        );
        let with_file = [&one[..], &options[..options.len() - 1], &[file]].concat();
        world.good(&with_file);
    }
}

#[test]
fn every_text_of_something_new_is_in_the_markdown_of_several_targets() {
    let world = World::new(&crate::told::many_texts(), &super::APPS);
    let page = world.good(&["plan", "--all-targets", "--format", "markdown"]).stdout;
    let alerts = (1..=7).map(|number| format!("Text number {number}"));
    for text in alerts.chain((1..=3).map(|number| format!("Day {number}"))) {
        assert!(page.contains(&text), "{text}: {page}");
    }
}

//! Plans that are saved in a folder, also the plan of a single target.

use pushplan_testing::says;

use super::{APPS, MANIFEST, World};

#[test]
fn a_name_that_ends_with_a_slash_is_a_folder_for_a_single_target_too() {
    let world = World::new(MANIFEST, &["shop-de", "cafe-de"]);
    let folder = &world.project.folder;
    let files = || {
        let files = std::fs::read_dir(folder.path().join("plans")).expect("a folder");
        let mut names: Vec<String> =
            files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    world.good(&["plan", "--target", "shop-de", "--out", "plans/", "--format", "html", "--out", "page.html"]);
    assert_eq!(files(), ["shop-de.plan"]);
    assert!(folder.read("page.html").starts_with("<!DOCTYPE html>"));
    // The reason of a target without a plan is there in the same way.
    let ran = world.run(&["plan", "--target", "shop-us", "--out", "plans/"]);
    assert_eq!(ran.code, 4, "{ran}");
    says(&folder.read("plans/shop-us.failed"), &["not for `shop-us`"]);
    world.good(&["plan", "--target", "cafe-us", "--offline", "--out", "plans/"]);
    assert_eq!(files(), ["cafe-us.plan", "shop-de.plan", "shop-us.failed"]);
    std::fs::remove_file(folder.path().join("plans/cafe-us.plan")).expect("a file");
    // The default target has its name too.
    let settings = folder.read("pushplan.toml");
    folder.write("pushplan.toml", format!("{settings}[project]\ndefault_target = \"cafe-de\"\n"));
    world.good(&["plan", "--out", "plans/"]);
    assert_eq!(files(), ["cafe-de.plan", "shop-de.plan", "shop-us.failed"]);
    let ran = world.run(&["apply", "plans", "--on-error", "continue"]);
    assert_eq!(ran.code, 6, "{ran}");
    assert_eq!(APPS.map(|app| world.segments(app).len()), [2, 0, 2, 0]);
    world.good(&["promote", "--from", "shop-de", "--to", "cafe-de", "--out", "promoted/"]);
    assert!(folder.path().join("promoted/cafe-de.plan").exists());
    // Without the slash, it is a file.
    world.good(&["plan", "--target", "shop-de", "--out", "shop.plan"]);
    assert!(folder.path().join("shop.plan").is_file());
    let ran = world.run(&["plan", "--target", "nosuch", "--out", "plans/"]);
    assert_eq!(ran.code, 64, "{ran}");
}

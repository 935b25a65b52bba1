//! `pushplan init`: a sample that works from the first command.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pushplan::kinds::KINDS;
use pushplan_testing::Folder;

#[test]
fn the_sample_is_valid_today_and_uses_every_kind() {
    let folder = Folder::new();
    let ran = folder.run(&["init", "shop"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.ends_with("Next: cd shop && pushplan validate\n"), "{}", ran.stdout);
    let validated = folder.run_in("shop", &["validate", "--fail-on", "warning"], b"");
    assert_eq!(validated.code, 0, "{}{}", validated.stdout, validated.stderr);
    let text: String = ["messages/audience.yaml", "messages/automation.yaml", "campaigns/sale.yaml"]
        .map(|name| folder.read(&format!("shop/{name}")))
        .concat();
    let missing: Vec<&str> = KINDS
        .iter()
        .map(|kind| kind.key)
        .filter(|key| !text.contains(&format!("\n{key}:\n")) && !text.starts_with(&format!("{key}:\n")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new();
    folder.write("pushplan.toml", "# mine\n");
    let ran = folder.run(&["init"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("kept  pushplan.toml\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Next: pushplan validate\n"));
    assert_eq!(folder.read("pushplan.toml"), "# mine\n");
}

/// The example is the output of `init` on a fixed day in the far future, so its dates never pass.
#[test]
fn the_shop_example_is_what_init_writes() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["init", "shop", "--now", "2035-01-01T00:00Z"]).code, 0);
    let (fresh, kept) = (folder.path().join("shop"), Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/shop"));
    let names = names(&fresh, &fresh);
    for name in &names {
        let (fresh, kept) = (fs::read_to_string(fresh.join(name)), fs::read_to_string(kept.join(name)));
        assert_eq!(
            fresh.unwrap(),
            kept.unwrap_or_default(),
            "{name}: bless it with: rm -r examples/shop && cargo run -- init examples/shop --now 2035-01-01T00:00Z"
        );
    }
}

fn names(root: &Path, folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(names(root, &path));
        } else {
            found.insert(path.strip_prefix(root).expect("beneath it").to_string_lossy().into_owned());
        }
    }
    found
}

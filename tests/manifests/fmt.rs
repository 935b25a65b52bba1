//! `pushplan fmt`: the layout changes, and nothing else.

use proptest::prelude::*;
use pushplan::finding::Findings;
use pushplan::manifest::layout::{Kept, layout};
use pushplan::manifest::parse;
use pushplan::node::{Node, Tree};
use pushplan::source::{Source, Sources};
use pushplan_testing::Folder;

const UNTIDY: &str = "# Who we write to
segments:   # all of them

    lapsed:
        criteria: { and: [ {tag: 'buyer' , group: lifecycle},{country: [US,CA]} ] }   # no one else
        # the end of lapsed

    # Everybody
    rest: {criteria: all}
";
const TIDY: &str = "# Who we write to
segments: # all of them
  lapsed:
    criteria: {and: [{tag: \"buyer\", group: lifecycle}, {country: [US, CA]}]} # no one else
    # the end of lapsed

  # Everybody
  rest: {criteria: all}
";

#[test]
fn untidy_files_are_laid_out_and_keep_their_comments() {
    let folder = Folder::project(UNTIDY);
    folder.write("tidy.yaml", TIDY);
    let ran = folder.run(&["fmt"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "Formatted 1 of 2 files.\n", ""));
    assert_eq!(folder.read("messages.yaml"), TIDY);
    assert_eq!(folder.run(&["fmt"]).stdout, "Formatted 0 of 2 files.\n");
}

#[test]
fn check_lists_files_and_writes_nothing() {
    let folder = Folder::project(UNTIDY);
    folder.write("more/tidy.yaml", "segments: {}\n");
    let ran = folder.run(&["fmt", "--check"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, "messages.yaml\n"));
    assert_eq!(folder.read("messages.yaml"), UNTIDY);
    let ran = folder.run(&["fmt", "--check", "more"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
}

#[test]
fn a_path_that_does_not_exist_is_a_usage_failure() {
    let folder = Folder::project("");
    for arguments in [&["fmt", "nope"][..], &["fmt", "--check", "messages.yaml", "nope"]] {
        let ran = folder.run(arguments);
        let said = "error: no file or folder `nope`\n";
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (64, "", said), "{arguments:?}");
    }
}

#[test]
fn a_folder_without_manifests_is_said_to_hold_none() {
    let folder = Folder::new();
    let ran = folder.run(&["fmt", "--check", "."]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", "No manifests here.\n"));
}

#[test]
fn a_file_with_a_syntax_error_is_left_alone_and_the_others_are_not() {
    let folder = Folder::project(UNTIDY);
    let broken = "segments:\n  a: [1\n  b: 2\n";
    folder.write("broken.yaml", broken);
    let ran = folder.run(&["fmt"]);
    assert_eq!(ran.code, 3);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("broken.yaml:2:6: error[YM101] "), "{}", ran.stdout);
    assert_eq!(lines.last(), Some(&"Formatted 1 of 2 files."));
    assert_eq!(folder.read("broken.yaml"), broken);
    assert_eq!(folder.read("messages.yaml"), TIDY);
}

#[test]
fn named_files_and_folders_are_formatted_without_a_project() {
    let folder = Folder::new();
    folder.write("a.yaml", UNTIDY);
    folder.write("sub/b.yml", UNTIDY);
    folder.write("sub/notes.txt", UNTIDY);
    let ran = folder.run(&["fmt", "a.yaml", "sub"]);
    assert_eq!(ran.stdout, "Formatted 2 of 2 files.\n", "{}", ran.stderr);
    assert_eq!((folder.read("sub/b.yml").as_str(), folder.read("sub/notes.txt").as_str()), (TIDY, UNTIDY));
    assert_eq!(folder.run(&["fmt"]).code, 1, "without a project and without a path there is nothing to do");
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = Folder::new();
    let ran = folder.run_with(&["fmt", "-"], UNTIDY.as_bytes());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, TIDY));
    assert_eq!(folder.run_with(&["fmt", "-"], TIDY.as_bytes()).stdout, TIDY);
    assert_eq!(folder.run_with(&["fmt", "-", "--check"], UNTIDY.as_bytes()).code, 3);
    assert_eq!(folder.run_with(&["fmt", "-", "--check"], TIDY.as_bytes()).code, 0);
    let ran = folder.run_with(&["fmt", "-"], b"a: [1\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert!(ran.stderr.starts_with("<stdin>:1:4: error[YM101] "), "{}", ran.stderr);
    let ran = folder.run_with(&["fmt", "-"], b"a: \xff\n");
    assert!(ran.code == 3 && ran.stderr.starts_with("<stdin>:1:4: error[YM107] "), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_links_are_not_followed() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::project(UNTIDY);
    let path = folder.path().join("messages.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, folder.path().join("link.yaml")).unwrap();
    let ran = folder.run(&["fmt"]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.starts_with("link.yaml: error[YM302] cannot be read: it is a symbolic link"), "{}", ran.stdout);
    assert_eq!(folder.read("messages.yaml"), TIDY);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(folder.path().join("link.yaml").is_symlink());
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing is left beside the files: {left:?}");
}

/// A tree as text, without places: what must not change.
fn tree(node: &Node) -> String {
    match &node.tree {
        Tree::Scalar(scalar) => format!("{:?}{:?}", scalar.style, scalar.text),
        Tree::List(items) => format!("[{}]", items.iter().map(tree).collect::<Vec<_>>().join(",")),
        Tree::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|e| format!("{:?}:{}", e.key.value, tree(&e.value))).collect();
            format!("{{{}}}", entries.join(","))
        }
    }
}

fn trees(text: &str) -> Option<Vec<String>> {
    let mut sources = Sources::default();
    let id = sources.add(Source::new("m.yaml", text));
    let mut findings = Findings::default();
    let parsed = parse(id, sources.get(id), &mut findings);
    findings.is_empty().then(|| parsed.documents.iter().map(tree).collect())
}

fn laid_out(text: &str) -> Result<String, Kept> {
    let mut sources = Sources::default();
    let id = sources.add(Source::new("m.yaml", text));
    layout(id, sources.get(id))
}

/// A value that can be written in a manifest, in one of the ways to write it.
fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        "[a-z][a-z0-9 .-]{0,12}[a-z0-9]",
        "'[a-z \"#:]{0,12}'",
        "\"[a-z '#:{}]{0,12}\"",
        Just("{{NAME}}".to_owned()).prop_map(|text| format!("\"{text}\"")),
        Just("6.10".to_owned()),
        Just("true".to_owned()),
        Just("'${var.sale:-none} off'".to_owned()),
        Just("日本語 😀".to_owned()),
    ];
    scalar.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[ {} ]", items.join(" ,  "))),
            prop::collection::vec(inner, 0..4).prop_map(|items| {
                let entries: Vec<String> = items.iter().enumerate().map(|(n, item)| format!("k{n}: {item}")).collect();
                format!("{{{}}}", entries.join(",  "))
            }),
        ]
    })
}

/// Lines of a manifest: sections, resources, fields, lists, blocks, comments and blank lines.
fn manifest() -> impl Strategy<Value = String> {
    let field = (value(), 0..7_usize, 1..5_usize).prop_map(|(value, form, indent)| {
        let pad = " ".repeat(indent);
        match form {
            0 => format!("\n{pad}- {value}\n{pad}-   {value} # why\n"),
            1 => format!(" |\n{pad}first  \n\n{pad} deeper\n"),
            2 => format!(" >-\n{pad}folded\n{pad}text\n"),
            3 => format!("   {value}   # a comment\n\n\n\n"),
            4 => format!("\n{pad}# before\n{pad}inner: {value}\n{pad}# after\n"),
            5 => "\n".to_owned(),
            _ => format!(" {value}\n"),
        }
    });
    let indented = |text: &str, by: usize| -> String {
        text.split_inclusive('\n')
            .map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{}{line}", " ".repeat(by)) })
            .collect()
    };
    let resource = (prop::collection::vec(field, 1..5), 1..5_usize).prop_map(move |(fields, by)| {
        let fields = fields.iter().enumerate().map(|(n, field)| format!("field{n}:{field}"));
        indented(&fields.collect::<String>(), by)
    });
    let section = (prop::collection::vec(resource, 1..4), 1..5_usize).prop_map(move |(resources, by)| {
        let resources = resources.iter().enumerate().map(|(n, resource)| format!("r{n}:\n{resource}# next\n"));
        indented(&resources.collect::<String>(), by)
    });
    (prop::collection::vec(section, 1..3), any::<bool>()).prop_map(|(sections, crlf)| {
        let sections = sections.iter().enumerate().map(|(n, section)| format!("kind{n}:\n{section}\n"));
        let text: String = sections.collect();
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn layout_keeps_the_tree_and_comes_to_rest(text in manifest()) {
        let before = trees(&text);
        prop_assert!(before.is_some(), "the generator writes YAML:\n{text}");
        let once = laid_out(&text).map_err(|kept| TestCaseError::fail(format!("{kept:?}\n{text}")))?;
        prop_assert_eq!(&before, &trees(&once), "\n{}\n{}", text, once);
        let comments = |text: &str| text.matches("# ").count();
        prop_assert_eq!(comments(&text), comments(&once));
        prop_assert_eq!(laid_out(&once), Ok(once.clone()));
        prop_assert!(!once.contains("\n\n\n") && !once.contains('\r'));
    }

    #[test]
    fn no_text_makes_it_panic_or_change_a_value(text in "([a-c]|: |- |\\? |\\[|\\]|\\{|\\}|,|\n|\n  |\n    |#| |\"|'|\\||>|&a |\\*a|---\n|\t|é|\u{feff}|\r\n){0,40}") {
        if let Ok(once) = laid_out(&text) {
            prop_assert_eq!(trees(&text), trees(&once), "\n{}\n{}", text, once);
            prop_assert_eq!(laid_out(&once), Ok(once.clone()));
        }
    }
}

//! Manual pages.

use std::fs;

use pushplan_testing::Folder;

use super::{command, program, pushplan, ran};

#[test]
fn every_command_has_a_page_that_groff_takes_without_a_word() {
    let folder = Folder::new();
    let ran_man = pushplan(&folder, &["man", "--out", "man1"], &[]);
    assert_eq!(ran_man.code, 0, "{ran_man}");
    let mut pages: Vec<_> =
        fs::read_dir(folder.path().join("man1")).expect("pages").map(|page| page.expect("a page").path()).collect();
    pages.sort();
    let names: Vec<_> =
        pages.iter().map(|page| page.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    for name in
        ["pushplan.1", "pushplan-plan.1", "pushplan-ledger-move.1", "pushplan-ci-comment.1", "pushplan-doctor.1"]
    {
        assert!(names.iter().any(|other| other == name), "{names:?}");
    }
    assert!(ran_man.stdout.contains(&format!("Wrote {} pages to man1", pages.len())), "{ran_man}");
    for page in &pages {
        let text = fs::read_to_string(page).expect("a page");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"] {
            let heading = [format!(".SH {section}"), format!(".SH \"{section}\"")];
            assert!(heading.iter().any(|heading| text.contains(heading)), "{}: {section}\n{text}", page.display());
        }
    }
    let plan = fs::read_to_string(folder.path().join("man1/pushplan-plan.1")).expect("a page");
    assert!(plan.contains("detailed\\-exitcode") && plan.contains("EXAMPLES"), "{plan}");
    let main = pushplan(&folder, &["man"], &[]);
    assert_eq!(main.stdout, folder.read("man1/pushplan.1"));
    assert!(
        main.stdout.contains("PUSHPLAN_MASTER_SECRET") && main.stdout.contains("a guard refused the plan"),
        "{main}"
    );
    let Some(groff) = program("groff") else { return };
    let mut checked = command(groff, &folder);
    checked.args(["-man", "-ww", "-z", "-Kutf8", "-Tutf8"]).args(&pages);
    let checked = ran(checked);
    assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{checked}");
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let folder = Folder::new();
    folder.write("taken", "");
    let ran = pushplan(&folder, &["man", "--out", "taken/man1"], &[]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stderr.contains("taken/man1 cannot be written"), "{ran}");
}

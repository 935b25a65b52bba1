//! The ledger as a whole: inspected, copied to another location, restored.

use std::fs;
use std::path::PathBuf;

use pushplan_testing::{Project, says};
use serde_json::Value;

const ONE: &str = "\
segments:
  a: {criteria: {tag: a}}
";

fn applied() -> (Project, pushplan_testing::Service) {
    let project = Project::new(ONE);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    (project, service)
}

fn json(project: &Project, arguments: &[&str]) -> Value {
    serde_json::from_str(&project.good(arguments).stdout).expect("one JSON value")
}

fn is_lenient(value: &str) -> bool {
    value.starts_with("The ledger of local is in .pushplan/ledger/local/")
}

#[test]
fn a_ledger_tells_where_it_is_and_what_it_holds() {
    let project = Project::new(ONE);
    let empty = project.good(&["ledger", "status"]).stdout;
    assert!(is_lenient(&empty) && empty.contains("It has no record yet."), "{empty}");
    says(&project.good(&["ledger", "compact"]).stdout, &["Nothing to do: the ledger of local has no record yet."]);
    let service = project.serve();
    project.good(&["apply", "--yes"]);
    let told = project.good(&["ledger", "status"]).stdout;
    assert!(is_lenient(&told), "{told}");
    says(
        &told,
        &["records     4, the last on", "read from   the first", "managed     1 resource", "locked by   nobody"],
    );
    let status = json(&project, &["ledger", "status", "--format", "json"]);
    assert_eq!((&status["records"], &status["resources"], &status["run"]), (&4.into(), &1.into(), &Value::Null));
    assert_eq!(service.segments(), ["a"]);
}

#[test]
fn every_record_is_verified_and_damage_is_an_error() {
    let (project, _service) = applied();
    says(&project.good(&["ledger", "verify"]).stdout, &["is intact: 4 records from", "in an unbroken chain"]);
    let file = project.folder.path().join(".pushplan/ledger/local/00000002.json");
    fs::write(&file, "{}").expect("a record");
    let ran = project.run(&["ledger", "verify"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["record 2 is damaged", "the last intact record is 1", "00000002.json from a backup"]);
}

#[test]
fn a_compacted_ledger_is_read_from_one_record_and_forgets_nothing() {
    let (project, service) = applied();
    says(&project.good(&["ledger", "compact"]).stdout, &["Wrote record 5, a checkpoint", "not from all 4 records"]);
    assert_eq!(json(&project, &["ledger", "status", "--format", "json"])["checkpoint"], 5);
    says(&project.good(&["ledger", "compact"]).stdout, &["Nothing to do"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    says(&project.good(&["history"]).stdout, &["1 created"]);
    project.edit("tag: a", "tag: c");
    assert_eq!(project.changes(&[]), ["~ segments/a"]);
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a"]);
}

#[test]
fn damage_before_a_checkpoint_is_told_and_is_in_nobodys_way() {
    let (project, _service) = applied();
    project.good(&["ledger", "compact"]);
    fs::write(project.folder.path().join(".pushplan/ledger/local/00000002.json"), "{}").expect("a record");
    for arguments in [&["ledger", "verify"][..], &["history"]] {
        let ran = project.run(arguments);
        assert_eq!(ran.code, 1, "{ran}");
        says(&ran.stderr, &["has lost some of its history: record 2 is damaged", "restore it from a backup"]);
        says(&ran.stderr, &["record 5 is a checkpoint", "`pushplan plan` and `pushplan apply` work"]);
        assert!(!ran.stderr.contains("move record"), "{ran}");
    }
    project.edit("tag: a", "tag: c");
    project.good(&["apply", "--yes"]);
}

#[test]
fn a_ledger_moves_and_its_old_place_takes_no_record() {
    let (project, service) = applied();
    // An unmounted disk looks like a missing folder: it is not created, and it is not an empty ledger.
    let ran = project.run(&["ledger", "move", "--to", "file:shared"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["shared does not exist", "create it, or mount its file system"]);
    says(&ran.stderr, &["the ledger of `local` was not moved: "]);
    assert!(!ran.stderr.contains("of `local` cannot be read"), "{ran}");
    fs::create_dir(project.folder.path().join("shared")).expect("a folder");
    let ran = project.good(&["ledger", "move", "--to", "file:shared"]);
    says(
        &ran.stdout,
        &["4 records from .pushplan/ledger/local/ to file:shared, read back", "  ledger = \"file:shared\""],
    );
    // A user with the old setting changes nothing, and learns what to write.
    for arguments in [&["plan"][..], &["apply", "--yes"], &["forget", "segments/a"], &["ledger", "compact"]] {
        let ran = project.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}: {ran}");
        says(&ran.stderr, &["has moved to file:shared", "write `ledger = \"file:shared\"` into [targets.local]"]);
    }
    says(&project.good(&["ledger", "status"]).stdout, &["moved to    file:shared"]);
    says(&project.good(&["history"]).stderr, &[" moved the ledger to file:shared at 20"]);
    let ran = project.run(&["ledger", "move", "--to", "file:elsewhere"]);
    assert_eq!(ran.code, 1, "{ran}");
    let settings = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", format!("{settings}ledger = \"file:shared\"\n"));
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    project.edit("tag: a", "tag: c");
    project.good(&["apply", "--yes"]);
    assert_eq!(service.segments(), ["a"]);
    says(&project.good(&["ledger", "verify"]).stdout, &["shared/local", "is intact: 8 records"]);
    let ran = project.run(&["ledger", "move", "--to", "file:"]);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["it was in .pushplan/ledger/local/ before, and the records there differ"]);
}

#[test]
fn a_new_place_in_the_settings_is_no_reason_to_make_everything_again() {
    let (project, service) = applied();
    fs::create_dir(project.folder.path().join("shared")).expect("a folder");
    let settings = project.folder.read("pushplan.toml");
    project.folder.write("pushplan.toml", format!("{settings}ledger = \"file:shared\"\n"));
    for arguments in [&["plan"][..], &["apply", "--yes"], &["drift"]] {
        let ran = project.run(arguments);
        assert_eq!(ran.code, 1, "{arguments:?}: {ran}");
        says(&ran.stderr, &["which has no record, but .pushplan/ledger/local/ has 4", "created again"]);
        says(&ran.stderr, &["pushplan ledger move --from file: --to file:shared --target local"]);
    }
    assert_eq!(service.writes().len(), 1, "{:?}", service.writes());
    let ran = project.good(&["ledger", "move", "--from", "file:", "--to", "file:shared"]);
    assert!(!ran.stdout.contains("Write this in"), "{ran}");
    assert_eq!(project.changes(&[]), Vec::<String>::new());
}

#[test]
fn a_move_that_was_cut_short_leaves_no_ledger_to_go_on_with() {
    let (project, service) = applied();
    let (home, shared) = (project.folder.path().join(".pushplan/ledger/local"), project.folder.path().join("shared"));
    fs::create_dir(&shared).expect("a folder");
    let before: Vec<_> = fs::read_dir(&home).expect("it is there").map(|file| file.expect("a file").path()).collect();
    let before: Vec<_> = before.iter().map(|file| (file, fs::read(file).expect("it is read"))).collect();
    project.good(&["ledger", "move", "--to", "file:shared"]);
    // The state without the record of the move.
    fs::remove_file(home.join("00000005.json")).expect("the word of the move");
    before.iter().for_each(|(file, bytes)| fs::write(file, bytes).expect("it is written"));
    set(&project, Some("file:shared"));
    for records in [4, 2] {
        fs::remove_dir_all(project.folder.path().join(".pushplan/seen")).expect("what this machine has seen");
        if records == 2 {
            ["00000003.json", "00000004.json", "newest"].iter().for_each(|name| {
                fs::remove_file(shared.join("local").join(name)).expect("it is there");
            });
        }
        let ran = project.run(&["apply", "--yes"]);
        assert_eq!(ran.code, 1, "{ran}");
        let told = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected =
            format!("which has {records} of its records, and .pushplan/ledger/local/ has 4 and does not record a move");
        says(&told, &[&expected, "the move was interrupted", "created again", "is an old copy, move it elsewhere"]);
        if records == 2 {
            follow(&project, &told);
        }
    }
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    assert_eq!(service.writes().len(), 1, "{:?}", service.writes());
}

/// Sets the ledger of the target, or removes the setting.
fn set(project: &Project, place: Option<&str>) {
    let settings = project.folder.read("pushplan.toml");
    let mut lines: Vec<String> =
        settings.lines().filter(|line| !line.starts_with("ledger = ")).map(str::to_owned).collect();
    lines.extend(place.map(|place| format!("ledger = {place:?}")));
    project.folder.write("pushplan.toml", lines.join("\n") + "\n");
}

/// Checks that nothing is planned, sent or shown as new, and that there is help. Returns the help.
fn refused(project: &Project, expected: &[&str]) -> String {
    let mut help = String::new();
    for arguments in [&["plan"][..], &["apply", "--yes"], &["drift"], &["doctor"]] {
        let ran = project.run(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}: {ran}");
        let told = format!("{}{}", ran.stdout, ran.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        says(&told, &["which has no record", "created again"]);
        says(&told, expected);
        if arguments == ["plan"] {
            help = told;
        }
    }
    help
}

/// Runs the command in a help text, exactly as printed.
fn follow(project: &Project, help: &str) {
    let command = help.split_once("pushplan ledger move ").expect("a command").1;
    let command: Vec<&str> = command.split([';', '\n']).next().expect("its end").split(' ').collect();
    project.good(&[&["ledger", "move"], &command[..]].concat());
}

#[test]
fn a_mistyped_place_after_a_move_is_no_reason_to_make_everything_again() {
    let (project, service) = applied();
    for folder in ["team", "teem"] {
        fs::create_dir(project.folder.path().join(folder)).expect("a folder");
    }
    project.good(&["ledger", "move", "--to", "file:team"]);
    set(&project, Some("file:teem"));
    let named = ["it was last seen in file:team", "write `ledger = \"file:team\"` into [targets.local]"];
    let help = refused(&project, &named);
    // Also if this machine only remembers the record that was left.
    fs::remove_dir_all(project.folder.path().join(".pushplan/seen")).expect("what this machine has seen");
    refused(&project, &named);
    // The right location may be spelled differently.
    let folder = project.folder.path().join("team");
    set(&project, Some(&format!("file:{}", folder.display())));
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    set(&project, Some("file:teem"));
    refused(&project, &["move .pushplan/ledger/local/ and .pushplan/seen/local/place elsewhere"]);
    follow(&project, &help);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    assert_eq!(service.writes().len(), 1, "{:?}", service.writes());
}

#[test]
fn a_ledger_that_was_seen_elsewhere_is_not_begun_anew_by_mistake() {
    let project = Project::with(ONE, "ledger = \"file:two\"\n");
    let service = project.serve();
    for folder in ["two", "three", "four"] {
        fs::create_dir(project.folder.path().join(folder)).expect("a folder");
    }
    project.good(&["apply", "--yes"]);
    for (place, to) in [(Some("file:three"), "file:three"), (None, "file:")] {
        set(&project, place);
        let moving = format!("pushplan ledger move --from file:two --to {to} --target local");
        let help = refused(&project, &["write `ledger = \"file:two\"`", &moving]);
        if place.is_none() {
            follow(&project, &help);
            assert_eq!(project.changes(&[]), Vec::<String>::new());
        }
    }
    // Its records were moved on, and this machine knows the new location.
    set(&project, Some("file:four"));
    let ran = project.run(&["plan"]);
    says(&ran.stderr, &[".pushplan/ledger/local/ has 4", "--from file: --to file:four --target local"]);
    assert_eq!(service.writes().len(), 1, "{:?}", service.writes());
    // A user who wants this starts again.
    says(&ran.stderr, &["to start with an empty ledger, move .pushplan/ledger/local/ elsewhere"]);
    fs::remove_dir_all(project.folder.path().join(".pushplan/ledger/local")).expect("the ledger");
    says(&project.refused(&[]).stdout, &["segments/a"]);
}

#[test]
fn an_emptied_place_of_the_settings_is_begun_anew_on_purpose() {
    let project = Project::with(ONE, "ledger = \"file:two\"\n");
    let _service = project.serve();
    for folder in ["two", "three"] {
        fs::create_dir(project.folder.path().join(folder)).expect("a folder");
    }
    project.good(&["apply", "--yes"]);
    fs::remove_dir_all(project.folder.path().join("two/local")).expect("the ledger");
    let ran = project.run(&["plan"]);
    says(&ran.stderr, &["it ends with record 0, but record 4 existed before", "remove .pushplan/seen/local/"]);
    for note in fs::read_dir(project.folder.path().join(".pushplan/seen/local")).expect("notes") {
        let note = note.expect("a note").path();
        if note.extension().is_some_and(|end| end == "txt") {
            fs::remove_file(note).expect("removed");
        }
    }
    project.refused(&[]);
    // For another location, the note about this one is the obstacle.
    set(&project, Some("file:three"));
    let ran = project.run(&["plan"]);
    says(&ran.stderr, &["it was last seen in file:two", "move .pushplan/seen/local/place elsewhere"]);
    fs::remove_file(project.folder.path().join(".pushplan/seen/local/place")).expect("a note");
    project.refused(&[]);
}

#[test]
fn a_place_that_holds_another_ledger_is_not_written_over() {
    let (project, _service) = applied();
    let (other, _other_service) = applied();
    let there = other.folder.path().join(".pushplan/ledger");
    let place = format!("file:{}", there.display());
    let allowed = [("PUSHPLAN_LEDGER_DIR", there.to_str().expect("UTF-8"))];
    let ran = project.run_as(&["ledger", "move", "--to", &place], &allowed);
    assert_eq!(ran.code, 7, "{ran}");
    says(&ran.stderr, &["was not moved", "has another ledger", "choose an empty place"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    assert_eq!(other.changes(&[]), Vec::<String>::new());
    let empty = Project::new(ONE);
    let ran = empty.run(&["ledger", "move", "--to", "file:x"]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["has no record yet"]);
    let ran = empty.run(&["ledger", "move", "--to", "ftp://x"]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[test]
fn all_that_is_known_is_exported() {
    let (project, _service) = applied();
    let known = json(&project, &["ledger", "export"]);
    assert_eq!(known["owned"]["segments/a"]["spec"]["criteria"]["tag"], "a", "{known}");
    assert!(project.good(&["ledger", "export"]).stdout.ends_with("}\n"));
    let lines = project.good(&["ledger", "export", "--records"]).stdout;
    assert!(lines.ends_with("}\n"), "{lines}");
    let records: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert_eq!(records.iter().map(|record| &record["seq"]).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

#[test]
fn what_one_machine_could_not_write_is_brought_back_from_its_file_by_another() {
    let (project, service) = applied();
    let ledger = project.folder.path().join(".pushplan/ledger/local");
    // The record of the results is missing, for example because the disk was full. The machine stored it elsewhere.
    let outcomes = fs::read(ledger.join("00000003.json")).expect("a record");
    for gone in ["00000003.json", "00000004.json", "newest"] {
        fs::remove_file(ledger.join(gone)).expect("a file");
    }
    fs::remove_dir_all(project.folder.path().join(".pushplan/seen")).expect("what this machine has seen");
    let file: PathBuf = project.folder.path().join("kept.json");
    fs::write(&file, outcomes).expect("a file");
    let ran = project.good(&["ledger", "restore", "kept.json"]);
    says(&ran.stderr, &["are in the ledger now", "created: segments/a"]);
    assert_eq!(project.changes(&[]), Vec::<String>::new());
    let ran = project.good(&["ledger", "restore", "kept.json"]);
    says(&ran.stderr, &["were dealt with since and are dropped"]);
    assert_eq!(service.segments(), ["a"]);
    let ran = project.run(&["ledger", "restore", "messages.yaml"]);
    assert_eq!(ran.code, 64, "{ran}");
}

#[test]
fn a_place_that_is_written_wrongly_is_a_finding() {
    for (place, why) in [
        ("ftp://x/y", "`ftp://x/y` is none of"),
        ("postgres://ada:geheim@db.example/pushplan", "`postgres://ada@db.example/pushplan` contains a password"),
    ] {
        let project = Project::with(ONE, &format!("ledger = \"{place}\"\n"));
        let ran = project.run(&["validate"]);
        assert_eq!(ran.code, 3, "{ran}");
        says(&ran.stdout, &["YM206", why, "pushplan.toml:4:10"]);
        assert!(!ran.stdout.contains("expected geheim"), "{ran}");
    }
}

/// A ledger next to the manifests.
const HERE: &str = "ledger = \"file:\"\n";

/// A project whose target has a name of its own, with the service for it.
struct Named {
    project: Project,
    service: pushplan_testing::Service,
}

impl Named {
    fn new() -> Self {
        let project = Project::new(ONE);
        let service = project.serve();
        Self { project, service }
    }

    /// The settings of one target.
    fn set(&self, about: &str, target: &str, ledger: &str) {
        let origin = &self.service.origin;
        let text = format!("{about}[targets.{target}]\nbase_url = \"{origin}\"\napi = \"extended\"\n{ledger}");
        self.project.folder.write("pushplan.toml", text);
    }

    fn ends(&self, arguments: &[&str], code: i32) -> pushplan_testing::Ran {
        let folders = std::env::temp_dir().display().to_string();
        let env = [&self.service.credentials()[..], &[("PUSHPLAN_LEDGER_DIR", &folders)]].concat();
        let ran = self.project.run_as(arguments, &env);
        assert_eq!(ran.code, code, "{arguments:?}: {ran}");
        ran
    }
}

#[test]
fn a_target_of_another_name_is_no_reason_to_make_everything_again() {
    let story = Named::new();
    story.set("", "stag", HERE);
    story.ends(&["apply", "--yes"], 0);
    story.set("", "stage", HERE);
    for arguments in [&["plan"][..], &["apply", "--yes"], &["adopt", "--all-matching"]] {
        let ran = story.ends(arguments, 7);
        says(
            &ran.stderr,
            &[
                "the ledger of `stage` has no record, but .pushplan/ledger/stag/ is for the same application",
                "everything would be created again",
                "if `stage` was called `stag`, rename it back, or move .pushplan/ledger/stag/ to",
                "move .pushplan/ledger/stag/ elsewhere",
            ],
        );
    }
    let ledgers = story.project.folder.path().join(".pushplan/ledger");
    fs::rename(ledgers.join("stag"), ledgers.join("stage")).expect("the way that is told");
    says(&story.ends(&["plan"], 0).stdout, &["No changes."]);
    assert_eq!(story.service.segments(), ["a"]);
    // An empty ledger has nothing to create a second time.
    story.ends(&["destroy", "--confirm", "stage"], 0);
    story.set("", "new", HERE);
    story.ends(&["apply", "--yes"], 0);
    assert_eq!(story.service.segments(), ["a"]);
}

#[test]
fn a_target_of_another_name_is_noticed_in_git_and_in_a_shared_folder() {
    let story = Named::new();
    let git = |arguments: &[&str]| {
        let ran = std::process::Command::new("git").args(arguments).current_dir(story.project.folder.path()).output();
        assert!(ran.expect("git runs").status.success(), "{arguments:?}");
    };
    let there = tempfile::tempdir().expect("a folder");
    let (shared, server) = (there.path().join("shared"), there.path().join("server.git"));
    fs::create_dir(&shared).expect("a folder");
    let server = server.to_str().expect("UTF-8");
    git(&["init", "--quiet"]);
    git(&["init", "--quiet", "--bare", server]);
    git(&["remote", "add", "origin", server]);
    let shared = format!("ledger = \"file:{}\"\n", shared.display());
    for (place, [one, two], shown) in [
        ("ledger = \"git\"\n", ["one", "two"], "refs/pushplan/one on origin"),
        (&*shared, ["three", "four"], "/shared/three/"),
    ] {
        story.set("", one, place);
        story.ends(&["apply", "--yes"], 0);
        story.set("", two, place);
        let ran = story.ends(&["apply", "--yes"], 7);
        says(&ran.stderr, &[&format!("the ledger of `{two}` has no record, but "), shown, "the same application"]);
        story.set("", one, place);
        says(&story.ends(&["plan"], 0).stdout, &["No changes."]);
        story.ends(&["destroy", "--confirm", one], 0);
    }
    assert_eq!(story.service.segments(), Vec::<String>::new());
}

#[test]
fn another_project_in_the_same_place_has_a_ledger_of_its_own() {
    let story = Named::new();
    let shared = tempfile::tempdir().expect("a folder");
    let place = format!("ledger = \"file:{}\"\n", shared.path().display());
    story.set("[project]\nname = \"shop\"\n", "shop", &place);
    story.ends(&["apply", "--yes"], 0);
    story.project.edit("  a:", "  b:");
    story.set("[project]\nname = \"cafe\"\n", "cafe", &place);
    story.ends(&["apply", "--yes"], 0);
    assert_eq!(story.service.segments(), ["a", "b"]);
}

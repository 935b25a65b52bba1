//! The script that downloads a release, run alone, by the action and by the component.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use pushplan_testing::hosts::Kind;
use pushplan_testing::wire::say;
use pushplan_testing::{Ran, says};

use crate::releases::{Answer, COMMIT, Files, Releases, VERSION, archive, not_found, program};
use crate::runner::{Runner, Used};
use crate::team::{Env, Team};
use crate::yaml::own;

#[test]
fn a_release_is_downloaded_once_and_verified_each_time() {
    let releases = Releases::serve(|_, _| None);
    let ran = releases.download(&[]);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["pushplan 9.8.7 for x86_64-unknown-linux-musl: checksum verified, attestation not verified"]);
    assert_eq!(releases.asked(), ["SHA256SUMS".to_owned(), archive()]);
    assert_eq!(releases.folder.read("ran"), "--version\n");
    assert!(releases.root().join("release/pushplan").exists());
    // The archive is kept, its checksum is not.
    assert_eq!(releases.download(&[]).code, 0);
    assert_eq!(releases.asked(), ["SHA256SUMS"]);
    // A cache that someone changed is not used.
    let kept = releases.root().join("download").join(archive());
    fs::write(&kept, "changed").expect("a file");
    assert_eq!(releases.download(&[]).code, 0);
    assert_eq!(releases.asked(), ["SHA256SUMS".to_owned(), archive()]);
    assert_eq!(fs::read(kept).expect("a file"), releases.files[&archive()]);
    // It has to be built from the commit that the action is at.
    assert_eq!(releases.download(&[("PUSHPLAN_COMMIT", COMMIT)]).code, 0);
    let ran = releases.download(&[("PUSHPLAN_COMMIT", "fff")]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stderr, &["was not built from the commit fff. pushplan is built from source instead"]);
    assert!(!releases.root().join("release/pushplan").exists(), "of the run before");
}

#[test]
fn a_damaged_or_forged_release_is_refused_and_never_runs() {
    let cut = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    type On = fn(&str, &Files) -> Option<Answer>;
    let cases: [(&str, On, &str); 7] = [
        (
            "another archive",
            |name, files| name.ends_with(".tar.gz").then(|| say("200 OK", "", &files["COMMIT"])),
            "has the checksum",
        ),
        (
            "another checksum",
            |name, _| {
                let sums = format!("{}  {}\n", "0".repeat(64), archive());
                (name == "SHA256SUMS").then(|| say("200 OK", "", sums.as_bytes()))
            },
            "and SHA256SUMS has 0000",
        ),
        (
            "two checksums",
            |name, files| {
                let twice = [files["SHA256SUMS"].clone(), files["SHA256SUMS"].clone()].concat();
                (name == "SHA256SUMS").then(|| say("200 OK", "", &twice))
            },
            "has the checksum",
        ),
        (
            "a page to log in on",
            |name, _| (name == "SHA256SUMS").then(|| say("200 OK", "", b"<html>Sign in</html>\n")),
            "is not a list of checksums",
        ),
        (
            "an archive whose end is missing",
            |name, files| {
                let bytes = &files[&archive()];
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", bytes.len());
                name.ends_with(".tar.gz").then(|| Some([head.as_bytes(), &bytes[..bytes.len() / 2]].concat()))
            },
            "is truncated",
        ),
        (
            "a redirect loop",
            |name, _| {
                let to = format!("location: /releases/v{VERSION}/{name}\r\n");
                Some(say("302 Found", &to, b""))
            },
            "redirects without end",
        ),
        (
            "a redirect to a local file",
            |name, _| name.ends_with(".gz").then(|| say("302 Found", "location: file:///etc/hostname\r\n", b"")),
            "cannot be downloaded: curl ended with code 1",
        ),
    ];
    for (case, on, message) in cases {
        let releases = Releases::serve(on);
        let ran = releases.download(&[]);
        assert_eq!(ran.code, 1, "{case}: {ran}");
        says(&ran.stderr, &[message, "Nothing of it was run. pushplan is not built instead"]);
        releases.ran_nothing();
    }
    // An archive that was cut before its length was written down.
    let releases = Releases::serve(move |name, files| {
        name.ends_with(".tar.gz").then(|| say("200 OK", "", &cut(&files[&archive()])))
    });
    assert_eq!(releases.download(&[]).code, 1);
    releases.ran_nothing();
    // The archive of another release under this name.
    let releases = Releases::of("9.8.6", |_, _| None);
    let ran = releases.download(&[]);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["has another release than pushplan 9.8.7"]);
    assert!(!releases.root().join("release/pushplan").exists());
}

#[test]
fn a_release_that_cannot_be_had_is_built() {
    let without = |name: &'static str, status: &'static str| {
        Releases::serve(move |asked, _| asked.ends_with(name).then(|| say(status, "", b"<html>")))
    };
    for (releases, message) in [
        (without("SHA256SUMS", "404 Not Found"), "There is no release 9.8.7 at http://127.0.0.1"),
        (without("SHA256SUMS", "503 Service Unavailable"), "cannot be reached (HTTP status 503)"),
        (without(".tar.gz", "404 Not Found"), "The release 9.8.7 has no file pushplan-9.8.7"),
    ] {
        let ran = releases.download(&[]);
        assert_eq!(ran.code, 3, "{ran}");
        says(&ran.stderr, &[message, "pushplan is built from source instead"]);
        releases.ran_nothing();
    }
    let releases = Releases::serve(|_, _| None);
    for (address, message) in [
        ("", "There is no address of releases"),
        ("http://releases.example", "does not begin with https://"),
        ("http://127.0.0.1:1/releases", "cannot be reached"),
    ] {
        let ran = releases.download(&[("PUSHPLAN_RELEASES", address)]);
        assert_eq!(ran.code, 3, "{ran}");
        says(&ran.stderr, &[message]);
    }
    // A machine that no archive is for.
    program(&releases.folder, "tools/uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Plan9 || echo mips\n");
    let ran = releases.download(&[]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stderr, &["There is no release for Plan9 on mips"]);
    program(&releases.folder, "tools/uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo Darwin || echo arm64\n");
    let ran = releases.download(&[]);
    assert_eq!(ran.code, 3, "{ran}");
    says(&ran.stderr, &["The release 9.8.7 has no archive for aarch64-apple-darwin"]);
    releases.ran_nothing();
}

#[test]
fn a_slow_server_is_waited_for_and_windows_has_an_archive() {
    let releases = Releases::serve(|_, _| {
        thread::sleep(Duration::from_millis(200));
        None
    });
    program(&releases.folder, "tools/uname", "#!/bin/sh\n[ \"$1\" = -s ] && echo MINGW64_NT-10.0 || echo x86_64\n");
    let ran = releases.download(&[]);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(releases.root().join("release/pushplan.exe").exists());
}

#[test]
fn an_attestation_is_verified_where_gh_can_do_it() {
    let attested = [("PUSHPLAN_ATTESTATION", "pushplan/pushplan"), ("PUSHPLAN_COMMIT", COMMIT)];
    let releases = Releases::serve(|_, _| None).with_gh(0);
    let ran = releases.download(&attested);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["checksum verified, attestation verified"]);
    let asked = releases.folder.read("verified");
    let kept = releases.root().join("download").join(archive()).display().to_string();
    says(
        &asked,
        &[
            &format!("attestation verify {kept} "),
            "--signer-workflow pushplan/pushplan/.github/workflows/release.yml",
            "--repo pushplan/pushplan --source-ref refs/tags/v9.8.7",
            &format!("--source-digest {COMMIT}"),
        ],
    );
    // From a cache too.
    assert_eq!(releases.download(&attested).code, 0);
    assert_eq!(releases.folder.read("verified").lines().count(), 2);
    let releases = Releases::serve(|_, _| None).with_gh(1);
    let ran = releases.download(&attested);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["does not match: pushplan/pushplan did not build it for v9.8.7", "Nothing of it was run"]);
    releases.ran_nothing();
    // Someone removed it.
    let releases = Releases::serve(|name, _| (name == "attestation.json").then(not_found)).with_gh(0);
    let ran = releases.download(&attested);
    assert_eq!(ran.code, 1, "{ran}");
    says(&ran.stderr, &["The release 9.8.7 has no attestation"]);
    releases.ran_nothing();
    // A gh that is too old for it.
    program(&releases.folder, "tools/gh", "#!/bin/sh\necho 'unknown command' >&2\nexit 1\n");
    let ran = releases.download(&attested);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["attestation not verified: there is no GitHub CLI"]);
}

/// Runs `validate` with the action on the machine of `releases`.
fn use_action(team: &Team, releases: &Releases, inputs: &[(&str, &str)], context: &[(&'static str, &str)]) -> Used {
    let mut runner = Runner::new(team.project.folder.path());
    runner.path = Some(releases.path());
    runner.context.extend(context.iter().map(|(name, value)| (*name, (*value).to_owned())));
    let server = ("GITHUB_SERVER_URL", format!("http://127.0.0.1:{}", releases.port));
    runner.run(&[&[("command", "validate")], inputs].concat(), &[team.on_pull(7), vec![server]].concat())
}

#[test]
fn the_action_uses_the_release_that_it_belongs_to() {
    let team = Team::fresh(Kind::GitHub, crate::team::TWO);
    let releases = Releases::serve(|_, _| None);
    let built = || fs::read_to_string(releases.folder.path().join("built")).unwrap_or_default();
    // A version from the releases of a mirror.
    let address = releases.address();
    let used = use_action(&team, &releases, &[("version", VERSION), ("releases", &address)], &[]);
    assert_eq!((used.code, built().as_str()), (0, ""), "{}", used.log);
    assert_eq!(used.path.len(), 1, "{:?}", used.path);
    assert!(used.path[0].ends_with("/pushplan-9.8.7/release"), "{:?}", used.path);
    says(&releases.folder.read("ran"), &["validate"]);
    assert_eq!(releases.asked(), ["SHA256SUMS".to_owned(), archive()]);
    // An action on a branch belongs to no release; one at a tag or a commit does. This one has not been published.
    let own = [("github.action_repository", "shop/tools")];
    for (at, asks) in [("main", false), ("v0", true), ("v0.1.0", true), (COMMIT, true), ("", false)] {
        releases.paths();
        let used = use_action(&team, &releases, &[], &[&own[..], &[("github.action_ref", at)]].concat());
        assert_eq!(used.code, 0, "{at}: {}", used.log);
        let wanted = format!("/shop/tools/releases/download/v{}/SHA256SUMS", env!("CARGO_PKG_VERSION"));
        assert_eq!(releases.paths(), if asks { vec![wanted] } else { vec![] }, "{at}");
        says(&used.log, &["::notice title=pushplan::There is no", "pushplan is built from source instead"]);
    }
    assert_eq!(built().lines().count(), 1, "the first build is kept: {}", built());
    // A wrong checksum stops the job, although cargo could build it.
    let forged = Releases::serve(|name, _| name.ends_with(".tar.gz").then(|| say("200 OK", "", b"x")));
    let used = use_action(&team, &forged, &[("version", VERSION), ("releases", &forged.address())], &[]);
    assert_eq!(used.code, 1, "{}", used.log);
    says(&used.log, &["::error title=pushplan::pushplan-9.8.7-x86_64-unknown-linux-musl.tar.gz has the checksum"]);
    assert!(!forged.folder.path().join("built").exists());
    forged.ran_nothing();
}

#[test]
fn the_component_has_a_copy_of_the_script_and_uses_it() {
    let component = own("templates/pushplan.yml");
    let (_, rest) = component.split_once("<<'END_OF_DOWNLOAD'\n").expect("a copy");
    let (copy, _) = rest.split_once("      END_OF_DOWNLOAD\n").expect("an end");
    let script = own("action/download");
    let indented: String =
        script.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("      {line}\n") }).collect();
    if std::env::var_os("PUSHPLAN_BLESS").is_some() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/pushplan.yml");
        fs::write(file, component.replacen(copy, &indented, 1)).expect("a file");
    } else {
        assert!(copy == indented, "PUSHPLAN_BLESS=1 cargo test --test ci download copies action/download");
    }
    let team = Team::fresh(Kind::GitLab, crate::team::TWO);
    let project = &team.project.folder;
    let job = |releases: &Releases| -> Ran {
        let more = [("PATH", releases.path())];
        let env: Env = [team.on_pull(7), more.to_vec()].concat();
        let address = releases.address();
        crate::component::job(&team, "pushplan-validate", &[("version", VERSION), ("releases", &address)], &env)
    };
    let releases = Releases::serve(|_, _| None);
    let ran = job(&releases);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["pushplan 9.8.7 for x86_64-unknown-linux-musl: checksum verified"]);
    says(&releases.folder.read("ran"), &["validate"]);
    // From the cache of the runner.
    assert_eq!(job(&releases).code, 0);
    assert_eq!(releases.asked(), ["SHA256SUMS".to_owned(), archive(), "SHA256SUMS".to_owned()]);
    // Nothing is left of an earlier job that would be run instead.
    let forged = Releases::serve(|name, _| (name == "SHA256SUMS").then(|| say("200 OK", "", b"x")));
    let ran = job(&forged);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(!project.path().join(".pushplan-ci/release").exists());
    assert!(!forged.folder.path().join("built").exists());
    let absent = Releases::serve(|_, _| Some(not_found()));
    let ran = job(&absent);
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran.stderr, &["There is no release 9.8.7", "pushplan is built from source instead"]);
    says(&absent.folder.read("built"), &["install --locked --root", "pushplan --version 9.8.7"]);
    // The packages of the project on this server, if the component names no releases.
    absent.paths();
    let api = ("CI_API_V4_URL", format!("http://127.0.0.1:{}/api/v4", absent.port));
    let env: Env = [team.on_pull(7), vec![("PATH", absent.path()), api]].concat();
    let ran = crate::component::job(&team, "pushplan-validate", &[], &env);
    assert_eq!(ran.code, 0, "{ran}");
    let package = "/api/v4/projects/pushplan%2Fpushplan/packages/generic/pushplan";
    assert_eq!(absent.paths(), [format!("{package}/v{}/SHA256SUMS", env!("CARGO_PKG_VERSION"))]);
}

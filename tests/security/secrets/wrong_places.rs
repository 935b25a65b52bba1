//! Secrets in the wrong place: no error message repeats them.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use pushplan_testing::{Project, Ran, stand_in};

use super::canary::{CANARY, KEY, escaped};
use super::{ONE, kept, quiet};

fn with_target(settings: &str) -> Project {
    let project = Project::new(ONE);
    project.folder.write("pushplan.toml", format!("[targets.local]\n{settings}\n"));
    project
}

#[track_caller]
fn refused(project: &Project, arguments: &[&str], env: &[(&str, &str)]) -> Ran {
    let ran = quiet(project, arguments, env);
    assert_ne!(ran.code, 0, "{arguments:?}: {ran}");
    ran
}

#[test]
fn an_address_with_a_secret_in_the_project_file_is_refused_and_not_repeated() {
    let secret = escaped(CANARY);
    for base_url in [
        format!("https://ada:{secret}@messaging.example"),
        format!("https://ada:{CANARY}@messaging.example"),
        format!("https://{secret}@messaging.example"),
        format!("https://messaging.example/?token={secret}"),
        format!("https://messaging.example/{secret}"),
        CANARY.to_owned(),
        format!("ftp://{secret}@messaging.example"),
        format!("http://ada:{secret}@messaging.example"),
    ] {
        let project = with_target(&format!("base_url = '{base_url}'\nledger = \"file:\""));
        for arguments in [
            &["validate"][..],
            &["validate", "--format", "sarif"],
            &["plan"],
            &["doctor"],
            &["api", "GET", "/api/segments"],
        ] {
            refused(&project, arguments, &[]);
        }
    }
    for ledger in [
        format!("s3://key:{secret}@team/x"),
        format!("s3://team/x?secret={secret}"),
        format!("az://team/x?sig={secret}"),
        format!("git:https://{secret}@git.example/team.git"),
        format!("postgres://db.example/x?password={secret}"),
        format!("gopher://ada:{secret}@x"),
    ] {
        let project = with_target(&format!("ledger = '{ledger}'"));
        for arguments in [&["validate"][..], &["plan"], &["doctor"], &["ledger", "status"], &["history"]] {
            refused(&project, arguments, &[]);
        }
        let moving = with_target("");
        refused(&moving, &["ledger", "move", "--to", &ledger], &[]);
    }
}

#[test]
fn variables_that_hold_what_belongs_into_others_are_not_repeated() {
    let project = with_target("base_url = \"https://messaging.example\"\nledger = \"file:\"");
    let secret = escaped(CANARY);
    let own = [("PUSHPLAN_APP_KEY", KEY), ("PUSHPLAN_MASTER_SECRET", CANARY)];
    for origin in [
        CANARY.to_owned(),
        format!("https://ada:{secret}@messaging.example"),
        format!("https://messaging.example/{secret}"),
    ] {
        for command in [&["plan"][..], &["doctor"]] {
            refused(&project, command, &[&own[..], &[("PUSHPLAN_ORIGIN", &origin)]].concat());
        }
    }
    // The two are swapped, or pasted with additional characters.
    let odd = format!("{CANARY}\n");
    let pair = format!("{KEY}:{CANARY}");
    for (key, value) in [("PUSHPLAN_MASTER_SECRET", odd.as_str()), ("PUSHPLAN_APP_KEY", pair.as_str())] {
        let env = [&own[..], &[("PUSHPLAN_ORIGIN", "https://messaging.example"), (key, value)]].concat();
        refused(&project, &["plan"], &env);
        refused(&project, &["doctor"], &env);
    }
    for webhook in
        [CANARY.to_owned(), format!("https://ada:{secret}@hooks.example/x"), format!("http://hooks.example/{secret}")]
    {
        refused(&project, &["reconcile", "--once", "--webhook", &webhook], &[]);
        refused(&project, &["reconcile", "--once"], &[("PUSHPLAN_WEBHOOK", &webhook)]);
    }
    let ci = [("GITHUB_REPOSITORY", "shop/messages"), ("GITHUB_TOKEN", CANARY)];
    for url in
        [format!("https://ada:{secret}@git.example"), format!("https://git.example?token={secret}"), CANARY.to_owned()]
    {
        project.folder.write("saved.plan", "{}");
        refused(&project, &["ci", "comment", "--plan", "saved.plan"], &[&ci[..], &[("GITHUB_API_URL", &url)]].concat());
        refused(&project, &["apply", "--approved", "--yes"], &[&ci[..], &[("GITHUB_API_URL", &url)]].concat());
    }
    refused(
        &project,
        &["ci", "comment", "--plan", "saved.plan"],
        &[("GITHUB_REPOSITORY", CANARY), ("GITHUB_TOKEN", CANARY)],
    );
    kept(project.folder.path());
}

#[test]
fn a_command_line_with_a_secret_is_refused_and_the_secret_not_repeated() {
    let project = with_target("");
    let secret = escaped(CANARY);
    for arguments in [
        &["plan".to_owned(), format!("--master-secret={CANARY}")][..],
        &["plan".to_owned(), "--master-secret".to_owned(), CANARY.to_owned()],
        &["serve".to_owned(), "--app".to_owned(), CANARY.replace(':', "")],
        &["serve".to_owned(), "--webhook".to_owned(), CANARY.to_owned()],
        &["serve".to_owned(), "--webhook".to_owned(), format!("https://ada:{secret}@hooks.example")],
        &[
            "serve".to_owned(),
            "--webhook".to_owned(),
            "https://hooks.example".to_owned(),
            "--webhook-header".to_owned(),
            CANARY.replace(':', ""),
        ],
        &[
            "serve".to_owned(),
            "--webhook".to_owned(),
            "https://hooks.example".to_owned(),
            "--webhook-auth".to_owned(),
            CANARY.replace(':', ""),
        ],
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran = refused(&project, &arguments, &[]);
        assert_eq!(ran.code, 64, "{arguments:?}: {ran}");
    }
}

#[test]
fn a_credentials_file_that_is_wrong_is_told_without_what_stands_in_it() {
    let project = with_target("base_url = \"https://messaging.example\"\nledger = \"file:\"");
    for text in [
        format!(
            "[\"https://messaging.example\"]\napp_key = \"{}\nmaster_secret = '{CANARY}'\n",
            KEY.replace(['\\', '"'], "")
        ),
        format!("[\"https://messaging.example\"]\nmaster_secret = '{CANARY}'\n"),
        format!("['{CANARY}']\napp_key = \"k\"\nmaster_secret = \"s\"\n"),
        format!("[\"https://other.example\"]\napp_key = 'k{CANARY}'\nmaster_secret = '{CANARY} '\n"),
    ] {
        let file = project.folder.write("credentials.toml", text);
        for mode in [0o600, 0o644] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
            let env = [("PUSHPLAN_CREDENTIALS", file.to_str().expect("UTF-8"))];
            assert_eq!(refused(&project, &["plan"], &env).code, 4);
            assert_eq!(refused(&project, &["doctor", "--within", "1s"], &env).code, 4);
        }
    }
}

#[test]
fn services_that_refuse_or_are_gone_are_told_without_credentials() {
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr()).expect("a port").port();
    let refusing =
        stand_in(|_| ("401 Unauthorized", "application/json", "{\"ok\": false, \"error\": \"Unauthorized\"}"));
    for origin in [format!("http://127.0.0.1:{closed}"), refusing] {
        let project = with_target(&format!("base_url = \"{origin}\"\nledger = \"file:\"\ntest_sends = true"));
        let env = [("PUSHPLAN_ORIGIN", origin.as_str()), ("PUSHPLAN_APP_KEY", KEY), ("PUSHPLAN_MASTER_SECRET", CANARY)];
        for arguments in [
            &["plan"][..],
            &["apply", "--yes"],
            &["doctor"],
            &["reconcile", "--once"],
            &["api", "POST", "/api/segments", "--body", "{}", "--yes"],
            &["send", "templates/winback", "--to", "named_user:ada", "--yes"],
        ] {
            refused(&project, arguments, &env);
        }
        kept(project.folder.path());
    }
}

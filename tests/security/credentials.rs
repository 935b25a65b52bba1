//! The recipients of credentials, from the user's point of view: with the real binary.

use std::fs;
use std::process::{Command, Stdio};

use pushplan::service::{Running, Settings};
use pushplan_testing::Folder;
use tokio::net::TcpListener;

const KEY: &str = "story-application-0000";
const SECRET: &str = "story-secret-000000000";

/// A service other than the project's own, with two applications.
async fn service() -> Running {
    let apps = vec![(KEY.into(), SECRET.into()), ("other-application-0000".into(), SECRET.into())];
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    pushplan::service::start(Settings { apps, ..Settings::default() }, listener).await.expect("it starts")
}

/// Plans with only these environment variables. Returns the exit code and the whole output.
async fn plan(folder: &Folder, env: &[(&str, &str)]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pushplan"));
    command.args(["plan", "--color", "never"]).current_dir(folder.path()).env_clear().stdin(Stdio::null());
    command.env("HOME", folder.path()).envs(env.iter().copied());
    let output = tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("it ends");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains(SECRET), "the secret is printed\n{said}");
    (output.status.code().expect("no signal"), said)
}

fn given<'g>(origin: &'g str, key: &'g str, secret: &'g str) -> Vec<(&'static str, &'g str)> {
    vec![("PUSHPLAN_ORIGIN", origin), ("PUSHPLAN_APP_KEY", key), ("PUSHPLAN_MASTER_SECRET", secret)]
}

fn project(settings: &str) -> Folder {
    let folder = Folder::project("segments: {vip: {criteria: {tag: vip}}}\n");
    folder.write("pushplan.toml", format!("[targets.production]\nledger = \"file:\"\n{settings}\n"));
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_are_given_to_their_own_origin_alone() {
    let service = service().await;
    let (own, other) = (format!("http://{}", service.address), "http://127.0.0.1:9");
    let folder = project(&format!("base_url = \"{own}\""));
    for (env, code, says) in [
        (given(&own, KEY, SECRET), 0, "segments/vip".to_owned()),
        (given(other, KEY, SECRET), 4, format!("the credentials are for {other}, not for {own}")),
        (given(&own, KEY, "wrong"), 4, format!("{own} refuses these credentials (HTTP 401")),
        (given(&own, "wrong", SECRET), 4, "refuses these credentials".to_owned()),
        (given(&own, KEY, SECRET)[..2].to_vec(), 4, "but PUSHPLAN_MASTER_SECRET is not".to_owned()),
        (vec![], 4, format!("there are no credentials for {own}")),
    ] {
        service.engine.requests.clear();
        let (ended, said) = plan(&folder, &env).await;
        assert_eq!(ended, code, "{env:?}\n{said}");
        assert!(said.contains(&says), "`{says}` is not said\n{said}");
        let asked = service.engine.requests.list(|_| true);
        assert!(asked.iter().all(|logged| logged.method == "GET"));
        let reaches = env.len() == 3 && env[0].1 == own;
        assert_eq!(!asked.is_empty(), reaches, "{env:?}: only its own origin is asked anything");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_gives_each_origin_its_own() {
    let service = service().await;
    let own = format!("http://{}", service.address);
    let folder = project(&format!("base_url = \"{own}\""));
    let section = |origin: &str| format!("[\"{origin}\"]\napp_key = \"{KEY}\"\nmaster_secret = \"{SECRET}\"\n");
    let path = folder.write(".config/pushplan/credentials.toml", section("https://other.example") + &section(&own));
    set_mode(&path, 0o600);
    let (code, said) = plan(&folder, &[]).await;
    assert_eq!(code, 0, "{said}");
    #[cfg(unix)]
    {
        set_mode(&path, 0o640);
        let (code, said) = plan(&folder, &[]).await;
        assert_eq!(code, 4, "{said}");
        assert!(said.contains("is open to others (mode 640)") && said.contains("chmod 600"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_application_than_the_pinned_one_is_refused() {
    let service = service().await;
    let own = format!("http://{}", service.address);
    let pinned = pushplan::client::Credentials::new(KEY, "").fingerprint();
    let folder = project(&format!("base_url = \"{own}\"\napp_key_fingerprint = \"{pinned}\""));
    let (code, said) = plan(&folder, &given(&own, KEY, SECRET)).await;
    assert_eq!(code, 0, "{said}");
    service.engine.requests.clear();
    let (code, said) = plan(&folder, &given(&own, "other-application-0000", SECRET)).await;
    assert_eq!(code, 7, "{said}");
    assert!(said.contains(&format!("the target `production` is the application {pinned}")), "{said}");
    assert!(said.contains("app_key_fingerprint = \""), "it says how to allow it\n{said}");
    assert!(service.engine.requests.list(|_| true).is_empty(), "nothing is asked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_is_never_told_in_the_clear() {
    let folder = project("base_url = \"http://messaging.example\"");
    let (code, said) = plan(&folder, &[]).await;
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("is not https"), "{said}");
}

#[cfg(unix)]
fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

#[cfg(not(unix))]
fn set_mode(path: &std::path::Path, _: u32) {
    let _ = fs::metadata(path);
}

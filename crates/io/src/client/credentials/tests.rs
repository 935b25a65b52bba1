use std::fs;

use super::*;

const SERVICE: &str = "https://messaging.example";

/// Returns the credentials for the service that are found in an environment.
fn found(env: &[(&str, &str)]) -> Result<Credentials, Failure> {
    let origin = Origin::parse(SERVICE).unwrap();
    let look = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    credentials(&origin, &look)
}

/// Writes a credentials file with a mode, in a temporary folder.
fn with_file(text: &str, mode: u32) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.toml");
    fs::write(&path, text).unwrap();
    set_mode(&path, mode);
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}

#[test]
fn three_variables_together_are_credentials() {
    let found = found(&[(ORIGIN, "https://MESSAGING.example/"), (APP_KEY, "key"), (MASTER_SECRET, "hunter2")]).unwrap();
    assert_eq!((found.app_key.as_str(), found.master_secret.reveal()), ("key", "hunter2"));
    assert_eq!(found.fingerprint(), "2c70e12b7a06");
    assert_eq!(format!("{found:?} {:?}", found.master_secret), "Credentials(2c70e12b7a06) Secret(..)");
}

#[test]
fn every_wrong_combination_is_told_without_its_secret() {
    let other = [(ORIGIN, "https://other.example"), (APP_KEY, "key"), (MASTER_SECRET, "hunter2")];
    for (env, says) in [
        (&[][..], "there are no credentials for https://messaging.example"),
        (&other, "the credentials are for https://other.example, not for https://messaging.example"),
        (&other[..1], "PUSHPLAN_ORIGIN is set, but PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET are not"),
        (&other[1..], "PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET are set, but PUSHPLAN_ORIGIN is not"),
        (&[other[0], other[2]], "PUSHPLAN_ORIGIN and PUSHPLAN_MASTER_SECRET are set, but PUSHPLAN_APP_KEY is not"),
        (&[other[0], (APP_KEY, ""), other[2]], "but PUSHPLAN_APP_KEY is not"),
        (
            &[(ORIGIN, "http://messaging.example"), other[1], other[2]],
            "PUSHPLAN_ORIGIN: `http://messaging.example` is not https",
        ),
        (&[(ORIGIN, SERVICE), (APP_KEY, "a:b"), other[2]], "the app key in the environment holds a colon"),
        (
            &[(ORIGIN, SERVICE), other[1], (MASTER_SECRET, "hunter2\n")],
            "the master secret in the environment holds white space",
        ),
        (&[(FILE, "/nowhere/credentials.toml")], "cannot be read: no such file or directory"),
    ] {
        let failure = found(env).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Credentials);
        assert!(failure.message.contains(says), "{}", failure.message);
        assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
    }
    let help = found(&[("HOME", "/home/ada")]).unwrap_err().help.unwrap();
    assert!(help.contains("/home/ada/.config/pushplan/credentials.toml"), "{help}");
    assert!(help.contains("[\"https://messaging.example\"]"), "{help}");
}

const TWO: &str = "[\"https://messaging.example/\"]\napp_key = \"key\"\nmaster_secret = \"hunter2\"\n
[\"http://127.0.0.1:8420\"]\napp_key = \"other\"\nmaster_secret = \"hunter3\"\n";

#[test]
fn a_file_has_a_section_for_each_origin() {
    let (_folder, path) = with_file(TWO, 0o600);
    assert_eq!(found(&[(FILE, &path)]).unwrap().app_key, "key");
    // Credentials for another origin in the environment do not interfere.
    let env = [(FILE, path.as_str()), (ORIGIN, "https://other.example"), (APP_KEY, "x"), (MASTER_SECRET, "y")];
    assert_eq!(found(&env).unwrap().app_key, "key");
    // The file is found in the platform's folder for configuration.
    let (folder, _) = with_file("", 0o600);
    let home = folder.path().join("pushplan");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("credentials.toml"), TWO).unwrap();
    set_mode(&home.join("credentials.toml"), 0o600);
    assert_eq!(found(&[("XDG_CONFIG_HOME", folder.path().to_str().unwrap())]).unwrap().app_key, "key");
}

#[test]
fn a_file_that_is_wrong_is_told_without_its_secrets() {
    for (text, says) in [
        (
            "[\"https://other.example\"]\napp_key = \"k\"\nmaster_secret = \"hunter2\"",
            "are for https://other.example, not for",
        ),
        ("[\"https://messaging.example\"]\napp_key = \"hunter2\"", "needs app_key and master_secret"),
        ("\"https://messaging.example\" = \"key:hunter2\"", "needs app_key and master_secret"),
        ("[\"https://messaging.example\"]\napp_key = 7\nmaster_secret = \"hunter2\"", "both texts"),
        ("[\"https://messaging.example\"]\napp_key = \"k\"\nmaster_secret = \"hunter2\"\nextra = 1", "holds more than"),
        ("[\"https://messaging.example\"]\nmaster_secret = hunter2", "line 2, column 17 is not TOML"),
        ("[\"http://messaging.example\"]\napp_key = \"k\"\nmaster_secret = \"hunter2\"", "is not https"),
        ("[\"https://key:hunter2@messaging.example\"]", "must not contain credentials"),
        (
            "[\"https://messaging.example\"]\napp_key = \"k\"\nmaster_secret = \"s\"\n
[\"https://messaging.example/\"]\napp_key = \"k\"\nmaster_secret = \"hunter2\"",
            "there are two sections for https://messaging.example",
        ),
    ] {
        let (_folder, path) = with_file(text, 0o600);
        let failure = found(&[(FILE, &path)]).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Credentials);
        assert!(failure.message.contains(says), "{}", failure.message);
        assert!(!format!("{failure:?}").contains("hunter2"), "{failure:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_is_refused() {
    for mode in [0o644, 0o640, 0o604, 0o620] {
        let (_folder, path) = with_file(TWO, mode);
        let failure = found(&[(FILE, &path)]).unwrap_err();
        assert!(failure.message.contains(&format!("is open to others (mode {mode:o})")), "{}", failure.message);
        assert_eq!(failure.help.unwrap(), format!("chmod 600 {path}"));
    }
}

//! The credentials of a target's built-in service: random, created once, stored in the project, and readable only by
//! their owner.
//!
//! A service on loopback is open to every program on the machine and, through a browser, to web pages. A secret that is
//! the same everywhere would protect nothing.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use pushplan_io::client::{Credentials, only_its_owner};
use pushplan_io::failure::{Failure, FailureKind};
use pushplan_io::files::{self, describe};
use pushplan_io::git::tracked;
use pushplan_io::private;
use pushplan_model::digest::Digest;
use pushplan_project::manifest::LOCAL;
use uuid::Uuid;

use super::{BuiltIn, OWN, cannot_write, own_folder};

/// The application key of a service that was given none. It is a name and no secret: the service stores its data under
/// it, and the ledger identifies the application by it.
pub const APP_KEY: &str = "local-application-key0";
/// The secret of every service in earlier versions.
const PUBLISHED_SECRET: &str = "local-master-secret-00";

/// The extension of a file that a shell can source, so that no secret is on a command line.
const EXTENSION: &str = "env";
const FILE_LIMIT: u64 = 64 * 1024;
const KEY_LINE: &str = "export PUSHPLAN_APP_KEY=";
const SECRET_LINE: &str = "export PUSHPLAN_MASTER_SECRET=";

/// Whether a secret is publicly known.
pub fn is_published(secret: &str) -> bool {
    secret == PUBLISHED_SECRET
}

/// New random credentials, in the service's own form: 22 characters.
pub fn random() -> Credentials {
    Credentials::new(APP_KEY, BASE64_URL_SAFE_NO_PAD.encode(Uuid::new_v4().as_bytes()))
}

/// The key of a target's application. Keys differ between targets, because a ledger knows an application by its key.
fn app_key(target: &str) -> String {
    match target {
        LOCAL => APP_KEY.to_owned(),
        target => format!("local-{}", &Digest::of(target.as_bytes()).as_str()[..16]),
    }
}

/// New random credentials for the application of a target.
fn random_for(target: &str) -> Credentials {
    Credentials { app_key: app_key(target), ..random() }
}

/// Returns the credentials of a target's built-in service and their file, which is created if it does not exist.
pub fn of(service: BuiltIn<'_>) -> Result<(Credentials, PathBuf), Failure> {
    let file = service.file(EXTENSION);
    let path = own_folder(service.root)?.join(&file);
    let inside = format!("{OWN}/{file}");
    if tracked(&service.root.join(OWN)).is_ok_and(|names| names.iter().any(|name| name.eq_ignore_ascii_case(&file))) {
        return Err(refused(&path, "git tracks it, so everyone with the repository can read the secret")
            .help(format!("git rm --cached {inside} && rm -f {inside}; the next start creates a new one")));
    }
    if let Some(credentials) = read(&path)? {
        return Ok((credentials, path));
    }
    make(&path, &random_for(service.target))?;
    // Another process may have created it at the same time: the existing file counts.
    let credentials = read(&path)?.ok_or_else(|| refused(&path, "it was removed at once"))?;
    Ok((credentials, path))
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::new(format!("the credentials in {} are not used: {why}", path.display())).kind(FailureKind::Credentials)
}

fn read(path: &Path) -> Result<Option<Credentials>, Failure> {
    if path.is_symlink() {
        return Err(refused(path, "it is a symbolic link, which is not followed"));
    }
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| refused(path, &describe(&error)))?,
    };
    only_its_owner(&file).map_err(|mode| {
        let why = format!("other users can read it (mode {mode:o})");
        refused(path, &why).help(format!("remove {}; the next start creates a new one", path.display()))
    })?;
    let bytes = files::read_to_limit(file, FILE_LIMIT).map_err(|why| refused(path, &why.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let is_plain = |text: &&str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    match (value(KEY_LINE).filter(is_plain), value(SECRET_LINE).filter(is_plain)) {
        (Some(_), Some(secret)) if is_published(secret) => Err(refused(path, "this secret is public")
            .help(format!("remove {}; the next start creates a new one", path.display()))),
        (Some(key), Some(secret)) => Ok(Some(Credentials::new(key, secret))),
        _ => Err(refused(path, "it has no app key or no master secret")
            .help(format!("remove {}; the next start creates a new one", path.display()))),
    }
}

/// Creates the file atomically, and never replaces another one.
fn make(path: &Path, credentials: &Credentials) -> Result<(), Failure> {
    let text = format!(
        "# The credentials of the built-in service of this project, made by pushplan. Do not share or commit them.\n\
         {KEY_LINE}{}\n{SECRET_LINE}{}\n",
        credentials.app_key,
        credentials.master_secret.reveal()
    );
    let beside = path.with_extension(format!("{EXTENSION}.{}", Uuid::new_v4().simple()));
    let made = private::create(&beside, text.as_bytes()).and_then(|()| fs::hard_link(&beside, path));
    let _ = fs::remove_file(&beside);
    match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // Not every file system has hard links. Without them, two processes that start at once may see an incomplete
        // file and report it.
        Err(error) if error.kind() == ErrorKind::Unsupported || error.kind() == ErrorKind::PermissionDenied => {
            match private::create(path, text.as_bytes()) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(cannot_write(path, &error)),
                _ => Ok(()),
            }
        }
        made => made.map_err(|error| cannot_write(path, &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_an_application_of_its_own() {
        let keys = ["local", "shop", "cafe"].map(app_key);
        assert_eq!(keys[0], APP_KEY);
        assert!(keys.iter().all(|key| key.len() == APP_KEY.len()), "{keys:?}");
        assert!(keys[0] != keys[1] && keys[1] != keys[2], "{keys:?}");
        assert_eq!(random_for("shop").app_key, keys[1], "the same each time");
    }

    #[test]
    fn credentials_are_in_the_services_own_form_and_never_the_same() {
        let (one, other) = (random(), random());
        assert_eq!(one.app_key, other.app_key);
        assert_ne!(one.master_secret.reveal(), other.master_secret.reveal());
        assert_eq!(one.master_secret.reveal().len(), 22);
    }

    #[test]
    fn a_file_is_made_once_and_its_values_are_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("service.env");
        make(&path, &random()).expect("made");
        let text = fs::read_to_string(&path).expect("a file");
        let first = read(&path).expect("sound").expect("there");
        assert!(text.contains(first.master_secret.reveal()) && text.contains(APP_KEY), "{text}");
        make(&path, &random()).expect("there is one");
        assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
        fs::write(&path, format!("{KEY_LINE}{APP_KEY}\n{SECRET_LINE}{PUBLISHED_SECRET}\n")).expect("a file");
        assert!(read(&path).expect_err("refused").to_string().contains("this secret is public"));
        fs::write(&path, format!("{KEY_LINE}$(id)\n{SECRET_LINE}x\n")).expect("a file");
        assert!(read(&path).is_err());
    }
}

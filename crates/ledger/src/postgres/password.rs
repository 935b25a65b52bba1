//! The password of a database, by the rules of libpq, which teams already use, except that it is for one server.
//!
//! A password without a server is sent only to the server that `PGHOST` and `PGPORT` name. None is sent over a
//! connection that only the place makes weak. So a change to the project file cannot steal a password.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use pushplan_io::client::{Secret, only_its_owner};
use pushplan_io::files::read_to_limit;

use super::place::{Host, PORT, PostgresPlace};

/// The largest password file.
const FILE_LIMIT: u64 = 1024 * 1024;
/// The default folders of servers' sockets. A password file uses `localhost` for them.
const USUAL_SOCKETS: [&str; 3] = ["/run/postgresql", "/var/run/postgresql", "/tmp"];

/// The user and the password of a connection.
#[derive(Clone, Debug)]
pub struct Login {
    pub user: String,
    pub password: Option<Secret>,
    /// Why a password was not used.
    pub passed_over: Option<String>,
}

/// Returns the user and the password: from the place, else from `PGUSER` and `PGPASSWORD`, else the user of this
/// machine and the password file.
pub fn login(place: &PostgresPlace, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Login> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let user = place.user.clone().or_else(|| ["PGUSER", "USER", "LOGNAME", "USERNAME"].into_iter().find_map(variable));
    let user = user.with_context(|| format!("{} has no user: write postgres://user@…, or set PGUSER", place.shown))?;
    let is_other = other_server(place, &variable);
    if let (Some(why), None) = (&place.weaker, &is_other) {
        bail!("{why}");
    }
    let from_environment = variable("PGPASSWORD");
    let mut passed_over = None;
    let given = match (&place.password, from_environment, &is_other) {
        (Some(own), ..) => Some(own.clone()),
        (None, Some(password), None) => Some(Secret::new(password)),
        (None, Some(_), Some(why)) => {
            passed_over = Some(format!("PGPASSWORD was not used: {why}"));
            None
        }
        (None, None, _) => None,
    };
    if given.is_some() {
        return Ok(Login { user, password: given, passed_over });
    }
    let home = || variable(if cfg!(windows) { "APPDATA" } else { "HOME" }).map(PathBuf::from);
    let beneath = if cfg!(windows) { "postgresql/pgpass.conf" } else { ".pgpass" };
    let file = variable("PGPASSFILE").map(PathBuf::from).or_else(|| Some(home()?.join(beneath)));
    Ok(match file.map(|file| (read(&file), file)) {
        None | Some((Ok(None), _)) => Login { user, password: None, passed_over },
        Some((Err(why), _)) => Login { user, password: None, passed_over: Some(why.to_string()) },
        Some((Ok(Some(text)), file)) => match (entry(&text, place, &user), is_other) {
            (Some(PasswordLine { names_server: false, .. }), Some(why)) => {
                let why = format!("a line of {} for every server was not used: {why}", file.display());
                Login { user, password: None, passed_over: Some(why) }
            }
            (Some(PasswordLine { password, .. }), _) => match &place.weaker {
                Some(why) => bail!("{why}"),
                None => Login { user, password: Some(password), passed_over: None },
            },
            (None, _) => Login { user, password: None, passed_over },
        },
    })
}

/// Returns why a place is not the server that the environment names, and how to fix that if it is the right one.
fn other_server(place: &PostgresPlace, variable: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let host = match &place.host {
        Host::Name(name) => name.clone(),
        Host::Socket(folder) => folder.to_string_lossy().into_owned(),
    };
    let named = variable("PGHOST");
    let given = variable("PGPORT");
    let port = given.clone().unwrap_or_else(|| PORT.to_string());
    let port = (port != place.port.to_string()).then_some(port);
    let is_same = named.as_ref().is_some_and(|named| named.eq_ignore_ascii_case(&host));
    let is = match (&named, &port) {
        (Some(_), None) if is_same => return None,
        (Some(_), Some(port)) if is_same && given.is_some() => {
            format!("PGPORT names the port {port}, not {}", place.port)
        }
        (Some(_), Some(port)) if is_same => format!("without PGPORT that is port {port}, not {}", place.port),
        (Some(named), _) => format!("that is {named}, not {host}"),
        (None, _) => "it is not set".to_owned(),
    };
    let port = port.map(|_| format!(" and PGPORT={}", place.port)).unwrap_or_default();
    Some(format!(
        "a password without a server is for the server in PGHOST, and {is}; if {host} is the right server, set \
            PGHOST={host}{port}, or write a line for it into the password file (~/.pgpass, or the file in PGPASSFILE)"
    ))
}

/// Reads a password file; `None` if there is none.
fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let shown = path.display();
    // A device or a pipe is not a password file, and may never end.
    if !path.metadata().is_ok_and(|about| about.is_file()) {
        return Ok(None);
    }
    let file = File::open(path).map_err(|error| anyhow!("{shown} cannot be read ({error})"))?;
    only_its_owner(&file)
        .map_err(|mode| anyhow!("{shown} is open to others (mode {mode:o}) and was ignored: run chmod 600 {shown}"))?;
    let bytes = read_to_limit(file, FILE_LIMIT).map_err(|why| anyhow!("{shown} cannot be read: {why}"))?;
    String::from_utf8(bytes).map(Some).map_err(|_| anyhow!("{shown} is not UTF-8"))
}

/// The content of a line of a password file.
struct PasswordLine {
    password: Secret,
    /// Whether it is for one server, instead of all servers.
    names_server: bool,
}

/// Returns the first matching line.
fn entry(text: &str, place: &PostgresPlace, user: &str) -> Option<PasswordLine> {
    let port = place.port.to_string();
    let host = match &place.host {
        Host::Name(name) => name.clone(),
        Host::Socket(folder) if USUAL_SOCKETS.iter().any(|usual| folder == Path::new(usual)) => "localhost".into(),
        Host::Socket(folder) => folder.to_string_lossy().into_owned(),
    };
    let asked = [host.as_str(), &port, &place.database, user];
    let fits = |line: &&str| !line.starts_with('#');
    text.lines().filter(fits).find_map(|line| {
        let mut rest = line;
        for wanted in asked {
            let (field, behind) = field(rest)?;
            // A star matches everything if it is the whole field and has no backslash.
            let is_any = rest.starts_with("*:");
            if !is_any && field != wanted {
                return None;
            }
            rest = behind?;
        }
        let (password, _) = field(rest)?;
        let names_server = !line.starts_with("*:");
        (!password.is_empty()).then(|| PasswordLine { password: Secret::new(password), names_server })
    })
}

/// Returns a field without its backslashes, and the text after its colon.
fn field(text: &str) -> Option<(String, Option<&str>)> {
    let mut field = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            ':' => return Some((field, text.get(at + 1..))),
            // A backslash at the end stands for itself.
            '\\' => field.push(characters.next().map_or('\\', |(_, next)| next)),
            other => field.push(other),
        }
    }
    Some((field, None))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found(place: &str, variables: &[(&str, &str)]) -> Login {
        let variable = |name: &str| {
            let named = variables.iter().find(|(key, _)| *key == name);
            named.map(|(_, value)| (*value).to_owned())
        };
        login(&PostgresPlace::parse(place).expect("a place"), variable).expect("a login")
    }

    fn password(text: &str, place: &str) -> Option<String> {
        let place = PostgresPlace::parse(place).expect("a place");
        let user = place.user.clone().expect("a user");
        entry(text, &place, &user).map(|entry| entry.password.reveal().to_owned())
    }

    #[test]
    fn the_place_comes_before_the_environment_and_that_before_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pgpass");
        fs::write(&file, "h:*:*:*:from-file\n").expect("written");
        set_mode(&file, 0o600);
        let file = file.to_str().expect("UTF-8");
        let of = |login: Login| login.password.map(|password| password.reveal().to_owned());
        let all = [("PGPASSWORD", "from-environment"), ("PGHOST", "h"), ("PGPASSFILE", file), ("PGUSER", "eve")];
        assert_eq!(of(found("postgres://ada:own@h/db", &all)).as_deref(), Some("own"));
        assert_eq!(of(found("postgres://ada@h/db", &all)).as_deref(), Some("from-environment"));
        let login = found("postgres://h/db", &[("PGPASSWORD", ""), ("PGPASSFILE", file), ("PGUSER", "eve")]);
        assert_eq!((&*login.user.clone(), of(login).as_deref()), ("eve", Some("from-file")));
        let at_home = folder.path().join(".pgpass");
        fs::rename(file, &at_home).expect("renamed");
        let home = folder.path().to_str().expect("UTF-8");
        assert_eq!(of(found("postgres://ada@h/db", &[("HOME", home)])).as_deref(), Some("from-file"));
        assert_eq!(of(found("postgres://ada@h/db", &[("HOME", "/nowhere")])), None);
    }

    #[test]
    fn a_password_without_a_server_goes_to_the_one_that_is_named_beside_it() {
        let evil = "postgres://ada@evil.example/db";
        for (place, more, why) in [
            ("postgres://ada@db.example/db", &[("PGHOST", "DB.example")][..], None),
            ("postgres://ada@db.example:6000/db", &[("PGHOST", "db.example"), ("PGPORT", "6000")], None),
            ("postgres://ada@/db?host=/run/pg", &[("PGHOST", "/run/pg")], None),
            (evil, &[("PGHOST", "db.example")], Some("that is db.example, not evil.example")),
            (evil, &[], Some("it is not set; if evil.example is the right server, set PGHOST=evil.example, or")),
            (
                "postgres://ada@db.example:6000/db",
                &[("PGHOST", "db.example"), ("PGPORT", "5432")],
                Some("PGPORT names the port 5432, not 6000"),
            ),
            (
                "postgres://ada@db.example/db?port=6000",
                &[("PGHOST", "db.example")],
                Some(
                    "port 5432, not 6000; if db.example is the right server, set PGHOST=db.example and PGPORT=6000, or",
                ),
            ),
            ("postgres://ada@db.example/db?host=evil.example", &[("PGHOST", "db.example")], Some("that is db.example")),
        ] {
            let login = found(place, &[&[("PGPASSWORD", "hush"), ("HOME", "/nowhere")], more].concat());
            assert_eq!(login.password.is_some(), why.is_none(), "{place}");
            let told = login.passed_over.unwrap_or_default();
            assert!(told.contains(why.unwrap_or_default()) && !told.contains("hush"), "{place}: {told}");
        }
        // A line for every server is like a password without one.
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pgpass");
        fs::write(&file, "*:*:*:*:hush\n").expect("written");
        set_mode(&file, 0o600);
        let file = ("PGPASSFILE", file.to_str().expect("UTF-8"));
        let login = found(evil, &[file, ("PGHOST", "db.example")]);
        assert!(login.password.is_none() && login.passed_over.is_some_and(|why| why.contains("for every server")));
        assert!(found("postgres://ada@db.example/db", &[file, ("PGHOST", "db.example")]).password.is_some());
    }

    #[test]
    fn no_password_goes_over_a_connection_that_only_the_place_makes_weak() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pgpass");
        fs::write(&file, "db.example:*:*:*:hush\n").expect("written");
        set_mode(&file, 0o600);
        let file = ("PGPASSFILE", file.to_str().expect("UTF-8"));
        let named = [("PGHOST", "db.example"), ("PGPASSWORD", "hush"), ("HOME", "/nowhere")];
        let weak = "postgres://ada@db.example/db?sslmode=disable";
        let login_at = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let named = variables.iter().find(|(key, _)| *key == name);
                named.map(|(_, value)| (*value).to_owned())
            };
            login(&PostgresPlace::parse_with(weak, variable).expect("a place"), variable)
        };
        for given in [&named[..], &named[..1], &[file]] {
            let why = login_at(given).expect_err("refused").to_string();
            assert!(why.contains("set PGSSLMODE=disable where pushplan runs") && !why.contains("hush"), "{why}");
            assert!(login_at(&[given, &[("PGSSLMODE", "require")]].concat()).is_ok());
        }
        let without = login_at(&[("HOME", "/nowhere")]).expect("nothing is sent");
        assert!(without.password.is_none());
    }

    #[cfg(unix)]
    fn set_mode(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[cfg(not(unix))]
    fn set_mode(_: &Path, _: u32) {}

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_passed_over_and_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pgpass");
        fs::write(&file, "*:*:*:*:secret\n").expect("written");
        set_mode(&file, 0o640);
        let login = found("postgres://ada@h/db", &[("PGPASSFILE", file.to_str().expect("UTF-8"))]);
        assert!(login.password.is_none());
        let why = login.passed_over.expect("told");
        assert!(why.contains("mode 640") && !why.contains("secret"), "{why}");
    }

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let file = "# a comment:*:*:*:no\n\
                    db.example:5432:teams:ada:first\n\
                    db.example:*:teams:ada:second\n\
                    *:*:*:e\\:ve:with\\:colon\\\\\n\
                    /srv/pg:*:*:ada:socket\n\
                    localhost:*:*:ada:usual socket\n\
                    short:line\n";
        for (place, expected) in [
            ("postgres://ada@db.example/teams", Some("first")),
            ("postgres://ada@db.example:6000/teams/other", Some("second")),
            ("postgres://ada@db.example/others", None),
            ("postgres://e%3Ave@any/any", Some("with:colon\\")),
            ("postgres://ada@/db?host=/srv/pg", Some("socket")),
            ("postgres://ada@/db?host=/var/run/postgresql", Some("usual socket")),
            ("postgres://ada@short/line", None),
        ] {
            assert_eq!(password(file, place).as_deref(), expected, "{place}");
        }
    }
}

//! The place of a database, written as `postgres://user@host:port/database/schema?sslmode=…&sslrootcert=…`.

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::{Context, anyhow, bail};
use percent_encoding::percent_decode_str;
use pushplan_io::client::Secret;
use pushplan_model::text::all_of;

/// The default schema.
const SCHEMA: &str = "pushplan";
/// PostgreSQL silently truncates longer names, so that two schemas would be one.
const NAME_LIMIT: usize = 63;
/// The default port.
pub const PORT: u16 = 5432;

/// The message for a place whose password may have been split. It does not repeat any of it.
const ENCODE: &str = "an `@`, `:`, `/`, `?`, `#` or `%` in a user or password is written as \
                      %40, %3A, %2F, %3F, %23 or %25";

/// A schema in a database on a server.
#[derive(Clone, Debug)]
pub struct PostgresPlace {
    /// For display, without a password.
    pub shown: String,
    pub host: Host,
    pub port: u16,
    /// If there is none, the environment names the user.
    pub user: Option<String>,
    pub password: Option<Secret>,
    pub database: String,
    pub schema: String,
    pub security: Security,
    /// Why no password is sent there: the place asks for less security than usual, and the environment does not.
    pub weaker: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    Name(String),
    /// The folder of a Unix socket.
    Socket(PathBuf),
}

/// The security that a connection must have before anything is sent over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Security {
    /// Not encrypted.
    Plain,
    /// Encrypted, with an unverified server. `or_plain`: or not encrypted, if the server has no TLS.
    Unchecked { or_plain: bool },
    /// Encrypted, with a server whose certificate one of these roots issued.
    Issued(Roots),
    /// Encrypted, with a server whose certificate one of these roots issued for its name.
    Named(Roots),
}

/// The authorities whose certificates are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roots {
    /// The authorities that this machine trusts.
    System,
    File(PathBuf),
}

impl PostgresPlace {
    #[cfg(test)]
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        Self::parse_with(text, |_| None)
    }

    /// Parses a place. It may require more of TLS than `PGSSLMODE` and `PGSSLROOTCERT`, and never less. Errors do not
    /// repeat what may be a password.
    pub(crate) fn parse_with(text: &str, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
        let rest = rest.context("a place in PostgreSQL begins with postgres://")?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if path.contains('@') || query.contains('@') || text.contains('#') {
            bail!("the place cannot be read: {ENCODE}");
        }
        let (user, address) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        let (user, password) = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
            Some((user, password)) => (filled(decoded(user)?), filled(decoded(password)?)),
            None => (None, None),
        };
        let (host, port) = split_port(address)?;
        let (database, schema) = names(path)?;
        let mut place = Self {
            shown: String::new(),
            host: Host::Name(host.to_owned()),
            port: port.unwrap_or(PORT),
            user,
            password: password.map(Secret::new),
            database,
            schema,
            security: Security::Plain,
            weaker: None,
        };
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let settings = place.take(query)?;
        place.weaker = settings.weaker(&place.host, variable);
        let settings = settings.with(variable)?;
        if place.host == Host::Name(String::new()) {
            bail!(
                "the place has no server: write postgres://user@host/database/schema, or \
                postgres://user@/database/schema?host=/run/postgresql for a Unix socket"
            );
        }
        place.security = settings.security(&place.host)?;
        place.shown = place.show(port.is_some() || settings.has_port);
        Ok(place)
    }

    /// Applies the query parameters.
    fn take(&mut self, query: &str) -> anyhow::Result<ConnectionSettings> {
        let mut settings = ConnectionSettings::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value)?;
            match key {
                "host" if value.starts_with('/') => self.host = Host::Socket(PathBuf::from(value)),
                "host" => self.host = Host::Name(value),
                "port" => {
                    self.port = value.parse().map_err(|_| anyhow!("the port of the place is not a number"))?;
                    settings.has_port = true;
                }
                "user" => self.user = filled(value),
                "password" => self.password = filled(value).map(Secret::new),
                "sslmode" => settings.mode = Some(value),
                "sslrootcert" => settings.roots = filled(value),
                _ => {
                    bail!(
                        "after its `?`, a place in PostgreSQL may only have host, port, user, password, \
                        sslmode and sslrootcert"
                    );
                }
            }
        }
        Ok(settings)
    }

    fn show(&self, has_port: bool) -> String {
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let port = if has_port { format!(":{}", self.port) } else { String::new() };
        let (host, socket) = match &self.host {
            Host::Name(host) if host.contains(':') => (format!("[{host}]"), String::new()),
            Host::Name(host) => (host.clone(), String::new()),
            Host::Socket(folder) => (String::new(), format!("?host={}", folder.display())),
        };
        let Self { database, schema, .. } = self;
        format!("postgres://{user}{host}{port}/{database}/{schema}{socket}")
    }
}

/// The connection settings of a place.
#[derive(Default)]
struct ConnectionSettings {
    mode: Option<String>,
    roots: Option<String>,
    has_port: bool,
}

/// The values of `sslmode`, from the weakest to the strongest.
const MODES: [&str; 5] = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/// Returns the strength of a mode; fails if it does not exist.
fn strength(name: &str, mode: &str) -> anyhow::Result<usize> {
    let found = MODES.iter().position(|known| *known == mode);
    found.with_context(|| format!("{name} is one of {}", MODES.join(", ")))
}

impl ConnectionSettings {
    /// Adds the settings of the environment: the stronger mode counts, and the authority of the environment. Otherwise,
    /// anyone who can change the place could have the password sent to another server.
    fn with(self, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Self> {
        let (asked, roots) = (variable("PGSSLMODE"), variable("PGSSLROOTCERT"));
        let here = self.mode.as_deref().map(|mode| strength("sslmode", mode)).transpose()?;
        let there = asked.as_deref().map(|mode| strength("PGSSLMODE", mode)).transpose()?;
        let is_checked = there.is_some_and(|mode| MODES[mode].starts_with("verify"));
        if is_checked && roots.is_none() && self.roots.as_ref().is_some_and(|roots| roots != "system") {
            bail!(
                "PGSSLMODE requires a check of the server, but only the place names the authority: set \
                PGSSLROOTCERT to that file where pushplan runs, or remove sslrootcert"
            );
        }
        // An authority without a mode means that the server is verified; with the system's, by its name as well,
        // because anyone can get a certificate from those.
        let usual = |roots: &String| if roots == "system" { MODES.len() - 1 } else { MODES.len() - 2 };
        let checked = roots.as_ref().filter(|_| here.is_some() && there.is_none()).map(usual);
        let mode = here.max(there).max(checked).map(|mode| MODES[mode].to_owned());
        Ok(Self { mode, roots: roots.or(self.roots), ..self })
    }

    /// Returns the setting that asks for less TLS than usual for a server on another machine, if `PGSSLMODE` is not set. Someone who can
    /// change the place could otherwise listen, or answer for the server with an authority of their own.
    fn weaker(&self, host: &Host, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
        let is_here = !matches!(host, Host::Name(name) if !is_loopback(name));
        if is_here || variable("PGSSLMODE").is_some() {
            return None;
        }
        let mode = self.mode.as_ref().filter(|mode| *mode != "verify-full");
        let is_unchecked = mode.is_some_and(|mode| !mode.starts_with("verify"));
        let roots = self.roots.as_ref().filter(|roots| *roots != "system" && !is_unchecked);
        let roots = roots.filter(|_| variable("PGSSLROOTCERT").is_none());
        let mode = mode.map(|mode| ("sslmode", "PGSSLMODE", mode));
        let all: Vec<_> = mode.into_iter().chain(roots.map(|file| ("sslrootcert", "PGSSLROOTCERT", file))).collect();
        let own: Vec<String> = all.iter().map(|(setting, _, value)| format!("{setting}={value}")).collect();
        let theirs: Vec<String> = all.iter().map(|(_, name, value)| format!("{name}={value}")).collect();
        (!all.is_empty()).then(|| {
            format!(
                "only the place sets {}, and passwords are sent only to a checked server: set {} where pushplan \
                    runs, or remove it from the place",
                all_of(&own),
                all_of(&theirs)
            )
        })
    }

    /// Returns the security as libpq would, with two exceptions: a server on another machine is verified by default,
    /// and nothing is sent there unencrypted unless a setting explicitly asks for that.
    fn security(&self, host: &Host) -> anyhow::Result<Security> {
        let is_here = match host {
            Host::Socket(_) => return Ok(Security::Plain),
            Host::Name(name) => is_loopback(name),
        };
        let file = self.roots.as_deref().filter(|roots| *roots != "system").map(|file| Roots::File(file.into()));
        // Roots that are named are meant to be used.
        let usual = if is_here && self.roots.is_none() { "prefer" } else { "verify-full" };
        let mode = self.mode.as_deref().unwrap_or(usual);
        Ok(match (mode, file) {
            ("disable", _) => Security::Plain,
            // Anyone can get a certificate from the system's roots: without the name, it proves nothing.
            ("prefer" | "require" | "verify-ca", None) if self.roots.is_some() => {
                bail!("sslrootcert=system needs sslmode=verify-full");
            }
            ("verify-ca", None) => {
                bail!("sslmode=verify-ca needs sslrootcert=FILE, the certificate of the authority");
            }
            ("require" | "verify-ca", Some(file)) => Security::Issued(file),
            ("prefer", _) => Security::Unchecked { or_plain: is_here },
            ("require", None) => Security::Unchecked { or_plain: false },
            (_, file) => Security::Named(file.unwrap_or(Roots::System)),
        })
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

fn split_port(address: &str) -> anyhow::Result<(&str, Option<u16>)> {
    if address.contains(',') {
        bail!("a place has one server: if there are several, write the primary one");
    }
    let (host, port) = match address.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':')),
        None => address.split_once(':').map_or((address, None), |(host, port)| (host, Some(port))),
    };
    match port.map(str::parse) {
        None => Ok((host, None)),
        Some(Ok(port)) => Ok((host, Some(port))),
        // It may be the start of a password.
        Some(Err(_)) => Err(anyhow!("the port of the place is not a number; {ENCODE}")),
    }
}

/// Returns the database and the schema in a path.
fn names(path: &str) -> anyhow::Result<(String, String)> {
    let mut parts = path.trim_end_matches('/').split('/');
    let database = decoded(parts.next().unwrap_or_default())?;
    let schema = parts.next().map(decoded).transpose()?.unwrap_or_else(|| SCHEMA.to_owned());
    if database.is_empty() || schema.is_empty() || parts.next().is_some() {
        bail!(
            "a place in PostgreSQL ends in /database/schema, or in /database alone for the schema \
                    `pushplan`"
        );
    }
    if database.len().max(schema.len()) > NAME_LIMIT {
        bail!("a database or schema has a name of at most {NAME_LIMIT} bytes");
    }
    Ok((database, schema))
}

fn filled(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

fn decoded(text: &str) -> anyhow::Result<String> {
    let text = percent_decode_str(text).decode_utf8().map_err(|_| anyhow!("the place is not UTF-8"))?;
    if text.contains('\0') { Err(anyhow!("the place contains a zero byte")) } else { Ok(text.into_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_asks_for_no_less_than_the_environment() {
        let security = |place: &str, variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            PostgresPlace::parse_with(place, variable).map(|place| place.security).map_err(|why| why.to_string())
        };
        let full = [("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", "/ca.pem")];
        let file = || Roots::File("/ca.pem".into());
        assert_eq!(security("postgres://localhost/db", &full), Ok(Security::Named(file())));
        for weaker in
            ["sslmode=disable", "sslmode=prefer", "sslmode=require", "sslmode=verify-ca", "sslrootcert=system"]
        {
            for rest in ["", "&sslrootcert=/own.pem"] {
                let place = format!("postgres://db.example/db?{weaker}{rest}");
                assert_eq!(security(&place, &full), Ok(Security::Named(file())), "{place}");
                let with_mode = security(&place, &full[..1]);
                let expected = if rest.is_empty() { Ok(Security::Named(Roots::System)) } else { Err(()) };
                assert_eq!(with_mode.map_err(drop), expected, "{place}");
                let issued = if weaker.contains("mode") { Security::Issued(file()) } else { Security::Named(file()) };
                assert_eq!(security(&place, &full[1..]), Ok(issued), "{place}");
            }
        }
        let stronger = "postgres://db.example/db?sslmode=verify-full";
        let require = [("PGSSLMODE", "require")];
        assert_eq!(security(stronger, &require), Ok(Security::Named(Roots::System)));
        let own = "postgres://db.example/db?sslrootcert=/own.pem";
        assert_eq!(security(own, &require), Ok(Security::Issued(Roots::File("/own.pem".into()))));
        let unchecked = Security::Unchecked { or_plain: false };
        assert_eq!(security("postgres://db.example/db?sslmode=disable", &require), Ok(unchecked));
        let unchecked = Security::Unchecked { or_plain: true };
        assert_eq!(security("postgres://localhost/db", &[("PGSSLMODE", "")]), Ok(unchecked));
        let why = security("postgres://localhost/db", &[("PGSSLMODE", "bogus")]).expect_err("no mode");
        assert_eq!(why, "PGSSLMODE is one of disable, prefer, require, verify-ca, verify-full");
    }

    #[test]
    fn less_than_usual_is_for_the_environment_to_say() {
        let weaker = |place: &str, variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            PostgresPlace::parse_with(&format!("postgres://{place}"), variable).expect(place).weaker
        };
        for (place, says) in [
            ("db.example/db?sslmode=disable", "set PGSSLMODE=disable where"),
            ("db.example/db?sslmode=prefer", "set PGSSLMODE=prefer where"),
            ("db.example/db?sslmode=require", "set PGSSLMODE=require where"),
            ("db.example/db?sslrootcert=/own.pem", "set PGSSLROOTCERT=/own.pem where"),
            ("db.example/db?sslmode=verify-full&sslrootcert=/own.pem", "set PGSSLROOTCERT=/own.pem where"),
            (
                "db.example/db?sslmode=verify-ca&sslrootcert=/own.pem",
                "set PGSSLMODE=verify-ca and PGSSLROOTCERT=/own.pem where",
            ),
        ] {
            let why = weaker(place, &[]).unwrap_or_default();
            assert!(why.contains(says), "{place}: {why}");
            let set = [("PGSSLMODE", "require"), ("PGSSLROOTCERT", "/own.pem")];
            assert_eq!(weaker(place, &set), None, "{place}");
        }
        let authority = [("PGSSLROOTCERT", "/ca.pem")];
        assert_eq!(
            weaker("db.example/db?sslrootcert=/own.pem", &authority),
            None,
            "the authority of the environment counts"
        );
        assert!(weaker("db.example/db?sslmode=require", &authority).is_some());
        for place in [
            "db.example/db",
            "db.example/db?sslmode=verify-full&sslrootcert=system",
            "localhost/db?sslmode=disable",
            "127.0.0.1/db?sslmode=require&sslrootcert=/own.pem",
            "/db?host=/run/pg&sslmode=disable",
        ] {
            assert_eq!(weaker(place, &[]), None, "{place}");
        }
    }

    fn security(place: &str) -> Option<Security> {
        PostgresPlace::parse(place).ok().map(|place| place.security)
    }

    #[test]
    fn a_place_has_a_server_a_database_and_a_schema() {
        let place = PostgresPlace::parse("postgres://ada:s%40me%2Fw@db.example:6543/teams/Push?sslmode=require")
            .expect("sound");
        assert_eq!(place.shown, "postgres://ada@db.example:6543/teams/Push");
        assert_eq!((place.host, place.port), (Host::Name("db.example".into()), 6543));
        assert_eq!((place.user.as_deref(), &*place.database, &*place.schema), (Some("ada"), "teams", "Push"));
        assert_eq!(place.password.expect("given").reveal(), "s@me/w");
        let place = PostgresPlace::parse("postgresql://[::1]/teams").expect("sound");
        assert_eq!((&*place.shown, place.port), ("postgres://[::1]/teams/pushplan", 5432));
        let place = PostgresPlace::parse("postgres://ada@/teams/s?host=/run/pg&port=7").expect("sound");
        assert_eq!((place.host, place.port), (Host::Socket("/run/pg".into()), 7));
        assert_eq!(place.shown, "postgres://ada@:7/teams/s?host=/run/pg");
    }

    #[test]
    fn a_place_that_cannot_be_read_is_not_repeated() {
        for place in [
            "postgres://ada:hunter2@host",
            "postgres://ada:hun@ter2/hunter2@host/db",
            "postgres://ada:hunter2/x@host/db",
            "postgres://ada:hunter2?x@host/db",
            "postgres://ada:hunter2#x@host/db",
            "postgres://ada:hunter2/db",
            "postgres://ada@host/db?hunter2",
            "postgres://ada@host/db?password=hunter2&sslmode=hunter2",
            "postgres://ada:hunter2@host/db/schema/more",
            "postgres://ada:hunter2@a,b/db",
            "postgres://ada:hunter2@/db",
            "postgres://ada:hunter2%ff@host/db",
            "mysql://ada:hunter2@host/db",
        ] {
            let why = PostgresPlace::parse(place).map(|place| place.shown).expect_err(place).to_string();
            assert!(!why.contains("hunter2"), "{place}: {why}");
        }
        let place = PostgresPlace::parse("postgres://ada:hunter2@host/db?password=hunter2").expect("sound");
        assert!(!format!("{place:?}").contains("hunter2"));
    }

    #[test]
    fn another_machine_is_checked_and_never_talked_to_in_the_clear_unasked() {
        let root = || Roots::File("ca.pem".into());
        for (host, query, expected) in [
            ("db.example", "", Security::Named(Roots::System)),
            ("db.example", "?sslrootcert=ca.pem", Security::Named(root())),
            ("db.example", "?sslmode=prefer", Security::Unchecked { or_plain: false }),
            ("db.example", "?sslmode=require", Security::Unchecked { or_plain: false }),
            ("db.example", "?sslmode=require&sslrootcert=ca.pem", Security::Issued(root())),
            ("db.example", "?sslmode=verify-ca&sslrootcert=ca.pem", Security::Issued(root())),
            ("db.example", "?sslmode=verify-full&sslrootcert=system", Security::Named(Roots::System)),
            ("db.example", "?sslmode=disable", Security::Plain),
            ("127.0.0.1.example", "", Security::Named(Roots::System)),
            ("localhost", "", Security::Unchecked { or_plain: true }),
            ("127.0.0.1", "?sslmode=require", Security::Unchecked { or_plain: false }),
            ("[::1]", "?sslmode=verify-full", Security::Named(Roots::System)),
            ("", "?host=/run/pg", Security::Plain),
            ("localhost", "?sslrootcert=ca.pem", Security::Named(root())),
            ("localhost", "?host=db.example", Security::Named(Roots::System)),
        ] {
            assert_eq!(security(&format!("postgres://{host}/db{query}")), Some(expected), "{host}{query}");
        }
        for wrong in ["sslmode=allow", "sslmode=verify-ca", "sslmode=require&sslrootcert=system"] {
            assert!(security(&format!("postgres://db.example/db?{wrong}")).is_none(), "{wrong}");
        }
    }
}

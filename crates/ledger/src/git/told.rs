//! Explains git's errors to people who do not know git.

use pushplan_io::git::{OF_ANOTHER, Silent, Unusable, trust};

use super::super::store::Unread;

/// Why an operation failed, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub why: String,
    pub help: Option<String>,
}

/// Errors of git before anything was sent: signs in its output, their meaning, and how to fix it. The first row with a
/// matching sign counts.
const UNSENT: &[(&[&str], &str, &str)] = &[
    (&["dubious ownership", "unsafe repository"], OF_ANOTHER, "run pushplan as the user who owns these files"),
    (&["No such remote"], "the repository has no such remote", "add it with `git remote add`, or name another one"),
    (
        &["Host key verification failed"],
        "this machine has no key of the server",
        "connect once with ssh, or add its key to known_hosts",
    ),
    (
        &["Permission denied", "error: 403", "not permitted"],
        "permission was denied",
        "check that the key or the token that git uses here may read and push there",
    ),
    (
        &["Authentication failed"],
        "the server refused the credentials",
        "check that the token that git uses here is valid and may read and push there",
    ),
    (
        &["could not read Username", "could not read Password"],
        "the server asks for credentials, and git has none for it",
        "give git a credential helper or a token for it, as CI's checkout does",
    ),
    (
        &["access denied"],
        "permission was denied or there is no such repository",
        "check the address and the server's settings",
    ),
    (
        &["does not exist", "does not appear to be a git repository"],
        "there is no such repository",
        "check the address, or create the repository: `git init --bare`",
    ),
    (&["not found"], "there is no such repository", "check the address, and that the token that git uses may see it"),
    (&["Could not resolve host", "unable to look up"], "the server's name cannot be resolved", NETWORK),
    (
        &["unable to connect", "Connection refused", "Failed to connect", "Couldn't connect"],
        "the server cannot be reached",
        NETWORK,
    ),
    (
        &["Could not read from remote repository"],
        "the server refused access",
        "check the address and the access rights",
    ),
    (&["upon initial contact"], "the server closed the connection at once", "try again, and check the server"),
    (&["unable to access"], "the server cannot be reached", NETWORK),
    (&["not allowed"], "git is not allowed to use that protocol", "use https, ssh, git or a folder"),
];

const NETWORK: &str = "check the address and the network";

/// Returns the row that has a sign in a text.
fn row(text: &str) -> Option<&'static (&'static [&'static str], &'static str, &'static str)> {
    UNSENT.iter().find(|(signs, ..)| signs.iter().any(|sign| text.contains(sign)))
}

impl Trouble {
    pub fn new(why: &str) -> Self {
        Self { why: why.to_owned(), help: None }
    }

    pub fn with(why: &str, help: &str) -> Self {
        Self { why: why.to_owned(), help: Some(help.to_owned()) }
    }

    /// Explains an error of git.
    pub fn of(err: &str) -> Self {
        if let Some(help) = trust(err) {
            return Self::with(OF_ANOTHER, &help);
        }
        let said = telling(err);
        match row(err) {
            Some((_, why, help)) => Self::with(&format!("{why} ({said})"), help),
            None => Self::new(&format!("git says: {said}")),
        }
    }

    /// Whether git's output proves that nothing was sent.
    pub(crate) fn is_unsent(err: &str) -> bool {
        let begun = ["RPC failed", "hung up unexpectedly", "unexpected disconnect", "remote failed to report"];
        // Lines from the server may come from its hooks.
        let own = err.lines().filter(|line| !line.starts_with("remote:"));
        !begun.iter().any(|sign| err.contains(sign)) && own.into_iter().any(|line| row(line).is_some())
    }

    /// Adds the place where it happened.
    pub fn at(self, place: &str) -> Self {
        Self { why: format!("{place}: {}", self.why), ..self }
    }

    pub fn told(&self) -> String {
        match &self.help {
            Some(help) => format!("{}; {help}", self.why),
            None => self.why.clone(),
        }
    }
}

impl From<Silent> for Trouble {
    fn from(silent: Silent) -> Self {
        match silent {
            Silent::NotStarted(why) => Self::with(&why, "install git 2.30 or later, or keep the ledger elsewhere"),
            Silent::TooSlow(limit) => Self::with(
                &format!("git was stopped because it had not finished after {} s", limit.as_secs()),
                "check the network and the server, and that git does not prompt for input",
            ),
            Silent::Broken(why) => Self::new(&format!("what git says cannot be read: {why}")),
        }
    }
}

impl From<Unusable> for Trouble {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Silent(silent) => silent.into(),
            Unusable::Refused(err) => Self::of(&err),
            Unusable::Unsafe { why, help } => Self { why, help: Some(help) },
        }
    }
}

impl From<Trouble> for Unread {
    fn from(Trouble { why, help }: Trouble) -> Self {
        Self::Failed { why, help }
    }
}

/// Joins the lines that contain the error.
fn telling(err: &str) -> String {
    const LONGEST: usize = 300;
    let is_telling = |line: &&str| ["fatal:", "error:", "remote:", "ssh:"].iter().any(|sign| line.starts_with(sign));
    let mut lines: Vec<&str> = err.lines().map(str::trim).filter(is_telling).collect();
    if lines.is_empty() {
        lines = err.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    }
    lines.dedup();
    let told: String = lines.join("; ").chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    if told.is_empty() { "nothing".to_owned() } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gits_words_are_put_into_ours() {
        let trouble = Trouble::of(
            "git@h.example: Permission denied (publickey).\nfatal: Could not read from remote repository.\n",
        );
        assert!(trouble.why.starts_with("permission was denied (fatal: Could not read"), "{trouble:?}");
        assert!(trouble.help.is_some());
        assert_eq!(Trouble::of("odd\n").why, "git says: odd");
        assert_eq!(Trouble::of("").why, "git says: nothing");
    }

    #[test]
    fn what_broke_off_may_have_been_sent() {
        assert!(Trouble::is_unsent("fatal: unable to access 'http://h.example/': Couldn't connect to server"));
        assert!(!Trouble::is_unsent("error: RPC failed; HTTP 502\nfatal: the remote end hung up unexpectedly"));
        assert!(!Trouble::is_unsent(""));
    }
}

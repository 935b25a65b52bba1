//! The one screen of a service that has started.

use std::fmt;

/// What a user needs to know to use it. The first line ends in the address, for programs.
#[derive(Debug)]
pub struct Ready {
    /// How a client on this machine calls it.
    pub origin: String,
    /// The keys of its applications.
    pub apps: Vec<String>,
    /// The secret, where it is the default one. A secret of the user's own is not repeated: what is printed ends up in logs.
    pub secret: Option<String>,
    /// What else there is to say, each with its heading.
    pub rows: Vec<(&'static str, String)>,
}

impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, apps, secret, rows } = self;
        writeln!(f, "Ready on {origin}\n")?;
        writeln!(f, "  export PUSHPLAN_ORIGIN={origin}")?;
        for key in apps.iter().take(1) {
            writeln!(f, "  export PUSHPLAN_APP_KEY={key}")?;
        }
        match secret {
            Some(secret) => writeln!(f, "  export PUSHPLAN_MASTER_SECRET={secret}\n")?,
            None => writeln!(f, "  # and PUSHPLAN_MASTER_SECRET: the secret that you gave with --app\n")?,
        }
        if apps.len() > 1 {
            writeln!(f, "  {:<11} {}", "Apps", apps.join(", "))?;
        }
        for (heading, words) in rows {
            writeln!(f, "  {heading:<11} {words}")?;
        }
        writeln!(f, "  {:<11} {origin}/local: devices, audiences, the clock, the log of requests", "Control")?;
        writeln!(f, "\nCtrl-C stops it.")
    }
}

//! The one screen of a service that has started.

use std::fmt;
use std::path::PathBuf;

use crate::text::shell_word;

/// What a user needs to know to use it. The first line ends in the address, for programs.
#[derive(Debug)]
pub struct Ready {
    /// How a client on this machine calls it.
    pub origin: String,
    /// The keys of its applications.
    pub apps: Vec<String>,
    /// How a client gets the secret.
    pub access: Access,
    /// What else there is to say, each with its heading.
    pub rows: Vec<(&'static str, String)>,
}

/// How a client gets the secret of the first application.
#[derive(Debug)]
pub enum Access {
    /// The user gave it. It is not repeated: what is printed ends up in logs.
    Given,
    /// A file of the project has it, for a shell to read.
    File(PathBuf),
    /// It is for this one run, and nothing else has it.
    Shown(String),
}

impl fmt::Display for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, apps, access, rows } = self;
        writeln!(f, "Ready on {origin}\n")?;
        writeln!(f, "  export PUSHPLAN_ORIGIN={origin}")?;
        if let Access::File(file) = access {
            let file = file.display().to_string();
            writeln!(f, "  . {}  # PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET\n", shell_word(&file))?;
        } else {
            for key in apps.iter().take(1) {
                writeln!(f, "  export PUSHPLAN_APP_KEY={key}")?;
            }
        }
        match access {
            Access::File(_) => {}
            Access::Shown(secret) => {
                writeln!(f, "  export PUSHPLAN_MASTER_SECRET={secret}\n")?;
                writeln!(f, "  {:<11} random, until it stops; a project stores its own", "Credentials")?;
            }
            Access::Given => writeln!(f, "  # and PUSHPLAN_MASTER_SECRET: the secret that you gave with --app\n")?,
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

//! The start screen of a service.

use std::fmt;
use std::path::PathBuf;

use crate::text::shell_word;

/// The facts that a user needs. The first line ends with the address, for programs.
#[derive(Debug)]
pub struct Ready {
    /// The URL for clients on this machine.
    pub origin: String,
    /// The keys of its applications.
    pub apps: Vec<String>,
    /// How a client gets the secret.
    pub access: Access,
    /// Further facts, each with its heading.
    pub rows: Vec<(&'static str, String)>,
}

/// How a client gets the secret of the first application.
#[derive(Debug)]
pub enum Access {
    /// The user gave it. It is not printed, because output ends up in logs.
    Given,
    /// It is in a file of the project, which a shell can read.
    File(PathBuf),
    /// It is valid for this run only and stored nowhere else.
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

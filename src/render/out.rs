//! The one place that writes to the terminal.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};

use super::visible::visible;
use crate::failure::Failure;

/// Standard output and standard error. A reader that has gone away ends the run quietly and is not an error.
#[derive(Debug)]
pub struct Out {
    color: ColorChoice,
}

impl Out {
    pub fn new(color: ColorChoice) -> Self {
        Self { color }
    }

    /// Whether standard output shows colour.
    pub fn is_colored(&self) -> bool {
        !matches!(AutoStream::new(io::stdout(), self.color).current_choice(), ColorChoice::Never)
    }

    /// How many columns a line has: as `COLUMNS` says, as the terminal has, or 100.
    pub fn width(&self) -> usize {
        let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
        told.or_else(seen).unwrap_or(100).max(40)
    }

    /// Writes bytes to standard output exactly as they are, for whoever reads them with a program.
    pub fn exact(&self, bytes: &[u8]) {
        let mut to = io::stdout().lock();
        finish(&to.write_all(bytes).and_then(|()| to.flush()));
    }

    /// Writes a text with its final line break to standard output.
    pub fn print(&self, text: &str) {
        let mut to = AutoStream::new(io::stdout().lock(), self.color);
        finish(&write(&mut to, text));
    }

    /// Writes a text with its final line break to standard error.
    pub fn note(&self, text: &str) {
        let mut to = AutoStream::new(io::stderr().lock(), self.color);
        finish(&write(&mut to, text));
    }

    /// Says why a command could not do its work.
    pub fn failure(&self, failure: &Failure) {
        let bold = anstyle::AnsiColor::Red.on_default().bold();
        let mut text = format!("{bold}error{bold:#}: {}", visible(&failure.message));
        if let Some(help) = &failure.help {
            text.push_str("\n  = help: ");
            text.push_str(&visible(help));
        }
        self.note(&text);
    }
}

fn write(to: &mut impl Write, text: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    if !text.ends_with('\n') && !text.is_empty() {
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// A closed pipe means that the reader has seen enough: `pushplan ... | head`. Any other failure to write has nobody left to
/// be told.
fn finish(result: &io::Result<()>) {
    if result.is_err() {
        std::process::exit(1);
    }
}

//! The one place that writes to the terminal.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};

use super::escape::{json, stream};
use super::layout::Style;
use super::visible::visible;
use crate::failure::Failure;

/// Standard output and standard error. A reader that has gone away ends the run quietly and is not an error.
#[derive(Clone, Debug)]
pub struct Out {
    color: ColorChoice,
    ascii: bool,
}

/// The fewest columns that lines are laid out for.
const NARROWEST: usize = 20;

impl Out {
    pub fn new(color: ColorChoice) -> Self {
        Self { color, ascii: is_ascii(|name| std::env::var(name).ok()) }
    }

    /// How standard output shows text.
    pub fn style(&self) -> Style {
        Style { width: self.width(), color: self.is_colored(), ascii: self.ascii }
    }

    fn is_colored(&self) -> bool {
        !matches!(AutoStream::new(io::stdout(), self.color).current_choice(), ColorChoice::Never)
    }

    /// How many columns a line has: as `COLUMNS` says, as the terminal has, or 100.
    fn width(&self) -> usize {
        let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|told| *told > 0);
        let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
        told.or_else(seen).unwrap_or(100).max(NARROWEST)
    }

    /// Writes bytes to standard output exactly as they are, for whoever reads them with a program.
    pub fn exact(&self, bytes: &[u8]) {
        let mut to = io::stdout().lock();
        finish(&to.write_all(bytes).and_then(|()| to.flush()));
    }

    /// The same to standard error, beside something else that a program reads.
    pub fn exact_note(&self, bytes: &[u8]) {
        let mut to = io::stderr().lock();
        finish(&to.write_all(bytes).and_then(|()| to.flush()));
    }

    /// Writes a JSON document to standard output. A program reads what was written; a log that it ends up in obeys nothing
    /// of it.
    pub fn json(&self, document: &str) {
        self.exact(json::text(document).as_bytes());
    }

    /// Writes a text with its final line break to standard output.
    pub fn print(&self, text: &str) {
        let mut to = AutoStream::new(io::stdout().lock(), self.color);
        finish(&write(&mut to, &stream::text(text, self.ascii), "\n"));
    }

    /// Writes a text with its final line break to standard error.
    pub fn note(&self, text: &str) {
        let mut to = AutoStream::new(io::stderr().lock(), self.color);
        finish(&write(&mut to, &stream::text(text, self.ascii), "\n"));
    }

    /// Writes a question to standard error; the answer stands on the same line.
    pub fn ask(&self, question: &str) {
        let mut to = AutoStream::new(io::stderr().lock(), self.color);
        finish(&write(&mut to, &stream::text(&visible(question), self.ascii), " "));
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

/// Whether the locale says that a terminal shows ASCII alone: it is `C` or `POSIX`, or names a character set that is not
/// UTF-8. Machines that build and test often have none at all, and show UTF-8.
fn is_ascii(variable: impl Fn(&str) -> Option<String>) -> bool {
    let told = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|locale| !locale.is_empty());
    let Some(locale) = told else { return false };
    let name = locale.split('@').next().unwrap_or_default();
    match name.split_once('.') {
        Some((_, set)) => !matches!(set.to_ascii_lowercase().as_str(), "utf-8" | "utf8"),
        None => matches!(name, "C" | "POSIX"),
    }
}

fn write(to: &mut impl Write, text: &str, end: &str) -> io::Result<()> {
    to.write_all(text.as_bytes())?;
    if !text.ends_with('\n') && !text.is_empty() {
        to.write_all(end.as_bytes())?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_says_what_can_be_shown() {
        let ascii = |set: &[(&str, &str)]| {
            is_ascii(|name| set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(!ascii(&[]));
        for locale in ["", "C.UTF-8", "en_US.UTF-8", "de_DE.utf8@euro", "UTF-8", "en_US", "he"] {
            assert!(!ascii(&[("LANG", locale)]), "{locale}");
        }
        for locale in ["C", "POSIX", "en_US.ISO-8859-1", "ja_JP.eucJP", "C.ANSI_X3.4-1968"] {
            assert!(ascii(&[("LANG", locale)]), "{locale}");
        }
        assert!(ascii(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]));
        assert!(!ascii(&[("LC_ALL", ""), ("LC_CTYPE", "C.UTF-8"), ("LANG", "C")]));
    }
}

//! The only place that writes to the terminal.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};
use serde::Serialize;

use super::commands::Commands;
use super::escape::{json, stream};
use super::format::{Format, Reader};
use super::layout::Style;
use crate::failure::Failure;
use crate::guard::Refused;
use crate::text::visible;

/// Standard output and standard error. Their errors do not end a run: work that was begun on the service or in a ledger
/// is completed and recorded, even if nobody reads the output.
#[derive(Clone, Debug)]
pub struct Out {
    color: ColorChoice,
    ascii: bool,
    stdout: Stream,
    stderr: Stream,
    /// How commands are written.
    commands: Arc<Commands>,
    /// The output for one of several targets, kept instead of printed.
    kept: Option<Arc<Mutex<Vec<u8>>>>,
}

/// One of the two streams. After a failed write, nothing more is written, because a text with a gap would be
/// misleading.
#[derive(Clone, Debug, Default)]
struct Stream(Arc<Mutex<StreamState>>);

#[derive(Debug, Default)]
enum StreamState {
    #[default]
    Open,
    /// The reader closed the stream: `pushplan ... | head`.
    Closed,
    /// Some output was lost, for this reason.
    Lost(String),
}

impl Stream {
    fn put(&self, write: impl FnOnce() -> io::Result<()>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*state, StreamState::Open) {
            return;
        }
        if let Err(error) = write() {
            *state = match error.kind() {
                io::ErrorKind::BrokenPipe => StreamState::Closed,
                _ => StreamState::Lost(error.to_string()),
            };
        }
    }
}

/// The smallest width that lines are laid out for.
const NARROWEST: usize = 20;

impl Out {
    pub fn new(color: ColorChoice) -> Self {
        let ascii = is_ascii(|name| std::env::var(name).ok());
        let commands = Arc::default();
        Self { color, ascii, stdout: Stream::default(), stderr: Stream::default(), commands, kept: None }
    }

    /// Sets how texts write commands.
    pub fn saying(self, commands: Commands) -> Self {
        Self { commands: Arc::new(commands), ..self }
    }

    /// Keeps the output for one of several targets, to be combined with that of the others. Commands name this target.
    pub fn of_target(&self, target: &str) -> Self {
        let commands = Commands { target: Some(target.to_owned()), ..(*self.commands).clone() };
        Self { commands: Arc::new(commands), ..self.keeping() }
    }

    /// Keeps the output instead of printing it.
    pub fn keeping(&self) -> Self {
        Self { kept: Some(Arc::default()), ..self.clone() }
    }

    /// Whether the output is kept, because other runs print at the same time.
    pub fn keeps(&self) -> bool {
        self.kept.is_some()
    }

    /// Returns the kept output.
    pub fn kept(&self) -> String {
        let kept = self.kept.as_ref().map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner).clone());
        String::from_utf8_lossy(&kept.unwrap_or_default()).into_owned()
    }

    /// Writes something to standard output, or keeps it.
    fn put(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        match &self.kept {
            Some(kept) => self.stdout.put(|| write(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner))),
            None => self.stdout.put(|| write(&mut io::stdout().lock())),
        }
    }

    /// Completes the commands in a text so that they can be pasted, even if the text does not go to standard error,
    /// where all commands are completed. For one of several targets, they name it.
    pub fn said(&self, text: &str, one: Option<&str>) -> String {
        self.commands.complete_for(text, one.or(self.commands.target.as_deref())).into_owned()
    }

    /// Completes the commands in a failure of one of several targets, so that they can be pasted.
    pub fn why(&self, failure: Failure, target: &str) -> Failure {
        let Failure { kind, message, help } = failure;
        let said = |text: String| self.said(&text, Some(target));
        Failure { kind, message: said(message), help: help.map(said) }
    }

    /// Completes the commands in the help of refusals, so that they can be pasted.
    pub fn refused(&self, all: Vec<Refused>, one: Option<&str>) -> Vec<Refused> {
        all.into_iter().map(|refused| Refused { help: self.said(&refused.help, one), ..refused }).collect()
    }

    /// Why output was lost on standard output, unless its reader closed it.
    pub fn lost(&self) -> Option<String> {
        match &*self.stdout.0.lock().unwrap_or_else(PoisonError::into_inner) {
            StreamState::Lost(why) => Some(why.clone()),
            StreamState::Open | StreamState::Closed => None,
        }
    }

    /// The style of standard output.
    pub fn style(&self) -> Style {
        Style { width: self.width(), color: self.is_colored(), ascii: self.ascii }
    }

    fn is_colored(&self) -> bool {
        !matches!(AutoStream::new(io::stdout(), self.color).current_choice(), ColorChoice::Never)
    }

    /// The width of a line: from `COLUMNS`, else from the terminal, else 100.
    fn width(&self) -> usize {
        let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|told| *told > 0);
        let seen = || terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0));
        told.or_else(seen).unwrap_or(100).max(NARROWEST)
    }

    /// Writes bytes to standard output unchanged, for programs.
    pub fn exact(&self, bytes: &[u8]) {
        self.put(|to| to.write_all(bytes).and_then(|()| to.flush()));
    }

    /// Writes bytes to standard error unchanged, while a program reads standard output.
    pub(crate) fn exact_note(&self, bytes: &[u8]) {
        let mut to = io::stderr().lock();
        self.stderr.put(|| to.write_all(bytes).and_then(|()| to.flush()));
    }

    /// Writes a JSON document to standard output, escaped so that it cannot control a terminal or log that shows it.
    pub fn json(&self, document: &str) {
        self.exact(json::text(document).as_bytes());
    }

    /// Writes a JSON document to standard output as [`Out::json`] does, but serializes it directly: a long one is never
    /// whole in memory.
    pub fn json_of(&self, document: &impl Serialize) {
        self.put(|to| {
            let mut to = json::Escaped::new(to);
            serde_json::to_writer_pretty(&mut to, document)?;
            to.write_all(b"\n")?;
            to.flush()
        });
    }

    /// Writes a document to standard output in the way that the reader of its format needs.
    pub fn show(&self, format: Format, text: &str) {
        match format.reader() {
            Reader::Person => self.print(text),
            Reader::Json => self.json(text),
            Reader::Bytes => self.exact(text.as_bytes()),
        }
    }

    /// Writes a text with its final line break to standard output.
    pub fn print(&self, text: &str) {
        if self.kept.is_some() {
            // It is printed later, with the output of other targets, and escaped then.
            return self.put(|mut to| write(&mut to, text, "\n"));
        }
        let text = stream::text(text, self.ascii);
        let mut to = io::stdout().lock();
        self.stdout.put(|| match text.contains('\u{1b}') {
            true => write(&mut AutoStream::new(to, self.color), &text, "\n"),
            // Text without colours is the same on every terminal.
            false => write(&mut to, &text, "\n"),
        });
    }

    /// Writes a text with its final line break to standard error.
    pub fn note(&self, text: &str) {
        let mut to = AutoStream::new(io::stderr().lock(), self.color);
        let text = self.commands.complete(text);
        self.stderr.put(|| write(&mut to, &stream::text(&text, self.ascii), "\n"));
    }

    /// Writes a question to standard error; the answer follows on the same line.
    pub fn ask(&self, question: &str) {
        let mut to = AutoStream::new(io::stderr().lock(), self.color);
        self.stderr.put(|| write(&mut to, &stream::text(&visible(question), self.ascii), " "));
    }

    /// Prints a failure to standard error.
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

/// Whether the locale says that the terminal shows only ASCII: it is `C` or `POSIX`, or names a character set other
/// than UTF-8. Build machines often have no locale, and show UTF-8.
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

//! XLIFF 2.0, one file for each language.
//!
//! Entities of a document type and document types themselves are refused, so a small file cannot become a large one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion, escape};

use super::{ExchangedName, ExchangedText, ImportProblem, exchanged, problem, shown};
use crate::manifest::{TranslatedText, TranslationTable};

const NAMESPACE: &str = "urn:oasis:names:tc:xliff:document:2.0";

/// The maximum depth of elements.
const DEPTH: usize = 64;

const EXPORT_AGAIN: &str = "export the texts again: `pushplan locales export --format xliff`";

/// The texts of catalogues and their translations to one locale.
pub fn written(table: &TranslationTable, source: &str, locale: &str) -> String {
    let mut folders: BTreeMap<&str, Vec<(&str, &TranslatedText)>> = BTreeMap::new();
    for (message, text) in exchanged(table) {
        folders.entry(message.folder.as_deref().unwrap_or_default()).or_default().push((&message.key, text));
    }
    let (source, target) = (attribute(source), attribute(&tag(locale)));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xliff xmlns=\"{NAMESPACE}\" version=\"2.0\" srcLang=\"{source}\" \
         trgLang=\"{target}\">\n"
    );
    for (folder, texts) in folders {
        let original = attribute(&format!("{folder}/{locale}.yaml"));
        let _ = writeln!(out, "  <file id=\"{}\" original=\"{original}\">", attribute(&id(folder)));
        for (message, text) in texts {
            let own = text.translations.get(locale);
            let state = if own.is_some() { "translated" } else { "initial" };
            let (id, name) = (attribute(&unit(message, &text.field)), attribute(&format!("{message} {}", text.field)));
            let _ = write!(
                out,
                "    <unit id=\"{id}\" name=\"{name}\">\n      <segment state=\"{state}\">\n        \
                 <source xml:space=\"preserve\">{}</source>\n",
                content(&text.common.text)
            );
            if let Some(own) = own {
                let _ = writeln!(out, "        <target xml:space=\"preserve\">{}</target>", content(&own.text));
            }
            out.push_str("      </segment>\n    </unit>\n");
        }
        out.push_str("  </file>\n");
    }
    out + "</xliff>\n"
}

/// The language tag of a locale: a country without a language needs one.
fn tag(locale: &str) -> String {
    let is_country = locale.starts_with(|c: char| c.is_ascii_uppercase());
    if is_country { format!("und-{locale}") } else { locale.to_owned() }
}

/// The id of the unit of a text.
pub fn unit(message: &str, field: &str) -> String {
    id(&format!("{message}/{field}"))
}

/// A name as an id, which has few signs. Different names have different ids.
fn id(name: &str) -> String {
    let mut out = String::new();
    for sign in name.chars() {
        match sign {
            '/' => out.push(':'),
            sign if sign.is_ascii_alphanumeric() || "-_.".contains(sign) => out.push(sign),
            sign => {
                let _ = write!(out, "\u{b7}{:x}\u{b7}", u32::from(sign));
            }
        }
    }
    out
}

/// A value of an attribute in double quotes.
fn attribute(text: &str) -> String {
    let text = escape::escape(text).replace('\t', "&#9;").replace('\n', "&#10;").replace('\r', "&#13;");
    text.chars().filter(|sign| is_allowed(*sign)).collect()
}

/// The content of an element. XLIFF has an element for the signs that XML does not allow.
fn content(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '\r' => out.push_str("&#13;"),
            sign if is_allowed(sign) => out.push_str(&escape::escape(sign.encode_utf8(&mut [0; 4]) as &str)),
            sign => {
                let _ = write!(out, "<cp hex=\"{:04X}\"/>", u32::from(sign));
            }
        }
    }
    out
}

/// Whether XML 1.0 allows a sign.
fn is_allowed(sign: char) -> bool {
    matches!(sign, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Reads the texts of a document.
pub fn read(file: &str) -> Result<Vec<ExchangedText>, Vec<ImportProblem>> {
    let mut document = Document { file, line: 1, seen: 0, ..Document::default() };
    let mut reader = Reader::from_str(file);
    reader.config_mut().expand_empty_elements = true;
    loop {
        let event = reader.read_event();
        let begun = document.line;
        document.advance(reader.buffer_position());
        let read = match event {
            Ok(Event::Eof) => break,
            Ok(event) => document.event(event, begun),
            Err(error) => {
                document.advance(reader.error_position());
                let message = format!("the file is not valid XML: {error}");
                Err(problem(document.line, message, "ask the translator for a complete file"))
            }
        };
        if let Err(problem) = read {
            document.problems.push(problem);
            return Err(document.problems);
        }
    }
    document.end()
}

#[derive(Default)]
struct Document<'f> {
    file: &'f str,
    /// The line of the byte up to which the file is read.
    line: usize,
    seen: usize,
    /// The names of the open elements.
    open: Vec<String>,
    /// The locale of the translations.
    locale: Option<String>,
    unit: Option<Unit>,
    texts: Vec<ExchangedText>,
    problems: Vec<ImportProblem>,
}

/// A unit that is being read.
#[derive(Default)]
struct Unit {
    id: String,
    line: usize,
    source: String,
    target: String,
    /// The source of the current segment or white space between segments, and whether that has a target.
    part: (String, bool),
    /// The segments, and those with a translation.
    segments: [usize; 2],
}

impl Document<'_> {
    fn advance(&mut self, position: u64) {
        let to = usize::try_from(position).unwrap_or(self.file.len()).clamp(self.seen, self.file.len());
        self.line += self.file.as_bytes()[self.seen..to].iter().filter(|byte| **byte == b'\n').count();
        self.seen = to;
    }

    fn event(&mut self, event: Event, line: usize) -> Result<(), ImportProblem> {
        match event {
            Event::Start(start) => {
                self.begin(&start, line)?;
                self.open.push(start.local_name().as_ref().to_owned());
            }
            Event::End(_) => {
                match (self.open.pop().as_deref(), &mut self.unit) {
                    (Some("unit"), _) => self.end_unit(),
                    // White space that nobody translated stays.
                    (Some("ignorable"), Some(Unit { part: (source, false), target, .. })) => target.push_str(source),
                    _ => {}
                }
            }
            Event::Text(text) => self.add(&text.xml10_content()),
            Event::CData(text) => self.add(&text.xml10_content()),
            Event::GeneralRef(name) => {
                let sign = name.resolve_char_ref().ok().flatten().map(String::from);
                let known = || escape::resolve_predefined_entity(&name.xml10_content()).map(str::to_owned);
                let Some(text) = sign.or_else(known) else {
                    let message = format!("`&{};` is not one of XML's own entities", shown(&name.xml10_content()));
                    return Err(problem(line, message, "write the sign itself"));
                };
                self.add(&text);
            }
            Event::DocType(_) => {
                let message = "the file has a document type (<!DOCTYPE>), which pushplan does not read";
                return Err(problem(line, message, "remove it; XLIFF needs none"));
            }
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::Eof => {}
        }
        Ok(())
    }

    fn begin(&mut self, start: &BytesStart, line: usize) -> Result<(), ImportProblem> {
        let name = start.local_name();
        let name = name.as_ref();
        if self.open.len() >= DEPTH {
            return Err(problem(line, "the elements are nested too deeply", EXPORT_AGAIN));
        }
        match (self.open.as_slice(), name) {
            ([], "xliff") => self.root(start, line)?,
            ([], other) => {
                let message = format!("the file is not XLIFF: it begins with <{}>", shown(other));
                return Err(problem(line, message, "pass an XLIFF 2 file or a CSV file"));
            }
            (_, "unit") => {
                let id = value(start, "id", line)?.unwrap_or_default();
                self.unit = Some(Unit { id, line, ..Unit::default() });
            }
            (_, "segment" | "ignorable") => {
                if let Some(unit) = &mut self.unit {
                    unit.segments[0] += usize::from(name == "segment");
                    unit.part = Default::default();
                }
            }
            ([.., above], "target") => {
                let is_segment = above == "segment";
                let is_part = is_segment || above == "ignorable";
                if is_part && value(start, "order", line)?.is_some() {
                    let message = "a <target> has `order`: segments in another order cannot be imported";
                    return Err(problem(
                        line,
                        message,
                        "ask the translator to join the segments, or to keep their order",
                    ));
                }
                if let Some(unit) = &mut self.unit {
                    unit.segments[1] += usize::from(is_segment);
                    unit.part.1 |= is_part;
                }
            }
            (_, "cp") => {
                let hex = value(start, "hex", line)?.unwrap_or_default();
                let Some(sign) = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) else {
                    return Err(problem(line, format!("`{}` is not the code of a sign", shown(&hex)), EXPORT_AGAIN));
                };
                self.add(sign.encode_utf8(&mut [0; 4]));
            }
            _ => {}
        }
        Ok(())
    }

    fn root(&mut self, start: &BytesStart, line: usize) -> Result<(), ImportProblem> {
        let version = value(start, "version", line)?.unwrap_or_default();
        if !version.starts_with("2.") {
            let message = format!("the file is XLIFF {}, not XLIFF 2", shown(&version));
            return Err(problem(line, message, "ask the translator for XLIFF 2.0"));
        }
        let Some(target) = value(start, "trgLang", line)? else {
            return Err(problem(line, "<xliff> has no trgLang, the language of the translations", EXPORT_AGAIN));
        };
        self.locale = Some(target.strip_prefix("und-").unwrap_or(&target).to_owned());
        Ok(())
    }

    /// Adds to the text that is being read.
    fn add(&mut self, text: &str) {
        let Some(unit) = &mut self.unit else { return };
        // Proposals of a tool, such as those of a translation memory, have a source and a target as well.
        let within = self.open.iter().rposition(|name| ["source", "target", "note", "data"].contains(&name.as_str()));
        let above = within.and_then(|at| Some((self.open.get(at.checked_sub(1)?)?.as_str(), self.open[at].as_str())));
        match above {
            Some(("segment" | "ignorable", "source")) => {
                unit.source.push_str(text);
                unit.part.0.push_str(text);
            }
            Some(("segment" | "ignorable", "target")) => unit.target.push_str(text),
            _ => {}
        }
    }

    fn end_unit(&mut self) {
        let Some(Unit { id, line, source, target, segments, part: _ }) = self.unit.take() else { return };
        // A unit that is translated in part is not translated yet.
        let text = if segments[0] == segments[1] { target } else { String::new() };
        let locale = self.locale.clone().unwrap_or_default();
        self.texts.push(ExchangedText { line, name: ExchangedName::Unit(id), locale, common: Some(source), text });
    }

    fn end(mut self) -> Result<Vec<ExchangedText>, Vec<ImportProblem>> {
        if let Some(name) = self.open.last() {
            let message = format!("the file ends within <{}>", shown(name));
            self.problems.push(problem(self.line, message, "ask the translator for a complete file"));
        } else if self.locale.is_none() {
            self.problems.push(problem(1, "the file is not XLIFF: it has no <xliff>", EXPORT_AGAIN));
        }
        if self.problems.is_empty() { Ok(self.texts) } else { Err(self.problems) }
    }
}

/// The value of an attribute.
fn value(start: &BytesStart, name: &str, line: usize) -> Result<Option<String>, ImportProblem> {
    let wrong = |error: &dyn std::fmt::Display| {
        problem(line, format!("an attribute is not valid XML: {error}"), "ask the translator for a complete file")
    };
    let found = start.try_get_attribute(name).map_err(|error| wrong(&error))?;
    let read = found.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0).map(Cow::into_owned));
    read.transpose().map_err(|error| wrong(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        for text in [
            "plain",
            "a < b & c > d",
            "\"quotes\" 'too'",
            "two\nlines\r\nthree\rfour",
            " edge ",
            "\u{1b}[2J",
            "]]>",
            "\u{fffe}",
            "🎉",
        ] {
            let file = format!(
                "<xliff version=\"2.0\" trgLang=\"de\"><file id=\"f\"><unit id=\"{}\"><segment><source>x</source><target>{}</target>\
                 </segment></unit></file></xliff>",
                unit("templates/t", "open::sms.title"),
                content(text)
            );
            let read = read(&file).expect("texts");
            assert_eq!((read[0].text.as_str(), read[0].locale.as_str()), (text, "de"), "{file}");
            assert_eq!(read[0].name, ExchangedName::Unit(unit("templates/t", "open::sms.title")));
        }
        assert_ne!(unit("a/b", "c:d"), unit("a/b/c", "d"));
        assert_eq!(unit("scheduled_pushes/sale", "ios.title"), "scheduled_pushes:sale:ios.title");
    }

    #[test]
    fn segments_and_inline_elements_are_joined() {
        let file = "<xliff version='2.1' trgLang='und-AT'><file id='f'>\n<unit id='u'><notes><note>N</note></notes><segment><source>A</source>\
                    <target>A<pc id='1'>B</pc></target></segment><ignorable><source> </source><target> </target></ignorable><segment>\
                    <source>B</source><target><mrk id='m'>C</mrk><![CDATA[<D>]]>&#69;&amp;</target></segment></unit>\n\
                    <unit id='v'><segment><source>A</source><target>B</target></segment><segment><source>C</source></segment></unit></file></xliff>";
        let read = read(file).expect("texts");
        let texts: Vec<_> = read.iter().map(|one| (one.line, one.common.as_deref(), one.text.as_str())).collect();
        assert_eq!(texts, [(2, Some("A B"), "AB C<D>E&"), (3, Some("AC"), "")]);
        assert_eq!(read[0].locale, "AT");
    }

    #[test]
    fn proposals_of_a_translation_memory_are_no_translations() {
        let file = "<xliff version='2.0' trgLang='de'><file id='f'><unit id='u'><mtc:matches xmlns:mtc='m'><mtc:match><source>Old</source>\
                    <target>Alt</target></mtc:match></mtc:matches><segment><source>New</source><target>Neu</target></segment>\
                    <ignorable><source> </source></ignorable><segment><source>B</source><target>C</target></segment></unit></file></xliff>";
        let read = read(file).expect("texts");
        assert_eq!((read[0].common.as_deref(), read[0].text.as_str()), (Some("New B"), "Neu C"));
    }

    #[test]
    fn problems_have_their_line() {
        let root = "<xliff version='2.0' trgLang='de'>";
        for (file, line, message) in [
            ("<!DOCTYPE xliff [<!ENTITY a 'b'>]>\n<xliff/>".to_owned(), 1, "document type"),
            (format!("{root}\n<file><unit id='u'><segment><target>&a;</target>"), 2, "`&a;`"),
            ("\n<html></html>".to_owned(), 2, "begins with <html>"),
            ("<xliff version='1.2'></xliff>".to_owned(), 1, "XLIFF 1.2"),
            ("<xliff version='2.0'></xliff>".to_owned(), 1, "trgLang"),
            (format!("{root}\n<file>\n</xliff>"), 3, "not valid XML"),
            (format!("{root}\n<file>\n<unit id='u'>"), 3, "ends within <unit>"),
            (format!("{root}{}", "<a>".repeat(100)), 1, "nested too deeply"),
            (format!("{root}<unit id='&#0;'/></xliff>"), 1, "not valid XML"),
            ("<?xml version='1.0'?>\n<!-- nothing -->\n".to_owned(), 1, "no <xliff>"),
        ] {
            let problems = read(&file).expect_err(&file);
            assert_eq!((problems.len(), problems[0].line), (1, line), "{file}: {problems:?}");
            assert!(problems[0].message.contains(message), "{file}: {problems:?}");
        }
    }
}

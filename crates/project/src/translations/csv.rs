//! Comma-separated values according to RFC 4180, without loss. `render::csv` is for tables that nobody reads back.

use std::iter::Peekable;
use std::str::CharIndices;

use super::{ExchangedName, ExchangedText, ImportProblem, MOST, exchanged, problem, shown};
use crate::manifest::TranslationTable;

/// The titles of the columns before the locales.
const COLUMNS: [&str; 3] = ["message", "field", "common"];

/// The byte order mark, without which some spreadsheets do not read UTF-8.
const MARK: char = '\u{feff}';

/// The characters at the beginning of a formula, which a spreadsheet would run.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

const HEADER_HELP: &str = "export the texts again: `pushplan locales export --format csv`";

/// The texts of catalogues, one line for each and one column for each locale.
pub fn written(table: &TranslationTable, locales: &[String]) -> String {
    let titles = COLUMNS.into_iter().chain(locales.iter().map(String::as_str));
    let mut out = format!("{MARK}{}", line(titles));
    for (message, text) in exchanged(table) {
        let own = locales.iter().map(|locale| text.translations.get(locale).map_or("", |own| own.text.as_str()));
        out.push_str(&line([message.key.as_str(), &text.field, &text.common.text].into_iter().chain(own)));
    }
    out
}

fn line<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(text: &str) -> String {
    let text = if is_risky(text) { format!("'{text}") } else { text.to_owned() };
    let needs = text.contains(['"', ',', ';', '\t', '\r', '\n']) || text.trim() != text;
    if needs { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Whether a spreadsheet could run a text as a formula, also after it removed quotes or white space before it.
fn is_risky(text: &str) -> bool {
    text.trim_start_matches(|c: char| c == '\'' || c.is_whitespace() || c.is_control()).starts_with(FORMULA)
}

/// The text of a cell, without the quote that keeps it from being a formula.
fn unquoted(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_risky(text)).unwrap_or(cell)
}

/// Reads the texts of a file. The separator is the sign after the first title: spreadsheets use `;` in some countries.
pub fn read(file: &str) -> Result<Vec<ExchangedText>, Vec<ImportProblem>> {
    let separator = file.trim_start_matches('"').strip_prefix(COLUMNS[0]);
    let separator = separator.and_then(|rest| rest.trim_start_matches('"').chars().next());
    let Some(separator) = separator.filter(|sign| [',', ';', '\t'].contains(sign)) else {
        return Err(vec![problem(1, "the first line does not begin with `message,field`", HEADER_HELP)]);
    };
    let mut rows = rows(file, separator).map_err(|problem| vec![problem])?.into_iter();
    let (_, titles) = rows.next().unwrap_or_default();
    let mut problems = Vec::new();
    if titles.get(1).map(String::as_str) != Some(COLUMNS[1]) {
        problems.push(problem(1, "the second column is not `field`", HEADER_HELP));
    }
    let has_common = titles.get(2).map(String::as_str) == Some(COLUMNS[2]);
    let locales = titles.get(if has_common { 3 } else { 2 }..).unwrap_or_default();
    if locales.is_empty() {
        problems.push(problem(1, "no column for a locale", HEADER_HELP));
    }
    for (at, locale) in locales.iter().enumerate() {
        if locales[..at].contains(locale) {
            let message = format!("two columns `{}`", shown(locale));
            problems.push(problem(1, message, "remove one of them"));
        }
    }
    let mut texts = Vec::new();
    for (line, cells) in rows {
        if cells.iter().all(String::is_empty) {
            continue;
        }
        if cells.len() != titles.len() {
            let message = format!("the row has {} cells, and the header {}", cells.len(), titles.len());
            problems.push(problem(line, message, "put texts with separators or line breaks in double quotes"));
            if problems.len() >= MOST {
                break;
            }
            continue;
        }
        let common = has_common.then(|| unquoted(&cells[2]).to_owned());
        let own = &cells[titles.len() - locales.len()..];
        texts.extend(locales.iter().zip(own).map(|(locale, text)| ExchangedText {
            line,
            name: ExchangedName::Field { message: cells[0].clone(), field: cells[1].clone() },
            locale: locale.clone(),
            common: common.clone(),
            text: unquoted(text).to_owned(),
        }));
    }
    if problems.is_empty() { Ok(texts) } else { Err(problems) }
}

/// The cells of each row, with the line in which it begins.
fn rows(file: &str, separator: char) -> Result<Vec<(usize, Vec<String>)>, ImportProblem> {
    let mut rows = Vec::new();
    let mut line = 1;
    let mut signs = file.char_indices().peekable();
    while signs.peek().is_some() {
        let begun = line;
        let mut cells = Vec::new();
        loop {
            cells.push(if signs.next_if(|(_, sign)| *sign == '"').is_some() {
                let cell = in_quotes(&mut signs, &mut line)?;
                if signs.peek().is_some_and(|(_, sign)| ![separator, '\r', '\n'].contains(sign)) {
                    let help = "write a double quote within a text as two";
                    return Err(problem(line, "a text after the double quotes of its cell", help));
                }
                cell
            } else {
                let mut cell = String::new();
                while let Some((_, sign)) = signs.next_if(|(_, sign)| ![separator, '\r', '\n'].contains(sign)) {
                    cell.push(sign);
                }
                cell
            });
            if signs.next_if(|(_, sign)| *sign == separator).is_none() {
                break;
            }
        }
        signs.next_if(|(_, sign)| *sign == '\r');
        signs.next_if(|(_, sign)| *sign == '\n');
        line += 1;
        rows.push((begun, cells));
    }
    Ok(rows)
}

/// The rest of a cell in double quotes.
fn in_quotes(signs: &mut Peekable<CharIndices>, line: &mut usize) -> Result<String, ImportProblem> {
    let (begun, mut cell) = (*line, String::new());
    loop {
        match signs.next() {
            None => {
                let message = "the double quote of a cell is not closed";
                return Err(problem(begun, message, "write a double quote within a text as two"));
            }
            Some((_, '"')) if signs.next_if(|(_, sign)| *sign == '"').is_none() => return Ok(cell),
            Some((_, sign)) => {
                *line += usize::from(sign == '\n');
                cell.push(sign);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back() {
        let texts = [
            "",
            "plain",
            "a,b",
            "a;b",
            "say \"hi\"",
            "two\nlines",
            "win\r\ndows",
            " edge ",
            "\ttab",
            "=1+1",
            "'=1+1",
            "''=1",
            "' =1",
            "-5 %",
            "+49",
            "@home",
            "'quoted'",
            "'",
            " =1",
            "\u{1}=1",
            "\"",
            "emoji 🎉",
            "=cmd|' /C calc'!A0",
        ];
        for separator in [',', ';', '\t'] {
            let cells: Vec<String> = texts.iter().map(|text| cell(text)).collect();
            let row = format!("{}\r\n", cells.join(&separator.to_string()));
            let read = rows(&row, separator).expect("rows");
            let back: Vec<&str> = read[0].1.iter().map(|cell| unquoted(cell)).collect();
            assert_eq!(back, texts, "{row}");
        }
        for text in texts.iter().filter(|text| is_risky(text)) {
            assert!(cell(text).trim_start_matches('"').starts_with('\''), "{text}");
        }
    }

    #[test]
    fn problems_have_their_line() {
        for (file, line, message) in [
            ("", 1, "does not begin with"),
            ("a,b\n", 1, "does not begin with"),
            ("message,text,de\n", 1, "the second column"),
            ("message,field\n", 1, "no column for a locale"),
            ("message,field,common,de,de\n", 1, "two columns"),
            ("message,field,common,de\nm,f,c\n", 2, "has 3 cells"),
            ("message,field,common,de\nm,f,\"a\nb\",d\nm,f\n", 4, "has 2 cells"),
            ("message,field,common,de\nm,f,c,\"d\n\n", 2, "not closed"),
            ("message,field,common,de\nm,f,c,\"d\"e\n", 2, "after the double quotes"),
        ] {
            let problems = read(file).expect_err(file);
            assert_eq!(problems[0].line, line, "{file}");
            assert!(problems[0].message.contains(message), "{file}: {problems:?}");
        }
        let read = read("\"message\";\"field\";\"de\"\r\nm;f;\"Hal;lo\"\r\n").expect("texts");
        assert_eq!((read[0].text.as_str(), read[0].line, &read[0].common), ("Hal;lo", 2, &None));
    }
}

//! `${var.x}` and `${var.x:-default}`: values that differ between targets. `$${` stands for `${`.

use std::collections::{BTreeMap, HashSet};

use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{MapEntry, Node, Style, Tree};
use pushplan_model::source::{Sources, Span};
use pushplan_model::text;

use super::growth::Growth;

/// The variables of a target.
pub type Variables = BTreeMap<String, String>;

/// Whether a node contains a possible variable.
pub(crate) fn has_variables(node: &Node) -> bool {
    match &node.tree {
        Tree::Scalar(scalar) => scalar.text.contains("${"),
        Tree::List(items) => items.iter().any(has_variables),
        Tree::Map(entries) => {
            let holds = |entry: &MapEntry| entry.key.contains("${") || has_variables(&entry.value);
            entries.iter().any(|entry| !entry.is_own() && holds(entry))
        }
    }
}

/// The beginning of a variable in texts with other uses of `${`, and its escaped form.
const BEGIN: &str = "${var.";
const ESCAPED: &str = "$${var.";

/// Fills in every variable of a tree. Unknown ones are reported and not replaced.
pub fn fill(node: &mut Node, with: &Filling, findings: &mut Findings) {
    match &mut node.tree {
        Tree::List(items) => items.iter_mut().for_each(|item| fill(item, with, findings)),
        Tree::Map(entries) => {
            for MapEntry { key, value } in entries.iter_mut().filter(|entry| !entry.is_own()) {
                if !key.replace(ESCAPED, "").contains(BEGIN) {
                    key.value = key.replace(ESCAPED, BEGIN);
                } else {
                    let message = format!("`{}`: a key cannot contain a variable", text::short(key, 40));
                    findings.push(
                        Finding::new(&codes::RF112, key.span, message)
                            .label("only values are filled in")
                            .help("write out the key; use `overlays:` for differences between targets"),
                    );
                }
                fill(value, with, findings);
            }
        }
        Tree::Scalar(scalar) if scalar.text.contains("${") => {
            let mut filler = Filler { span: node.span, file: None, with, findings, told: HashSet::new() };
            scalar.text = filler.text(&scalar.text, "${");
            scalar.style = Style::Filled;
        }
        Tree::Scalar(_) => {}
    }
}

/// Fills in the variables of a file that a manifest names. A page has other uses for `${`: only `${var.` begins a
/// variable in it, and `$${var.` is the escaped form.
pub(crate) fn fill_file(text: String, name: &str, at: Span, with: &Filling, findings: &mut Findings) -> String {
    if !text.contains("${var.") {
        return text;
    }
    Filler { span: at, file: Some((name, &text)), with, findings, told: HashSet::new() }.text(&text, "${var.")
}

/// The content of a file without variables; `None` if it has one.
pub(crate) fn read_bare(text: &str) -> Option<String> {
    (!text.replace(ESCAPED, "").contains(BEGIN)).then(|| text.replace(ESCAPED, BEGIN))
}

/// Escapes a text for a file that a manifest names, so that nothing in it is a variable.
pub fn escaped(text: &str) -> String {
    text.replace(BEGIN, ESCAPED)
}

/// The names of the variables in a text as written.
pub fn variables_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(BEGIN).skip(1).filter_map(|rest| rest.split(|c: char| !is_letter(c)).next()).filter(|name| is_name(name))
}

/// The inputs for filling in variables.
#[derive(Debug)]
pub struct Filling<'a> {
    pub variables: &'a Variables,
    /// The target's name, if there is one.
    pub target: Option<&'a str>,
    pub sources: &'a Sources,
    pub growth: &'a Growth,
}

/// The position of the brace that closes a variable. A default may contain braces: `${var.hi:-Hi {{NAME}}}`.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 1 => return Some(at),
            b'}' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The maximal number of problems that are reported for one text.
const TOLD_LIMIT: usize = 20;

struct Filler<'a> {
    span: Span,
    /// The name and the text of the file, if a manifest only names it.
    file: Option<(&'a str, &'a str)>,
    with: &'a Filling<'a>,
    findings: &'a mut Findings,
    /// The reported problems of this text, each once.
    told: HashSet<String>,
}

impl Filler<'_> {
    /// The text with every variable filled in that begins with `mark`.
    fn text(&mut self, text: &str, mark: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(mark) {
            if rest[..at].ends_with('$') {
                out.push_str(&rest[..at - 1]);
                out.push_str(mark);
                rest = &rest[at + mark.len()..];
                continue;
            }
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some(end) = closing(rest) else {
                self.malformed(rest, "the closing } is missing");
                break;
            };
            let written = &rest[..=end];
            match self.value(written) {
                Some(value) if self.with.growth.allows(value.len()) => out.push_str(&value),
                _ => out.push_str(written),
            }
            rest = &rest[end + 1..];
        }
        out.push_str(rest);
        out
    }

    /// The value of `${var.name}` or `${var.name:-default}`.
    fn value(&mut self, written: &str) -> Option<String> {
        let inner = &written[2..written.len() - 1];
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        let Some(name) = name.strip_prefix("var.").filter(|name| is_name(name)) else {
            self.malformed(written, "a variable is written ${var.name}");
            return None;
        };
        let value = self.with.variables.get(name).cloned().or_else(|| default.map(str::to_owned));
        if value.is_none() && self.tells(written) {
            let finding = Finding::new(
                &codes::RF104,
                self.place(written),
                format!("the variable `{name}` has no value{}", self.line(written)),
            )
            .label("not known");
            let finding = match text::nearest_of_few(name, self.with.variables.keys().map(String::as_str)) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => {
                    let place = match self.with.target {
                        Some(target) => format!("[targets.{target}.variables]"),
                        None => "the `variables` of a target".to_owned(),
                    };
                    finding.help(format!(
                        "add `{name} = \"...\"` under {place} in pushplan.toml, or write ${{var.{name}:-a default}}"
                    ))
                }
            };
            self.findings.push(finding);
        }
        value
    }

    /// Whether to report a problem: it is new, and the maximum is not reached.
    fn tells(&mut self, written: &str) -> bool {
        self.told.len() < TOLD_LIMIT && self.told.insert(written.to_owned())
    }

    fn malformed(&mut self, written: &str, why: &str) {
        if !self.tells(written) {
            return;
        }
        let message = format!("`{}`{}: {why}", text::short(written, 40), self.line(written));
        let finding = Finding::new(&codes::RF112, self.place(written), message)
            .label("not a variable")
            .help("write ${var.name} or ${var.name:-default}; for the characters themselves, $${");
        self.findings.push(finding);
    }

    /// The line of the variable in its file, if a manifest only names that file.
    fn line(&self, written: &str) -> String {
        let Some((name, text)) = self.file else { return String::new() };
        let before = text.find(written).map_or(text, |at| &text[..at]);
        format!(" in line {} of `{name}`", before.matches('\n').count() + 1)
    }

    /// The exact position of the variable, if the text is written literally.
    fn place(&self, written: &str) -> Span {
        match self.with.sources.text(self.span).find(written) {
            Some(at) => self.span.slice(at..at + written.len()),
            None => self.span,
        }
    }
}

/// Whether a variable can have this name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_letter)
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

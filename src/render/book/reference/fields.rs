//! Every field of every kind and of the project file, from the schemas of `pushplan explain`.

use std::fmt::Write;

use super::{Chapter, code, file_name, head, line, prose, titled};
use crate::kinds::KINDS;
use crate::manifest::PROJECT_FILE;
use crate::manifest::fields::{Book, Field, SchemaField};

/// The maximal number of lines of a page. Longer content goes to separate pages.
const LONGEST: usize = 170;
/// The name of device tests.
const TESTS: &str = "*.test.yaml";
/// The fields of several kinds that are described once, on their own pages.
const SHARED: [&str; 3] = ["lifecycle", NOTIFICATION, LOCALIZATIONS];
const NOTIFICATION: &str = "notification";
const LOCALIZATIONS: &str = "localizations";
/// Places that have all fields of another place, which lists them, and the address of that place from another page.
const REPEATING: [(&str, &str, &str); 4] = [
    ("groups", "targets", "pushplan-toml.md#targets"),
    ("matrix.target", "targets", "pushplan-toml.md#targets"),
    ("cases.steps.change", "cases.device", "cases.md#casesdevice"),
    ("cases.steps.expect", "cases.expect", "cases.md#casesexpect"),
];

/// A field that is a map, with all maps in it.
struct Section {
    place: SchemaField,
    /// The allowed values of each field.
    types: Vec<String>,
    below: Vec<Section>,
}

/// The list of kinds, one or more pages for each, and the common page.
pub(super) fn kinds(example: fn(&str) -> Option<String>) -> Vec<Chapter> {
    let book = Book::default();
    let mut index = titled("Kinds");
    index.push_str(
        "A manifest is a map by kind, then by key: `segments: {lapsed-buyers: {...}}`. `pushplan explain KIND` and \
         `pushplan explain FIELD`, such as `pushplan explain pipelines.outcome.delay`, print the same descriptions.\n\n",
    );
    head(&mut index, &["kind", "purpose", "parts with their own page"]);
    let mut pages = Vec::new();
    for kind in KINDS {
        let mut own = book.find(kind.key).map(|place| chapters(&book, place, "kinds/", 1)).unwrap_or_default();
        if let (Some(first), Some(example)) = (own.first_mut(), example(kind.key)) {
            let _ = write!(
                first.page.text,
                "\n## Example\n\nFrom the project that `pushplan init` writes:\n\n```yaml\n{example}\n```\n"
            );
        }
        let link = |chapter: &Chapter| {
            let path = chapter.page.path.trim_start_matches("reference/");
            format!("[{}]({path})", code(&chapter.title))
        };
        let mut links = own.iter().map(link);
        let (kind_link, parts) = (links.next().unwrap_or_default(), links.collect::<Vec<_>>());
        line(&mut index, &[kind_link, prose(kind.purpose), parts.join(", ")]);
        pages.extend(own);
    }
    index.push_str("\nA manifest can also have these keys:\n\n");
    head(&mut index, &["key", "purpose"]);
    for (key, path, whose) in [
        ("lifecycle", "segments.lifecycle", " of any resource"),
        (NOTIFICATION, "templates.push.notification", " of any push"),
        (LOCALIZATIONS, "templates.push.localizations", " of any push"),
        ("defaults", "defaults", ""),
        ("overlays", "overlays", ""),
    ] {
        let about = book.find(path).and_then(|place| place.about.into_iter().next()).unwrap_or_default();
        let name = if SHARED.contains(&key) { format!("[`{key}`](kinds/{key}.md){whose}") } else { code(key) };
        line(&mut index, &[name, prose(&about)]);
    }
    let shared = book.find("segments.lifecycle");
    pages.extend(shared.map(|place| {
        let mut text = titled("`lifecycle`");
        text.push_str("Every resource can have it.\n\n");
        section(&book, place, &mut Vec::new()).body(&mut text, &|_| None);
        Chapter::new(1, "lifecycle", "reference/kinds/lifecycle.md", text)
    }));
    let content = Book::content();
    for field in [NOTIFICATION, LOCALIZATIONS] {
        pages.extend(content.find(field).map(|place| chapters(&content, place, "kinds/", 1)).unwrap_or_default());
    }
    pages.insert(0, Chapter::new(0, "Kinds", "reference/kinds.md", index));
    pages
}

/// The fields of the other files: `pushplan.toml` and device tests.
pub(super) fn files() -> Vec<Chapter> {
    let (project, tests) = (Book::default(), Book::of(crate::cases::schema()));
    let mut pages = chapters(&project, project.project_file(), "", 0);
    pages.extend(chapters(&tests, tests.file(TESTS), "", 0));
    pages
}

/// The place whose fields a place has as well, and its address from another page.
fn repeated(path: &str) -> Option<(&'static str, &'static str)> {
    const ACTIONS: (&str, &str) = ("notification.actions", "notification.md#notificationactions");
    const INTERACTIVE: (&str, &str) = ("notification.interactive", "notification.md#notificationinteractive");
    if path.starts_with("notification.") && ![ACTIONS.0, INTERACTIVE.0].contains(&path) {
        match path.rsplit('.').next() {
            Some("actions" | "button_actions") => return Some(ACTIONS),
            Some("interactive") => return Some(INTERACTIVE),
            _ => {}
        }
    }
    REPEATING.iter().find(|(repeating, ..)| *repeating == path).map(|(_, other, address)| (*other, *address))
}

/// Whether a path is that of a whole file, whose fields have no prefix.
fn is_file(path: &str) -> bool {
    path == PROJECT_FILE || path == TESTS
}

/// The path of a field.
fn below(place: &SchemaField, name: &str) -> String {
    if is_file(&place.path) { name.to_owned() } else { format!("{}.{name}", place.path) }
}

/// The page of a place, followed by those of the parts that do not fit on it.
fn chapters(book: &Book, place: SchemaField, folder: &str, depth: usize) -> Vec<Chapter> {
    let mut section = section(book, place, &mut Vec::new());
    let mut apart = Vec::new();
    while section.lines() > LONGEST && !section.below.is_empty() {
        apart.push(section.take_largest());
    }
    let own = file_name(&section.place.path);
    let mut text = titled(&code(&section.place.path));
    let mut pages = Vec::new();
    apart.sort_by(|one, other| one.place.path.cmp(&other.place.path));
    let link = |path: &str| {
        let is_apart = apart.iter().any(|section| section.place.path == path);
        let shared = path.rsplit_once('.').map(|(_, last)| last).filter(|last| SHARED.contains(last));
        match (is_apart, shared.filter(|_| !folder.is_empty())) {
            (_, Some(shared)) => Some(format!("{shared}.md")),
            (true, _) => Some(format!("{}.md", file_name(path))),
            _ => section.has(path).then(|| format!("#{}", anchor(path))),
        }
    };
    section.write(&mut text, true, &link);
    pages.push(Chapter::new(depth, section.place.path.clone(), format!("reference/{folder}{own}.md"), text));
    for part in apart {
        pages.extend(chapters(book, part.place, folder, depth + usize::from(depth < 2)));
    }
    pages
}

/// A place and the maps below it. A map with the fields of an outer one is a repetition, and is not expanded.
fn section(book: &Book, mut place: SchemaField, around: &mut Vec<Vec<Field>>) -> Section {
    if let Some(other) = repeated(&place.path).and_then(|(path, _)| book.find(path)) {
        place.fields.retain(|field| other.fields.iter().all(|known| known.name != field.name));
    }
    let mut parts = Vec::new();
    around.push(place.fields.clone());
    let mut types = Vec::new();
    for field in &place.fields {
        let found = book.find(&below(&place, &field.name));
        types.push(found.as_ref().map(|found| found.what.clone()).unwrap_or_default());
        let is_open = |found: &SchemaField| !found.fields.is_empty() && !around.contains(&found.fields);
        let found = found.filter(|found| !SHARED.contains(&field.name.as_str()) && is_open(found));
        parts.extend(found.map(|found| section(book, found, around)));
    }
    around.pop();
    Section { place, types, below: parts }
}

impl Section {
    fn lines(&self) -> usize {
        let own = 8 + self.place.about.len() * 2 + self.place.fields.len();
        own + self.below.iter().map(Section::lines).sum::<usize>()
    }

    fn has(&self, path: &str) -> bool {
        self.place.path == path || self.below.iter().any(|section| section.has(path))
    }

    /// Removes the largest part that fits on a page, or else the largest of all.
    fn take_largest(&mut self) -> Section {
        let largest = (0..self.below.len()).max_by_key(|at| self.below[*at].lines()).unwrap_or_default();
        self.below.remove(largest)
    }

    fn write(&self, out: &mut String, is_first: bool, link: &impl Fn(&str) -> Option<String>) {
        if !is_first {
            let _ = write!(out, "\n## {}\n\n", code(&self.place.path));
        }
        self.body(out, link);
        for section in &self.below {
            section.write(out, false, link);
        }
    }

    /// The description of the place, and the table of its fields.
    fn body(&self, out: &mut String, link: &impl Fn(&str) -> Option<String>) {
        for paragraph in &self.place.about {
            let _ = write!(out, "{}\n\n", prose(paragraph));
        }
        let _ = write!(out, "Type: {}.\n\n", prose(&self.place.what));
        if let Some((other, address)) = repeated(&self.place.path) {
            let to = link(other).unwrap_or_else(|| address.to_owned());
            let more = if self.place.fields.is_empty() { "." } else { ", and these:\n" };
            let _ = writeln!(out, "It can have all fields of [{}]({to}){more}", code(other));
            if self.place.fields.is_empty() {
                return;
            }
        }
        head(out, &["field", "type", "required", "description"]);
        for (field, what) in self.place.fields.iter().zip(&self.types) {
            let name = match link(&below(&self.place, &field.name)) {
                Some(to) => format!("[{}]({to})", code(&field.name)),
                None => code(&field.name),
            };
            let required = if field.required { "yes" } else { "" };
            line(out, &[name, prose(what), required.to_owned(), prose(&field.about)]);
        }
    }
}

/// The heading's anchor, the same as in mdBook and on code hosts.
fn anchor(path: &str) -> String {
    path.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect()
}

//! `locales: FOLDER` in a push becomes `localizations`, with the texts of the catalogues in that folder.

use pushplan_io::files::{self, CATALOGUES};
use pushplan_model::codes;
use pushplan_model::finding::{Finding, Findings};
use pushplan_model::node::{At, MapEntry, Node, Tree};
use pushplan_model::source::Span;
use pushplan_model::text;

use super::super::Manifests;
use super::super::growth::weight;
use super::super::refused::refused;
use super::super::variables::{self, Filling};
use super::texts::{MESSAGE, each_push, find_mut, texts_of};
use super::{Catalogue, LOCALES, entry, message_key, pushes};

/// The key of a push's own localizations.
const LOCALIZATIONS: &str = "localizations";

/// Replaces the names of folders in one resource.
pub struct Expansion<'e> {
    pub manifests: &'e Manifests,
    pub with: &'e Filling<'e>,
    /// The address of the resource.
    pub address: String,
    pub findings: &'e mut Findings,
}

impl Expansion<'_> {
    /// Replaces `locales` in each push of the resource.
    pub fn resource(&mut self, node: &mut Node) {
        let (count, mut number) = (pushes(node).len(), 0);
        each_push(node, &mut |push| {
            number += 1;
            self.push(push, &message_key(&self.address, number, count));
        });
    }

    fn push(&mut self, push: &mut Node, message: &str) {
        let Tree::Map(entries) = &mut push.tree else { return };
        let Some(at) = entries.iter().position(|entry| *entry.key == LOCALES) else { return };
        let is_text = matches!(&entries[at].value.tree, Tree::Scalar(_)) && !entries[at].value.is_unread();
        if !is_text {
            // It is reported when the push gets its type.
            return;
        }
        let MapEntry { key, mut value } = entries.remove(at);
        variables::fill(&mut value, self.with, self.findings);
        let Tree::Scalar(name) = &value.tree else { return };
        if value.is_null() {
            return;
        }
        if let Some(template) = push.get("template") {
            self.findings.push(beside_template(key.span, template.span, &name.text));
            return;
        }
        let folder = files::plain(&name.text);
        let manifests = self.manifests;
        let found: Vec<&Catalogue> = manifests.catalogues.of_folder(&folder).collect();
        if found.is_empty() {
            self.findings.push(self.no_catalogues(&name.text, value.span));
            return;
        }
        let size = weight(push);
        let mut own = Vec::new();
        for catalogue in &found {
            let Some(texts) = catalogue.message(message) else { continue };
            let base = found.iter().find(|other| catalogue.locale.is_within(&other.locale));
            let base = base.and_then(|base| base.message(message));
            let texts_size = weight(&texts.value) + base.map_or(0, |base| weight(&base.value));
            if !self.with.growth.allows(size + texts_size) {
                return;
            }
            own.extend(self.localization(push, catalogue, texts, base));
        }
        add(push, key.span, own);
    }

    /// The content of a push with the texts of one locale; `None` if there are none. A text that `de-AT` lacks is that
    /// of its language, `de`.
    fn localization(
        &mut self,
        push: &Node,
        catalogue: &Catalogue,
        texts: &MapEntry,
        base: Option<&MapEntry>,
    ) -> Option<Node> {
        let is_said = |entry: &&MapEntry| ["notification", "message"].contains(&entry.key.as_str());
        let said = push.entries()?.iter().filter(is_said).cloned().collect();
        let mut content = Node { span: push.span, tree: Tree::Map(said) };
        let mut changed = Vec::new();
        let (mut has_own, mut unknown) = (false, Vec::new());
        for (is_own, own) in base.into_iter().map(|base| (false, base)).chain([(true, texts)]) {
            for text in own.value.entries()?.iter().filter(|entry| is_translated(entry)) {
                match find_mut(&mut content, &text.key) {
                    Some(value) => {
                        *value = text.value.clone();
                        changed.push(if text.key.starts_with(MESSAGE) { "message" } else { "notification" });
                        has_own |= is_own;
                    }
                    // Those of the language are reported there.
                    None if is_own => unknown.push(unknown_text(text, texts, push)),
                    None => {}
                }
            }
        }
        self.findings.extend(unknown);
        let Tree::Map(said) = content.tree else { return None };
        let at = texts.key.span;
        let code = |key: &str, code: &Option<String>| Some(entry(key, at, Node::filled(at, code.as_ref()?.clone())));
        let locale = [code("language", &catalogue.locale.language), code("country", &catalogue.locale.country)];
        let said = said.into_iter().filter(|entry| changed.contains(&entry.key.as_str()));
        let entries: Vec<MapEntry> = locale.into_iter().flatten().chain(said).collect();
        has_own.then_some(Node { span: at, tree: Tree::Map(entries) })
    }

    /// The finding for a folder without catalogues.
    fn no_catalogues(&self, name: &str, at: Span) -> Finding {
        let project = &self.manifests.project;
        let path = match project.beneath(name) {
            Err(why) => return refused(&project.root, name, at, why),
            Ok(path) => path,
        };
        let shown = text::short(name, 80);
        let finding = Finding::new(&codes::RF118, at, format!("`{shown}` is not a folder with message catalogues"));
        if path.file_name().is_none_or(|folder| folder != CATALOGUES) {
            return finding
                .label(format!("not named `{CATALOGUES}`"))
                .note("other YAML files are manifests, so catalogues need a folder with this name")
                .help(format!("move the catalogues to a folder `{CATALOGUES}`, such as `{CATALOGUES}/de.yaml`"));
        }
        let is_read = project.places().iter().any(|place| path.starts_with(place));
        if !is_read {
            return finding.label("not read").help("add the folder to `manifests` under [project] in pushplan.toml");
        }
        finding.label("no catalogue in it").help(format!("add a file for each locale, such as `{shown}/de.yaml`"))
    }
}

/// Whether an entry of a catalogue has a text. An empty one is not translated yet.
fn is_translated(entry: &MapEntry) -> bool {
    !entry.is_own() && !entry.value.is_null() && !entry.value.is_unread()
}

/// Adds localizations to those of a push. A list of another form is reported when the push gets its type.
fn add(push: &mut Node, at: Span, own: Vec<Node>) {
    let Tree::Map(entries) = &mut push.tree else { return };
    match entries.iter_mut().find(|entry| *entry.key == LOCALIZATIONS) {
        Some(MapEntry { value: Node { tree: Tree::List(items), .. }, .. }) => items.extend(own),
        Some(MapEntry { value, .. }) if !value.is_null() => {}
        _ if own.is_empty() => {}
        _ => {
            entries.retain(|entry| *entry.key != LOCALIZATIONS);
            entries.push(entry(LOCALIZATIONS, at, Node { span: at, tree: Tree::List(own) }));
        }
    }
}

fn beside_template(at: Span, template: Span, folder: &str) -> Finding {
    Finding::new(&codes::YM201, at, "`locales` cannot be combined with `template`")
        .label("the texts are in the template")
        .related(template, "the template")
        .help(format!("write `locales: {}` in the push of the template", text::short(folder, 80)))
}

/// The finding for a text that the message does not have.
fn unknown_text(own: &MapEntry, texts: &MapEntry, push: &Node) -> Finding {
    let At { value: field, span } = &own.key;
    let fields: Vec<String> = texts_of(push).into_iter().map(|text| text.field).collect();
    let message = format!("`{}` has no text `{}`", text::short(&texts.key, 80), text::short(field, 40));
    let finding = Finding::new(&codes::RF120, *span, message).label("not in the message");
    let below = fields.iter().find(|known| known.starts_with(&format!("{field}.")));
    if let (Some(below), Some(_)) = (below, own.value.entries()) {
        return finding.help(format!("write the whole field in one line: `{below}: ...`"));
    }
    let names = || fields.iter().map(String::as_str);
    match text::nearest(field, names()) {
        Some(near) => finding.help(format!("did you mean `{near}`?")).suggest(*span, near),
        None if fields.is_empty() => finding.help("remove it: the message has no texts"),
        None => {
            let names: Vec<String> = names().map(|name| format!("`{name}`")).collect();
            finding.help(format!("expected {}", text::any_of(&names)))
        }
    }
}

//! Edits of existing manifests, for resources that were changed on the service.

use std::collections::BTreeMap;
use std::path::Path;

use pushplan_io::failure::Failure;
use pushplan_io::files;
use pushplan_ledger::{Adopted, Ledger, Owned};
use pushplan_model::address::Address;
use pushplan_model::kinds;
use pushplan_model::kinds::remote::segments;
use pushplan_model::node::{At, Node, Reader};
use pushplan_model::source::Span;
use pushplan_model::text::one_line;
use pushplan_project::manifest::edit::{self, EditSide, Editor, Placed, Settled, Unplaced, settle};
use pushplan_project::manifest::{Input, InputSource, Manifests, read_project_with};
use serde_json::Value;

use super::mending::Mending;
use crate::pull::{Changed, Clash, Edited, Part, PulledFile, rebased};

/// The edits, before they are written.
#[derive(Debug, Default)]
pub struct InPlace {
    pub settled: Settled,
    /// The current content of each file.
    before: BTreeMap<String, String>,
    /// The changed units, by resource.
    parts: BTreeMap<Address, Vec<Part>>,
}

/// The news for the ledger.
#[derive(Debug, Default)]
pub struct Learned {
    pub adopted: Vec<Adopted>,
    /// Units of which only a part is in git as on the service: that part counts as applied.
    pub partly: Vec<Adopted>,
    /// Units that are no longer on the service or in git.
    pub forgotten: Vec<Address>,
}

impl InPlace {
    /// Edits the manifests in memory for resources that were changed on the service.
    pub fn of(manifests: &Manifests, target: &str, changed: Vec<Changed>, mending: &Mending) -> Self {
        if changed.is_empty() {
            return Self::default();
        }
        let root = &manifests.project.root;
        let editor = Editor::new(manifests, Some(target));
        let (mut placed, mut desired) = (BTreeMap::new(), BTreeMap::new());
        let mut parts: BTreeMap<Address, Vec<Part>> = BTreeMap::new();
        for one in changed {
            if let Some(mut edits) = editor.place(&one.address, &one.desired, &one.wanted) {
                let warn = mending.warn.get(&one.address).map(|codes| editor.warn(&one.address, codes));
                match warn {
                    _ if mending.given_up.contains(&one.address) => edits = refused(&editor, &one),
                    None => {}
                    Some(Some(warn)) => edits.edits.extend(warn),
                    Some(None) => edits = refused(&editor, &one),
                }
                placed.insert(one.address.clone(), (edits, one.wanted));
                desired.insert(one.address.clone(), one.desired);
                parts.insert(one.address, one.parts);
            }
        }
        let mut settled = settle(manifests, Some(target), placed, |texts| read_project_with(root, inputs(texts), &[]));
        for (address, placed) in &mut settled.placed {
            let own = parts.get(address).into_iter().flatten();
            let desired = desired.get(address).unwrap_or(&Value::Null);
            placed.unplaced.extend(own.flat_map(|part| disputed(&editor, address, desired, part)));
        }
        let own: BTreeMap<&str, &str> =
            manifests.sources.iter().map(|(_, source)| (&*source.path, source.text.as_str())).collect();
        let read = |name: &String| match own.get(name.as_str()) {
            Some(text) => Some((*text).to_owned()),
            None => std::fs::read_to_string(root.join(name)).ok(),
        };
        let before = settled.texts.keys().filter_map(|name| Some((name.clone(), read(name)?))).collect();
        Self { settled, before, parts }
    }

    /// The news for the ledger: everything in git that now agrees with the service. Fields that could not be edited are
    /// not changed.
    pub fn learned(&self, ledger: &Ledger) -> Learned {
        let mut learned = Learned::default();
        for (address, placed) in &self.settled.placed {
            let said = said(address, placed);
            for part in self.parts.get(address).into_iter().flatten() {
                let wanted = part.becomes.as_ref().map(|(wanted, _)| wanted);
                let is_open = !placed.unplaced.is_empty() && said.get(&part.address.key) != wanted;
                if is_open || !part.clashes.is_empty() {
                    let owned = ledger.owned.get(&part.address);
                    learned.partly.extend(owned.and_then(|owned| in_part(owned, said.get(&part.address.key), part)));
                    continue;
                }
                match &part.becomes {
                    Some((_, adopted)) => learned.adopted.push(adopted.clone()),
                    None => learned.forgotten.push(part.address.clone()),
                }
            }
        }
        learned
    }

    /// The resources that need no edit, because git agrees with the service.
    pub fn agreed(&self) -> Vec<Address> {
        let agrees =
            |placed: &Placed| placed.edits.is_empty() && placed.bodies.is_empty() && placed.unplaced.is_empty();
        let agreed = self.settled.placed.iter().filter(|(_, placed)| agrees(placed));
        agreed.map(|(address, _)| address.clone()).collect()
    }

    /// How many resources need a manual edit.
    pub fn to_do(&self) -> usize {
        self.settled.placed.values().filter(|placed| !placed.unplaced.is_empty()).count()
    }

    /// The edited resources.
    pub fn edited(&self) -> Vec<&Address> {
        let is_edited = |placed: &Placed| !placed.edits.is_empty() || !placed.bodies.is_empty();
        self.settled.placed.iter().filter(|(_, placed)| is_edited(placed)).map(|(address, _)| address).collect()
    }

    /// The previous content of a file that also gets new resources.
    pub fn before<'f>(&'f self, name: &str, file: &'f PulledFile) -> Option<&'f str> {
        self.before.get(name).map(String::as_str).or(file.before.as_deref())
    }

    /// The edited files: name, content before, content after.
    pub fn files(&self) -> impl Iterator<Item = (&str, Option<&str>, &str)> {
        let texts = self.settled.texts.iter();
        texts.map(|(name, text)| (name.as_str(), self.before.get(name).map(String::as_str), text.as_str()))
    }

    /// Writes the changed files if they are unchanged since they were read, and reports each.
    pub fn write(&self, root: &Path, wrote: &dyn Fn(&str)) -> Result<(), Failure> {
        for (name, text) in &self.settled.texts {
            let cannot = |why: String| {
                Failure::new(format!("{} cannot be written: {why}", one_line(name)))
                    .help("nothing was recorded; make it writable and run the command again")
            };
            let path = root.join(name);
            let found = files::read_unlinked(&path, pushplan_project::manifest::FILE_LIMIT)
                .map_err(|why| cannot(why.to_string()))?;
            if self.before.get(name).map(String::as_bytes) != Some(&found[..]) {
                return Err(cannot("another process has changed it".to_owned()));
            }
            files::replace(&path, text.as_bytes()).map_err(|why| cannot(why.to_string()))?;
            wrote(name);
        }
        Ok(())
    }
}

/// The record for a unit of which only a part is in git as on the service; `None` if there is nothing to record.
fn in_part(owned: &Owned, said: Option<&Value>, part: &Part) -> Option<Adopted> {
    let (wanted, adopted) = part.becomes.as_ref()?;
    let audiences = kinds::api(&part.address).audiences();
    let field = Edited { applied: Some(&owned.spec), said, wanted: Some(wanted), live: Some(&adopted.spec) };
    let spec = rebased(audiences, "", field, &part.clashes).filter(|spec| *spec != owned.spec)?;
    let named = segments(audiences, &spec);
    let refs = adopted.refs.iter().chain(&owned.refs).filter(|(key, _)| named.contains(&key.as_str()));
    let refs = refs.map(|(key, id)| (key.clone(), id.clone())).collect();
    // The new stamp would mean that all of its content is known.
    Some(Adopted { spec: spec.into(), refs, stamp: owned.stamp.clone(), ..adopted.clone() })
}

/// A resource that would not be valid with the service's values.
fn refused(editor: &Editor, one: &Changed) -> Placed {
    let why = "the checks refuse the service's value";
    let unplaced = editor.by_hand(&one.address, &one.desired, &one.wanted, why);
    Placed { unplaced, expected: one.desired.clone(), ..Placed::default() }
}

/// The fields of a resource that differ in git.
fn disputed(editor: &Editor, address: &Address, desired: &Value, part: &Part) -> Vec<Unplaced> {
    let within = part.address.part().map(|part| part.replace('/', "."));
    let unplaced = |clash: &Clash| {
        let way = [within.as_deref(), Some(clash.path.as_str())];
        let way: Vec<&str> = way.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        let path = way.join(".");
        let places = editor.spot(address, &path).map(|span| (span, "also changed here")).into_iter().collect();
        let words = |value: Option<&Value>| editor.words(address, &path, desired, value);
        let said = clash.git.as_ref().and_then(|git| editor.said(address, &path).or_else(|| words(Some(git))));
        let git = EditSide { value: clash.git.clone(), words: said };
        let applied = EditSide { value: clash.applied.clone(), words: words(clash.applied.as_ref()) };
        let (live, words) = (clash.live.clone(), words(clash.live.as_ref()));
        let clash = Some(edit::Clash { git, applied });
        Unplaced { path, live, words, places, clash, notes: Vec::new() }
    };
    part.clashes.iter().map(unplaced).collect()
}

/// The units that the manifests declare after the edits. A resource that is applied as a whole is left out if one value
/// could not be edited.
fn said(address: &Address, placed: &Placed) -> BTreeMap<String, Value> {
    let key = At::new(address.key.clone(), Span::NONE);
    let node = Node::from_json_value(&placed.expected);
    let read = (kinds::of(address).decode)(&key, &node, &mut Reader::default());
    let units = read.map(|read| read.units(&address.key)).unwrap_or_default();
    units.into_iter().map(|(key, spec)| (key, spec.into_value())).collect()
}

/// Texts that replace the files with these names.
pub fn inputs(texts: &BTreeMap<String, String>) -> Vec<Input> {
    let input = |(name, text): (&String, &String)| Input {
        name: name.clone(),
        from: InputSource::Bytes(text.clone().into_bytes()),
    };
    texts.iter().map(input).collect()
}

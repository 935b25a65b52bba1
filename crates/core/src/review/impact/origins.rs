//! Defaults, overlays, body files and variables as causes of a changed message.

use std::collections::{BTreeMap, BTreeSet};

use pushplan_model::kinds;
use pushplan_model::text::{count, quoted};

use super::causes::MessageCause;
use super::sides::as_text;
use crate::plan::{Annotation, Change, DeclaredAt, Moved, WrittenValue};
use crate::review::fields::{Difference, Field};
use crate::review::{Review, after, before};

/// Fields whose parts are written differently in manifests and on the service.
const WHOLE: [&str; 3] = ["audience", "criteria", "schedule"];
/// The field with the zone of a time.
const ZONE: &str = "time_zone";

/// The causes of a change outside its own declaration.
#[derive(Debug, Default)]
pub(super) struct ElsewhereCauses {
    pub causes: Vec<MessageCause>,
    /// Whether nothing else of the resource changes.
    pub are_all: bool,
}

/// A cause, as it is collected field by field.
#[derive(Debug, Default)]
struct Found {
    paths: BTreeSet<String>,
    /// The value of a variable after and before.
    values: Option<(String, String)>,
    place: Option<DeclaredAt>,
}

impl Review<'_> {
    /// The origins of the changed fields of a resource outside its declaration.
    pub(super) fn elsewhere(&self, change: &Change) -> ElsewhereCauses {
        let Some(aside) = self.plan.told.of.get(&change.address) else { return ElsewhereCauses::default() };
        let written: Vec<&WrittenValue> = aside.written.iter().filter(|value| !is_same_zone(value, aside)).collect();
        let (Some(old), Some(new)) = (before(change), after(change)) else { return ElsewhereCauses::default() };
        // A change made on the service has no line in a file.
        if written.is_empty() || change.moved.is_some_and(|moved| moved != Moved::Git) {
            return ElsewhereCauses::default();
        }
        let name = kinds::api(&change.address).name_field();
        let differs = Difference::between(Some(old), Some(new)).fields;
        let differs =
            differs.into_iter().filter(|field| Some(field.path.as_str()) != name && field.path != "description");
        let mut found: BTreeMap<&str, Found> = BTreeMap::new();
        let mut are_all = true;
        for field in differs {
            match writer(&field, &written) {
                Some((value, was)) => {
                    let one = found.entry(&value.origin).or_default();
                    one.paths.insert(field_of(&value.path));
                    one.values = one.values.take().or_else(|| value.filled.clone().zip(was));
                    one.place = one.place.take().or_else(|| place(value, &field));
                }
                None => are_all = false,
            }
        }
        let causes = found.into_iter().map(|(origin, found)| found.cause(change, origin)).collect();
        ElsewhereCauses { causes, are_all }
    }
}

impl Found {
    fn cause(self, change: &Change, origin: &str) -> MessageCause {
        let paths: Vec<&String> = self.paths.iter().collect();
        let words = match (&self.values, &paths[..]) {
            (Some((is, was)), _) => format!("changes from {} to {}", quoted(was), quoted(is)),
            (None, [path]) => format!("changes {path}"),
            (None, several) => format!("changes {}", count(several.len(), "field")),
        };
        let cause = MessageCause::of(change.address.clone(), self.place, words);
        MessageCause { origin: Some(origin.to_owned()), ..cause }
    }
}

/// The origin of a changed field, and the previous value of a variable. A variable is named rather than the layer in
/// which it is used.
fn writer<'w>(field: &Field, written: &[&'w WrittenValue]) -> Option<(&'w WrittenValue, Option<String>)> {
    let path = field_of(&field.path);
    let texts = as_text(field.old).zip(as_text(field.new));
    let is_own = |value: &&&WrittenValue| is_part(&field_of(&value.path), &path) && !is_other_locale(value, field);
    let own = || written.iter().filter(is_own).copied();
    let by_variable = own().find_map(|value| {
        let (old, new) = texts.as_ref()?;
        Some((value, Some(filled_before(value.filled.as_deref()?, old, new)?.to_owned())))
    });
    by_variable.or_else(|| own().find(|value| value.filled.is_none()).map(|value| (value, None)))
}

/// Whether a value is a localization, and the field is in another one.
fn is_other_locale(value: &WrittenValue, field: &Field) -> bool {
    const ITEM: &str = "localizations[";
    let item = value.path.find(ITEM).map(|at| &value.path[at..]);
    item.is_some_and(|item| field.path.contains(ITEM) && !field.path.contains(item))
}

/// Whether a value is the zone of a time, and the ledger does not show another zone: then the time itself changed.
fn is_same_zone(value: &WrittenValue, aside: &Annotation) -> bool {
    value.path.ends_with(ZONE) && (aside.old_zone.is_none() || aside.old_zone == aside.zone)
}

/// A path up to a field of [`WHOLE`], without positions in lists.
fn field_of(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    for part in path.split('.') {
        let part = part.split('[').next().unwrap_or(part);
        out.push(part);
        if WHOLE.contains(&part) {
            break;
        }
    }
    out.join(".")
}

/// Whether the paths are equal, or one is within the other.
fn is_part(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The position of a value. In a body file, the first different line.
fn place(value: &WrittenValue, field: &Field) -> Option<DeclaredAt> {
    let is_file = value.place.is_none() && value.filled.is_none();
    let body = || {
        let (old, new) = as_text(field.old).zip(as_text(field.new))?;
        let same = old.bytes().zip(new.bytes()).take_while(|(old, new)| old == new).count();
        let line = 1 + new.bytes().take(same).filter(|byte| *byte == b'\n').count();
        Some(DeclaredAt { file: value.origin.as_str().into(), line })
    };
    value.place.clone().or_else(|| body().filter(|_| is_file))
}

/// The text in an old text at every position of a value in the new one, if nothing else differs.
pub(super) fn filled_before<'t>(value: &str, old: &'t str, new: &str) -> Option<&'t str> {
    let parts: Vec<&str> = new.split(value).filter(|_| !value.is_empty()).collect();
    let times = parts.len().checked_sub(1).filter(|times| *times > 0)?;
    let room = old.len().checked_sub(parts.iter().map(|part| part.len()).sum())?;
    let start = parts[0].len();
    let was = old.get(start..start + room / times)?;
    (was != value && parts.join(was) == old).then_some(was)
}

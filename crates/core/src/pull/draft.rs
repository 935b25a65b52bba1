//! The draft of a pull: resources with their keys, and the records for the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pushplan_ledger::{Adopted, Ledger};
use pushplan_model::address::Address;
use pushplan_model::codes;
use pushplan_model::codes::Severity;
use pushplan_model::finding::Finding;
use pushplan_model::kinds::remote::{point, pointed, segments};
use pushplan_model::kinds::{Kind, Parts, Resource, Segment, TagGroup, Trigger};
use pushplan_model::node::At;
use pushplan_model::nouns::audience::{Selector, written};
use pushplan_model::nouns::vocabulary::is_reserved;
use pushplan_model::source::Span;
use serde_json::Value;

use super::keys::can_be_key;
use super::placing::Placed;
use super::unmanaged::{Left, Single, UnmanagedResource};
use crate::compare::{Names, Unit};

/// One pulled resource.
#[derive(Clone, Debug)]
pub struct Piece {
    pub thing: Arc<UnmanagedResource>,
    pub key: String,
    /// Whether it is not declared yet.
    pub is_new: bool,
    /// Codes whose errors become warnings for it, because the service has it like that.
    pub warn: BTreeSet<&'static str>,
    /// Whether it names segments by id, because keys would form a circle.
    by_id: bool,
}

impl Piece {
    pub fn address(&self) -> Address {
        Address::new(self.thing.kind.key, self.key.clone())
    }
}

/// All pulled resources.
#[derive(Debug)]
pub struct Draft<'l> {
    pub pieces: Vec<Piece>,
    /// Undeclared tag groups in pulled audiences.
    pub groups: BTreeSet<String>,
    pub left: Vec<Left>,
    ledger: &'l Ledger,
    /// The managed segments that are declared, so a manifest can name them.
    declared: BTreeMap<String, String>,
    /// The declared tag groups.
    declared_groups: BTreeSet<String>,
}

impl<'l> Draft<'l> {
    /// Creates a draft of `placed`. `addresses` are declared; the service no longer has those in `gone`, so new
    /// manifests must not name them.
    pub fn new(
        placed: Vec<Placed>,
        left: Vec<Left>,
        ledger: &'l Ledger,
        addresses: &BTreeSet<Address>,
        gone: &BTreeSet<Address>,
    ) -> Self {
        let piece = |Placed { thing, key, is_new }| Piece { thing, key, is_new, warn: BTreeSet::new(), by_id: false };
        let segments = ledger.owned.iter().filter(|(address, _)| address.kind == Segment::KEY);
        let declared = segments.filter(|(address, _)| addresses.contains(address) && !gone.contains(address));
        let declared = declared.map(|(address, owned)| (owned.id.clone(), address.key.clone())).collect();
        let groups = addresses.iter().filter(|address| address.kind == TagGroup::KEY);
        let declared_groups = groups.map(|address| address.key.clone()).collect();
        let pieces = placed.into_iter().map(piece).collect();
        Self { pieces, groups: BTreeSet::new(), left, ledger, declared, declared_groups }
    }

    /// The keys of pulled segments, by their ids.
    fn pulled(&self) -> BTreeMap<&str, &str> {
        let segments = self.pieces.iter().filter(|piece| piece.thing.kind.key == Segment::KEY);
        segments.map(|piece| (piece.thing.id.as_str(), piece.key.as_str())).collect()
    }

    /// Each piece as in a manifest, with keys of segments if they have one there.
    pub fn written(&self) -> Vec<(&Piece, Value)> {
        let pulled = self.pulled();
        let spec = |piece: &Piece| {
            point(piece.thing.kind.api.audiences(), &piece.thing.whole(), &mut |reference| {
                let Some(id) = reference.as_str() else { return reference.clone() };
                let key = pulled.get(id).copied().or_else(|| self.declared.get(id).map(String::as_str));
                key.filter(|_| !piece.by_id).map_or_else(|| written::outside(id), Value::from)
            })
        };
        self.pieces.iter().map(|piece| (piece, spec(piece))).collect()
    }

    /// The records for the ledger: all of it is managed and unchanged.
    pub fn adopted(&self) -> Vec<Adopted> {
        let (pulled, ours) = (self.pulled(), Names::new(self.ledger));
        let each = |piece| move |single| (piece, single);
        let singles = self.pieces.iter().flat_map(|piece: &Piece| piece.thing.singles.iter().map(each(piece)));
        singles.map(|(piece, single)| adopted(piece, single, &pulled, &ours)).collect()
    }

    /// Corrects the draft according to findings about it. Returns whether it has to be checked again.
    pub fn mend(&mut self, findings: &[Finding]) -> bool {
        let mut errors: BTreeMap<&Address, Vec<&Finding>> = BTreeMap::new();
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
            if let Some(address) = &finding.address {
                errors.entry(address).or_default().push(finding);
            }
        }
        let mut changed = false;
        let mut pieces = std::mem::take(&mut self.pieces);
        let groups = pieces.iter().filter(|piece| piece.thing.kind.key == TagGroup::KEY);
        let known: BTreeSet<String> = groups
            .map(|piece| piece.key.clone())
            .chain(self.groups.clone())
            .chain(self.declared_groups.clone())
            .collect();
        pieces.retain_mut(|piece| {
            let Some(errors) = errors.get(&piece.address()).filter(|_| piece.is_new) else { return true };
            changed = true;
            let before = piece.clone();
            let refused =
                errors.iter().filter(|finding| !self.answer(&known, &before, piece, finding)).min_by_key(|it| it.at);
            if let Some(finding) = refused {
                self.left.push(left(piece, finding.message.clone()));
            }
            refused.is_none()
        });
        self.pieces = pieces;
        changed
    }

    /// Tag groups that a resource names, and that are not declared and can be.
    pub fn undeclared(&self, kind: &Kind, key: &str, spec: &Value) -> BTreeSet<String> {
        let is_piece = |group: &String| self.pieces.iter().any(|piece| piece.address() == group_address(group));
        let is_known = |group: &String| self.declared_groups.contains(group) || self.groups.contains(group);
        let mut found = groups(kind, key, spec);
        found.retain(|group| can_be_declared(group) && !is_known(group) && !is_piece(group));
        found
    }

    /// Corrects a piece so that a finding is no longer an error; `false` if that was done before without success.
    fn answer(&mut self, known: &BTreeSet<String>, before: &Piece, piece: &mut Piece, finding: &Finding) -> bool {
        if finding.code == &codes::RF103 {
            let can_be = |group: &String| can_be_declared(group) && !known.contains(group);
            let missing: Vec<String> =
                groups(piece.thing.kind, &piece.key, &piece.thing.whole()).into_iter().filter(can_be).collect();
            if !missing.is_empty() {
                self.groups.extend(missing);
                return true;
            }
        }
        if finding.code.is_free() {
            piece.warn.insert(finding.code.name);
            return !before.warn.contains(finding.code.name);
        }
        let names_segments = !segments(piece.thing.kind.api.audiences(), &piece.thing.whole()).is_empty();
        piece.by_id |= names_segments;
        names_segments && !before.by_id
    }

    /// Drops resources whose manifest would differ from the live state. Returns whether there was any.
    pub fn verify(&mut self, units: &BTreeMap<Address, Unit>) -> bool {
        let before = self.pieces.len();
        let ids: BTreeMap<String, String> =
            self.pulled().into_iter().map(|(id, key)| (id.to_owned(), key.to_owned())).collect();
        let ours = Names::new(self.ledger);
        // A manifest may name a segment by id although it has a key.
        let by_key = |reference: &Value| {
            let id = reference["id"].as_str();
            let key = id.and_then(|id| ids.get(id).map(String::as_str).or_else(|| ours.key(id)));
            key.map_or_else(|| reference.clone(), Value::from)
        };
        let pulled: BTreeMap<&str, &str> = ids.iter().map(|(id, key)| (id.as_str(), key.as_str())).collect();
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.retain(|piece| {
            // One by one, because an account can have more members of a tag group than fit into memory twice.
            let same = |single: &Single| {
                let Adopted { address, spec, .. } = adopted(piece, single, &pulled, &ours);
                let audiences = piece.thing.kind.api.audiences();
                let said = units.get(&address).map(|unit| point(audiences, &unit.spec, &mut |it| by_key(it)));
                said == Some(spec.into_value())
            };
            let differs = !piece.thing.singles.iter().all(same);
            if differs {
                let why = match piece.is_new {
                    true => {
                        "its manifest would have another meaning, maybe because of the project's `defaults`".to_owned()
                    }
                    false => format!("{} is different; `pushplan adopt {0}` manages it", piece.address()),
                };
                self.left.push(Left { undecided: !piece.is_new, ..left(piece, why) });
            }
            !differs
        });
        self.pieces = pieces;
        self.pieces.len() != before
    }
}

/// The record for one unit. `pulled` has the keys of pulled segments, by their ids.
fn adopted(piece: &Piece, single: &Single, pulled: &BTreeMap<&str, &str>, ours: &Names) -> Adopted {
    let mut refs = BTreeMap::new();
    let spec = pointed(piece.thing.kind.api.audiences(), &single.spec, &mut |reference| {
        let Some(id) = reference.as_str() else { return reference.clone() };
        let Some(key) = pulled.get(id).copied().or_else(|| ours.key(id)) else {
            return written::outside(id);
        };
        refs.insert(key.to_owned(), id.to_owned());
        Value::from(key)
    });
    Adopted {
        address: piece.thing.address(&piece.key, single),
        id: single.id.clone(),
        spec,
        refs,
        stamp: single.stamp.clone(),
        push_ids: single.push_ids.clone(),
        protect: false,
        past: piece.thing.past,
        zone: None,
        pruned: false,
    }
}

fn left(piece: &Piece, why: String) -> Left {
    let UnmanagedResource { kind, name, id, .. } = &*piece.thing;
    Left {
        kind: kind.key,
        why: why.into(),
        name: name.clone(),
        id: id.clone(),
        key: None,
        is_part: false,
        undecided: false,
    }
}

fn can_be_declared(group: &str) -> bool {
    can_be_key(group) && !is_reserved(group)
}

/// The tag groups that a resource names.
fn groups(kind: &Kind, key: &str, spec: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let Some(read) = kind.api.read(spec) else { return found };
    let key = At::new(key.to_owned(), Span::NONE);
    let mut parts = Parts::new(&key);
    read.parts(&mut parts);
    for audience in &parts.audiences {
        audience.selector.walk(&mut |selector| {
            if let Selector::Tag(tag) = &selector.value {
                found.extend(tag.group.as_ref().map(|group| group.value.clone()));
            }
        });
    }
    for trigger in &parts.triggers {
        if let Trigger::TagAdded { group: Some(group), .. } = trigger {
            found.insert(group.value.clone());
        }
    }
    found
}

/// The address of a tag group.
pub(crate) fn group_address(name: &str) -> Address {
    Address::new(TagGroup::KEY, name.to_owned())
}

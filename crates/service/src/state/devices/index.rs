use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::carriers::Carriers;
use super::shared::Pool;
use super::{Device, Properties, Tags};
use crate::state::line::{Line, Lines};
use crate::state::table::{Journal, read, written};
use crate::store::Kept;

/// A set of devices, by their numbers.
pub type Numbers = BTreeSet<u32>;

/// All devices of an application, found by tag, named user, address and id.
///
/// The index contains each device under every tag that it has: its own, the derived ones and those of its named user.
/// So an audience is found through its rarest tag, without looking at every device.
#[derive(Debug)]
pub struct Index {
    /// By number. Devices are never removed, so a number always means the same device.
    devices: Vec<(Arc<str>, Device, Line)>,
    lines_kept: Lines,
    number_of: BTreeMap<Arc<str>, u32>,
    lists: Lists,
    tags: Pool<Tags>,
    properties: Pool<Properties>,
}

/// The name of the table in the store.
const TABLE: &str = "devices";

/// Devices by everything except their ids. Empty lists are removed.
#[derive(Debug, Default, PartialEq)]
struct Lists {
    /// Tags of named users, by named user.
    user_tags: HashMap<String, Tags>,
    tagged: HashMap<String, BTreeMap<String, Carriers>>,
    users: HashMap<String, Numbers>,
    /// Open channels of several platforms can share an address.
    addresses: HashMap<String, Numbers>,
    installed: Carriers,
}

impl Index {
    pub fn new() -> Self {
        Self {
            devices: Vec::new(),
            lines_kept: Lines::default(),
            number_of: BTreeMap::new(),
            lists: Lists::default(),
            tags: Pool::default(),
            properties: Pool::default(),
        }
    }

    pub fn get(&self, id: &str) -> Option<&Device> {
        self.device(self.by_id(id)?)
    }

    pub fn len(&self) -> usize {
        self.devices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Returns all devices by id, in a fixed order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Device)> {
        self.number_of.iter().map(|(id, number)| (&**id, &self.devices[*number as usize].1))
    }

    /// Returns devices from an id on, for paging.
    pub fn from(&self, start: &str) -> impl Iterator<Item = (&str, &Device)> {
        let from = self.number_of.range::<str, _>((Bound::Included(start), Bound::Unbounded));
        from.map(|(id, number)| (&**id, &self.devices[*number as usize].1))
    }

    /// Returns ids and lines from an id on, for paging. `write` creates a line that is not cached.
    pub fn lines<'i, W: Fn(&str, &Device) -> String>(
        &'i self,
        start: &str,
        write: W,
    ) -> impl Iterator<Item = (&'i str, Cow<'i, str>)> + use<'i, W> {
        let from = self.number_of.range::<str, _>((Bound::Included(start), Bound::Unbounded));
        from.map(move |(id, number)| (&**id, self.line(*number, &write)))
    }

    /// Returns the line of a device in a list.
    pub fn line(&self, number: u32, write: impl Fn(&str, &Device) -> String) -> Cow<'_, str> {
        let (id, device, line) = &self.devices[number as usize];
        self.lines_kept.of(line, || write(id, device))
    }

    /// Adds a device, or replaces the one with this id.
    pub fn put(&mut self, journal: &mut Journal, id: &str, device: Device) {
        journal.note_before(TABLE, id, || self.get(id).and_then(written));
        journal.note(TABLE, id, || written(&device));
        self.place(id, device);
    }

    fn place(&mut self, id: &str, mut device: Device) {
        self.tags.share(&mut device.tags);
        self.properties.share(&mut device.properties);
        match self.by_id(id) {
            Some(number) => {
                let (_, old, line) = &mut self.devices[number as usize];
                self.lines_kept.forget(line);
                self.lists.remove(number, old);
                self.lists.add(number, &device);
                *old = device;
            }
            None => {
                let (id, number) = (Arc::<str>::from(id), self.devices.len() as u32);
                self.lists.add(number, &device);
                self.number_of.insert(id.clone(), number);
                self.devices.push((id, device, Line::default()));
            }
        }
    }

    /// Changes a device in place; returns `None` if there is none with this id.
    pub fn change<R>(&mut self, journal: &mut Journal, id: &str, change: impl FnOnce(&mut Device) -> R) -> Option<R> {
        let mut device = self.get(id)?.clone();
        let result = change(&mut device);
        self.put(journal, id, device);
        Some(result)
    }

    /// Adds all devices as rows.
    pub(in crate::state) fn dump(&self, journal: &Journal, rows: &mut Vec<Kept>) {
        rows.extend(self.iter().map(|(id, device)| journal.row(TABLE, id, device)));
    }

    /// Loads a device from the disk.
    pub fn load(&mut self, row: &Kept) -> anyhow::Result<()> {
        self.place(&row.key, read(row)?);
        Ok(())
    }

    /// Sets the tags of a named user, which all of its devices have.
    pub(crate) fn set_user_tags(&mut self, user: &str, tags: &Tags) {
        let old = self.lists.user_tags.remove(user).unwrap_or_default();
        for number in self.lists.users.get(user).cloned().unwrap_or_default() {
            let (_, device, _) = &self.devices[number as usize];
            // The device keeps its own tags, whatever its user loses.
            for (group, tag) in pairs(&old).filter(|(group, tag)| !has(tags, group, tag) && !device.has_tag(group, tag))
            {
                drop_from_tag(&mut self.lists.tagged, group, tag, number);
            }
            for (group, tag) in pairs(tags) {
                add_to_tag(&mut self.lists.tagged, group, tag, number);
            }
        }
        if !tags.is_empty() {
            self.lists.user_tags.insert(user.to_owned(), tags.clone());
        }
    }

    /// Whether a named user has a tag.
    pub(crate) fn user_has_tag(&self, user: &str, group: &str, tag: &str) -> bool {
        self.lists.user_tags.get(user).is_some_and(|tags| has(tags, group, tag))
    }

    pub fn id(&self, number: u32) -> &str {
        &self.devices[number as usize].0
    }

    pub fn device(&self, number: u32) -> Option<&Device> {
        self.devices.get(number as usize).map(|(_, device, _)| device)
    }

    pub fn by_id(&self, id: &str) -> Option<u32> {
        self.number_of.get(id).copied()
    }

    /// Returns the open channels with an address, at most one per platform.
    pub(crate) fn at_address(&self, address: &str) -> Option<&Numbers> {
        self.lists.addresses.get(address)
    }

    pub(crate) fn with_tag(&self, group: &str, tag: &str) -> Option<&Carriers> {
        self.lists.tagged.get(group)?.get(tag)
    }

    /// Returns every tag of a group that some device has, sorted.
    pub(crate) fn tags_of(&self, group: &str) -> impl Iterator<Item = &str> {
        self.lists.tagged.get(group).into_iter().flat_map(|tags| tags.keys().map(String::as_str))
    }

    pub fn of_user(&self, user: &str) -> Option<&Numbers> {
        self.lists.users.get(user)
    }

    pub fn installed(&self) -> &Carriers {
        &self.lists.installed
    }
}

#[cfg(test)]
impl Index {
    /// Fails if the lists differ from lists that are built from the devices and the named users alone.
    pub(super) fn assert_as_if_rebuilt(&self) {
        let mut rebuilt = Lists { user_tags: self.lists.user_tags.clone(), ..Lists::default() };
        for (id, device) in self.iter() {
            rebuilt.add(self.number_of[id], device);
        }
        assert_eq!(self.lists, rebuilt);
    }
}

impl Default for Index {
    fn default() -> Self {
        Self::new()
    }
}

impl Lists {
    fn add(&mut self, number: u32, device: &Device) {
        for (group, tag) in device.all_tags() {
            add_to_tag(&mut self.tagged, group, &tag, number);
        }
        if let Some(user) = &device.named_user {
            self.users.entry(user.clone()).or_default().insert(number);
            for (group, tag) in self.user_tags.get(user).into_iter().flat_map(pairs) {
                add_to_tag(&mut self.tagged, group, tag, number);
            }
        }
        if let Some(address) = &device.address {
            self.addresses.entry(address.clone()).or_default().insert(number);
        }
        if device.installed {
            self.installed.insert(number);
        }
    }

    fn remove(&mut self, number: u32, device: &Device) {
        for (group, tag) in device.all_tags() {
            drop_from_tag(&mut self.tagged, group, &tag, number);
        }
        if let Some(user) = &device.named_user {
            drop_from(&mut self.users, user, number);
            for (group, tag) in self.user_tags.get(user).into_iter().flat_map(pairs) {
                drop_from_tag(&mut self.tagged, group, tag, number);
            }
        }
        if let Some(address) = &device.address {
            drop_from(&mut self.addresses, address, number);
        }
        self.installed.remove(&number);
    }
}

/// Tags as group and tag.
pub fn pairs(tags: &Tags) -> impl Iterator<Item = (&str, &str)> {
    tags.iter().flat_map(|(group, tags)| tags.iter().map(|tag| (group.as_str(), tag.as_str())))
}

/// Whether a tag is among these.
pub fn has(tags: &Tags, group: &str, tag: &str) -> bool {
    tags.get(group).is_some_and(|tags| tags.contains(tag))
}

fn drop_from(lists: &mut HashMap<String, Numbers>, key: &str, number: u32) {
    if let Some(devices) = lists.get_mut(key) {
        devices.remove(&number);
        if devices.is_empty() {
            lists.remove(key);
        }
    }
}

fn add_to_tag(tagged: &mut HashMap<String, BTreeMap<String, Carriers>>, group: &str, tag: &str, number: u32) {
    // Nearly always both exist: only a new one costs a copy of its name.
    match tagged.get_mut(group).and_then(|tags| tags.get_mut(tag)) {
        Some(devices) => devices.insert(number),
        None => {
            let tags = tagged.entry(group.to_owned()).or_default();
            tags.insert(tag.to_owned(), Carriers::from_iter([number]));
        }
    }
}

fn drop_from_tag(tagged: &mut HashMap<String, BTreeMap<String, Carriers>>, group: &str, tag: &str, number: u32) {
    let Some(tags) = tagged.get_mut(group) else { return };
    let Some(devices) = tags.get_mut(tag) else { return };
    devices.remove(&number);
    if devices.is_empty() {
        tags.remove(tag);
    }
    if tags.is_empty() {
        tagged.remove(group);
    }
}

use std::collections::{BTreeSet, HashMap, HashSet};

use super::Device;
use crate::service::state::table::{Journal, Table};
use crate::service::store::Kept;

/// A set of devices, by their numbers.
pub type Numbers = BTreeSet<u32>;

/// All devices of an application, found by tag, named user, address and id.
///
/// The index holds each device under every tag that it carries, its own, the derived ones and those of its named user, so
/// that an audience is found through its rarest tag and not by looking at every device.
#[derive(Debug)]
pub struct Index {
    table: Table<Device>,
    /// Tags of named users, by named user, as group and tag.
    user_tags: HashMap<String, HashSet<(String, String)>>,
    number_of: HashMap<String, u32>,
    id_of: Vec<String>,
    tagged: HashMap<String, HashMap<String, Numbers>>,
    users: HashMap<String, Numbers>,
    addresses: HashMap<String, u32>,
    installed: Numbers,
}

impl Index {
    pub fn new() -> Self {
        Self {
            table: Table::new("devices"),
            user_tags: HashMap::new(),
            number_of: HashMap::new(),
            id_of: Vec::new(),
            tagged: HashMap::new(),
            users: HashMap::new(),
            addresses: HashMap::new(),
            installed: Numbers::new(),
        }
    }

    pub fn get(&self, id: &str) -> Option<&Device> {
        self.table.get(id)
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// All devices by id, in a fixed order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &Device)> {
        self.table.iter()
    }

    /// Devices from an id on, for paging.
    pub fn from(&self, start: &str) -> impl Iterator<Item = (&str, &Device)> {
        self.table.from(start)
    }

    /// Adds a device, or replaces the one of that id.
    pub fn put(&mut self, journal: &mut Journal, id: &str, device: Device) {
        let number = self.number(id);
        if let Some(old) = self.table.get(id) {
            let old = old.clone();
            self.unlist(number, &old);
        }
        self.list(number, &device);
        self.table.put(journal, id, device);
    }

    /// Changes a device in place; `None` where there is none of that id.
    pub fn change<R>(&mut self, journal: &mut Journal, id: &str, change: impl FnOnce(&mut Device) -> R) -> Option<R> {
        let mut device = self.table.get(id)?.clone();
        let result = change(&mut device);
        self.put(journal, id, device);
        Some(result)
    }

    /// Takes in a device from the disk.
    pub fn load(&mut self, row: &Kept) -> Result<(), String> {
        self.table.load(row)?;
        let number = self.number(&row.key);
        if let Some(device) = self.table.get(&row.key) {
            let device = device.clone();
            self.list(number, &device);
        }
        Ok(())
    }

    /// Says which tags a named user has: all its devices carry them.
    pub fn set_user_tags(&mut self, user: &str, tags: HashSet<(String, String)>) {
        let old = self.user_tags.remove(user).unwrap_or_default();
        let devices = self.users.get(user).cloned().unwrap_or_default();
        for number in devices {
            let own: HashSet<(String, String)> = match self.table.get(&self.id_of[number as usize]) {
                Some(device) => device.all_tags().map(|(group, tag)| (group.to_owned(), tag)).collect(),
                None => continue,
            };
            for (group, tag) in old.difference(&tags).filter(|pair| !own.contains(pair)) {
                remove(&mut self.tagged, group, tag, number);
            }
            for (group, tag) in &tags {
                insert(&mut self.tagged, group, tag, number);
            }
        }
        if !tags.is_empty() {
            self.user_tags.insert(user.to_owned(), tags);
        }
    }

    pub fn id(&self, number: u32) -> &str {
        &self.id_of[number as usize]
    }

    pub fn device(&self, number: u32) -> Option<&Device> {
        self.table.get(self.id(number))
    }

    pub fn by_id(&self, id: &str) -> Option<u32> {
        self.number_of.get(id).copied()
    }

    pub fn by_address(&self, address: &str) -> Option<u32> {
        self.addresses.get(address).copied()
    }

    pub fn with_tag(&self, group: &str, tag: &str) -> Option<&Numbers> {
        self.tagged.get(group)?.get(tag)
    }

    /// Every tag of a group that some device carries.
    pub fn tags_of(&self, group: &str) -> impl Iterator<Item = &str> {
        self.tagged.get(group).into_iter().flat_map(|tags| tags.keys().map(String::as_str))
    }

    pub fn of_user(&self, user: &str) -> Option<&Numbers> {
        self.users.get(user)
    }

    pub fn installed(&self) -> &Numbers {
        &self.installed
    }

    fn number(&mut self, id: &str) -> u32 {
        if let Some(number) = self.number_of.get(id) {
            return *number;
        }
        let number = self.id_of.len() as u32;
        self.id_of.push(id.to_owned());
        self.number_of.insert(id.to_owned(), number);
        number
    }

    fn list(&mut self, number: u32, device: &Device) {
        for (group, tag) in device.all_tags() {
            insert(&mut self.tagged, group, &tag, number);
        }
        if let Some(user) = &device.named_user {
            self.users.entry(user.clone()).or_default().insert(number);
            for (group, tag) in self.user_tags.get(user).into_iter().flatten() {
                insert(&mut self.tagged, group, tag, number);
            }
        }
        if let Some(address) = &device.address {
            self.addresses.insert(address.clone(), number);
        }
        if device.installed {
            self.installed.insert(number);
        }
    }

    fn unlist(&mut self, number: u32, device: &Device) {
        for (group, tag) in device.all_tags() {
            remove(&mut self.tagged, group, &tag, number);
        }
        if let Some(user) = &device.named_user {
            if let Some(devices) = self.users.get_mut(user) {
                devices.remove(&number);
            }
            for (group, tag) in self.user_tags.get(user).into_iter().flatten() {
                remove(&mut self.tagged, group, tag, number);
            }
        }
        if let Some(address) = &device.address {
            self.addresses.remove(address);
        }
        self.installed.remove(&number);
    }
}

impl Default for Index {
    fn default() -> Self {
        Self::new()
    }
}

fn insert(tagged: &mut HashMap<String, HashMap<String, Numbers>>, group: &str, tag: &str, number: u32) {
    if !tagged.contains_key(group) {
        tagged.insert(group.to_owned(), HashMap::new());
    }
    let tags = tagged.get_mut(group).expect("just inserted");
    match tags.get_mut(tag) {
        Some(devices) => {
            devices.insert(number);
        }
        None => {
            tags.insert(tag.to_owned(), Numbers::from([number]));
        }
    }
}

fn remove(tagged: &mut HashMap<String, HashMap<String, Numbers>>, group: &str, tag: &str, number: u32) {
    if let Some(tags) = tagged.get_mut(group)
        && let Some(devices) = tags.get_mut(tag)
    {
        devices.remove(&number);
        if devices.is_empty() {
            tags.remove(tag);
        }
    }
}

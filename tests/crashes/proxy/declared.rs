//! The manifests of a story: things of all nine kinds, and what a person edits in them.

use pushplan_testing::Dice;

/// The kinds, by their keys in a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    TagGroup,
    Segment,
    Template,
    Pipeline,
    Push,
    Experiment,
    NamedUser,
    OpenChannel,
    LegacyTag,
}

pub const KINDS: [Kind; 9] = [
    Kind::TagGroup,
    Kind::Segment,
    Kind::Template,
    Kind::Pipeline,
    Kind::Push,
    Kind::Experiment,
    Kind::NamedUser,
    Kind::OpenChannel,
    Kind::LegacyTag,
];

impl Kind {
    pub fn key(self) -> &'static str {
        match self {
            Self::TagGroup => "tag_groups",
            Self::Segment => "segments",
            Self::Template => "templates",
            Self::Pipeline => "pipelines",
            Self::Push => "scheduled_pushes",
            Self::Experiment => "experiments",
            Self::NamedUser => "named_users",
            Self::OpenChannel => "open_channels",
            Self::LegacyTag => "tags",
        }
    }

    fn letter(self) -> char {
        match self {
            Self::TagGroup => 'g',
            Self::Segment => 's',
            Self::Template => 't',
            Self::Pipeline => 'p',
            Self::Push => 'q',
            Self::Experiment => 'e',
            Self::NamedUser => 'n',
            Self::OpenChannel => 'o',
            Self::LegacyTag => 'l',
        }
    }

    pub fn is_timed(self) -> bool {
        matches!(self, Self::Push | Self::Experiment)
    }

    /// Whether the service may hold several of one name, so that a person can create a namesake in the dashboard.
    pub fn has_namesakes(self) -> bool {
        matches!(self, Self::Segment | Self::Template | Self::Pipeline | Self::Push | Self::Experiment)
    }
}

/// The audience of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Everyone,
    Tag(&'static str),
    /// The segment with this number.
    Segment(usize),
}

/// One declared thing. Its number stays the same for its whole life, whatever is edited; everything that it says carries the
/// number and the version, so that each message on a device and each object on the service shows what it is a version of.
#[derive(Clone, Debug)]
pub struct Thing {
    pub number: usize,
    pub kind: Kind,
    pub key: String,
    /// The keys that it had before.
    pub old_keys: Vec<String>,
    /// `lifecycle.renamed_from`.
    pub renamed_from: Option<String>,
    /// The name on the service, if it is not the key.
    pub name: Option<String>,
    pub version: usize,
    /// The day of a push, counted from the start of the story's calendar.
    pub day: usize,
    pub audience: Audience,
    edited: Edited,
}

/// What a person has edited so far. Under a new key, a message is recognized by two of time, audience and text; if all of them
/// changed, it is another message, and both are sent.
#[derive(Clone, Copy, Debug, Default)]
struct Edited {
    time: bool,
    audience: bool,
    /// The key, and the ledger may not know that from `renamed_from`.
    key: bool,
}

impl Edited {
    fn is_recognized(self) -> bool {
        !(self.time && self.audience && self.key)
    }
}

impl Thing {
    pub fn address(&self) -> String {
        format!("{}/{}", self.kind.key(), self.key)
    }

    /// All addresses that it ever had.
    pub fn addresses(&self) -> Vec<String> {
        self.old_keys.iter().chain([&self.key]).map(|key| format!("{}/{key}", self.kind.key())).collect()
    }

    /// What every version of it carries.
    pub fn mark(&self) -> String {
        format!("{}{:03}v", self.kind.letter(), self.number)
    }

    /// What this version carries.
    pub fn word(&self) -> String {
        format!("{}{}", self.mark(), self.version)
    }

    pub fn service_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.key)
    }

    /// The text that people read. Versions differ in one word.
    pub fn text(&self) -> String {
        format!("Offer {} ends today", self.word())
    }

    /// Devices of its own, and the one that this version names.
    pub fn devices(&self) -> [String; 2] {
        [0, 1].map(|n| format!("device-{}{:03}-{n}", self.kind.letter(), self.number))
    }

    pub fn device(&self) -> String {
        self.devices()[self.version % 2].clone()
    }
}

/// Everything that the manifests declare.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    pub things: Vec<Thing>,
    /// Things that were declared once.
    pub removed: Vec<Thing>,
    /// Pushes are sent between edits. The key of what was sent may be used for a new message, so that a message is
    /// renamed with `renamed_from`, and once.
    pub has_clock: bool,
    next: usize,
}

impl Declared {
    pub fn all_ever(&self) -> impl Iterator<Item = &Thing> {
        self.things.iter().chain(&self.removed)
    }

    pub fn thing(&self, number: usize) -> Option<&Thing> {
        self.things.iter().find(|thing| thing.number == number)
    }

    /// Adds a thing of a kind. Pushes are sent at least two days after today.
    pub fn add(&mut self, kind: Kind, today: usize, dice: &mut Dice) -> String {
        self.next += 1;
        let number = self.next;
        let key = format!("{}-{number}", kind.letter());
        let day = today + 2 + dice.below(30);
        let audience = self.audience(dice);
        let name = (kind.has_namesakes() && dice.once_in(2)).then(|| format!("Named {number}"));
        let (old_keys, renamed_from) = (Vec::new(), None);
        self.things.push(Thing {
            number,
            kind,
            key,
            old_keys,
            renamed_from,
            name,
            version: 1,
            day,
            audience,
            edited: Edited::default(),
        });
        format!("add {}", self.things.last().expect("just added").address())
    }

    fn audience(&self, dice: &mut Dice) -> Audience {
        let segments: Vec<usize> =
            self.things.iter().filter(|thing| thing.kind == Kind::Segment).map(|thing| thing.number).collect();
        match dice.below(5) {
            0 => Audience::Everyone,
            1 => Audience::Tag("vip"),
            2 | 3 if !segments.is_empty() => Audience::Segment(*dice.pick(&segments)),
            _ => Audience::Tag("new"),
        }
    }

    /// One random edit, as a person makes it. Returns what was edited.
    pub fn edit(&mut self, today: usize, dice: &mut Dice) -> String {
        let place = dice.below(self.things.len());
        // Messages are what stories are about.
        let timed: Vec<usize> = (0..self.things.len()).filter(|&n| self.things[n].kind.is_timed()).collect();
        let place = if dice.once_in(2) && !timed.is_empty() { *dice.pick(&timed) } else { place };
        let audience = self.audience(dice);
        let (address, kind) = (self.things[place].address(), self.things[place].kind);
        // The time of what was sent is history: a later one would ask for a second message.
        let is_to_come = kind.is_timed() && self.things[place].day > today;
        match dice.below(8) {
            0 if is_to_come && self.mark(place, |edited| edited.time = true) => {
                self.things[place].day = today + 2 + dice.below(30);
                format!("edit the time of {address}")
            }
            1 if kind.is_timed() && self.mark(place, |edited| edited.audience = true) => {
                self.things[place].audience = audience;
                format!("edit the audience of {address}")
            }
            2 => self.rename(place, dice),
            3 => {
                self.things[place].version += 1;
                format!("edit the text and {}", self.rename(place, dice))
            }
            4 if self.mark_audiences_of(place) => self.remove(place),
            5 => {
                let kind = *dice.pick(&KINDS);
                self.add(kind, today, dice)
            }
            _ => {
                self.things[place].version += 1;
                format!("edit the text of {address}")
            }
        }
    }

    /// Records an edit of a thing, unless its messages would not be recognized after it.
    fn mark(&mut self, place: usize, edit: fn(&mut Edited)) -> bool {
        let mut edited = self.things[place].edited;
        edit(&mut edited);
        if edited.is_recognized() {
            self.things[place].edited = edited;
        }
        edited.is_recognized()
    }

    /// Records an edit of the audience of every thing that names a segment, unless its messages would not be recognized
    /// after it.
    fn mark_audiences_of(&mut self, segment: usize) -> bool {
        let number = self.things[segment].number;
        let users: Vec<usize> =
            (0..self.things.len()).filter(|&place| self.things[place].audience == Audience::Segment(number)).collect();
        users.into_iter().all(|place| self.mark(place, |edited| edited.audience = true))
    }

    fn rename(&mut self, place: usize, dice: &mut Dice) -> String {
        let (is_timed, is_renamed) = (self.things[place].kind.is_timed(), !self.things[place].old_keys.is_empty());
        let is_told = (is_timed && self.has_clock) || dice.once_in(3);
        // The ledger does not know a key that was never applied.
        let is_followed = is_told && !is_renamed;
        if (is_timed && self.has_clock && is_renamed)
            || (!is_followed && !self.mark(place, |edited| edited.key = true))
            || !self.mark_audiences_of(place)
        {
            return format!("leave the key of {}", self.things[place].address());
        }
        let thing = &mut self.things[place];
        let (old, from) = (thing.address(), thing.key.clone());
        thing.key = format!("{}-{}-{}", thing.kind.letter(), thing.number, thing.old_keys.len() + 2);
        thing.renamed_from = is_told.then(|| from.clone());
        thing.old_keys.push(from);
        let hint = if is_told { " with renamed_from" } else { "" };
        format!("rename {old} to {}{hint}", thing.address())
    }

    pub fn remove(&mut self, place: usize) -> String {
        let gone = self.things.remove(place);
        for thing in self.things.iter_mut().filter(|thing| thing.audience == Audience::Segment(gone.number)) {
            thing.audience = Audience::Tag("vip");
        }
        let told = format!("remove {}", gone.address());
        self.removed.push(gone);
        told
    }
}

//! The floor: the work that no plan can do without, and nothing else.
//!
//! The manifests are parsed into plain structs on all cores, while one client fetches the lists of the service and parses them.
//! Then both are joined by name and compared. Positions, checks, messages, the ledger and the plan itself are left out.

pub mod client;
mod join;
mod lists;
mod split;
#[expect(dead_code, reason = "what lists do not show is parsed all the same")]
mod typed;

use std::collections::BTreeMap;
use std::path::Path;

use granit_parser::Parser;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::runtime::Builder;

use client::Place;
use split::{Piece, pieces, read};
use typed::{Experiment, NamedUser, OpenChannel, Pipeline, ScheduledPush, Segment, Tag, TagGroup, Template};

type Keyed<T> = BTreeMap<String, T>;

/// Everything that the manifests declare.
#[derive(Debug, Default)]
struct Declared {
    tag_groups: Keyed<TagGroup>,
    segments: Keyed<Segment>,
    templates: Keyed<Template>,
    pipelines: Keyed<Pipeline>,
    scheduled_pushes: Keyed<ScheduledPush>,
    experiments: Keyed<Experiment>,
    named_users: Keyed<NamedUser>,
    open_channels: Keyed<OpenChannel>,
    tags: Keyed<Tag>,
}

fn parse<T: DeserializeOwned>(text: &str) -> Keyed<T> {
    let mut options = serde_saphyr::Options::default();
    options.budget = None;
    serde_saphyr::from_str_with_options(text, options).unwrap_or_else(|error| panic!("{error}"))
}

impl Declared {
    fn of(Piece { kind, text }: Piece) -> Self {
        let mut declared = Self::default();
        match kind {
            "tag_groups" => declared.tag_groups = parse(text),
            "segments" => declared.segments = parse(text),
            "templates" => declared.templates = parse(text),
            "pipelines" => declared.pipelines = parse(text),
            "scheduled_pushes" => declared.scheduled_pushes = parse(text),
            "experiments" => declared.experiments = parse(text),
            "named_users" => declared.named_users = parse(text),
            "open_channels" => declared.open_channels = parse(text),
            "tags" => declared.tags = parse(text),
            _ => panic!("`{kind}` is not a kind"),
        }
        declared
    }

    fn and(mut self, other: Self) -> Self {
        fn more<T>(all: &mut Keyed<T>, other: Keyed<T>) {
            if all.is_empty() {
                *all = other;
            } else {
                // One by one: to append a map walks through both, which for as many files as resources is a square.
                all.extend(other);
            }
        }
        more(&mut self.tag_groups, other.tag_groups);
        more(&mut self.segments, other.segments);
        more(&mut self.templates, other.templates);
        more(&mut self.pipelines, other.pipelines);
        more(&mut self.scheduled_pushes, other.scheduled_pushes);
        more(&mut self.experiments, other.experiments);
        more(&mut self.named_users, other.named_users);
        more(&mut self.open_channels, other.open_channels);
        more(&mut self.tags, other.tags);
        self
    }
}

/// The program: plans in the barest way, and says in JSON how many resources and differences there are, and what it asked for.
pub fn run(folder: &str) -> String {
    let place = Place::from_environment();
    let (declared, lists) = std::thread::scope(|scope| {
        let fetching = scope.spawn(|| {
            let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
            runtime.block_on(lists::fetch(&place))
        });
        let texts = read(Path::new(folder));
        let all: Vec<Piece> = texts.par_iter().flat_map_iter(|text| pieces(text)).collect();
        let parts: Vec<Declared> = all.par_iter().map(|piece| Declared::of(*piece)).collect();
        let declared = parts.into_iter().fold(Declared::default(), Declared::and);
        (declared, fetching.join().expect("lists"))
    });
    let asked = json!({ "requests": lists.requests, "bytes": lists.bytes });
    let compared = join::compare(declared, lists);
    json!({ "resources": compared.resources, "differences": compared.differences, "asked": asked }).to_string()
}

/// The program: the events of the parser for the manifests on all cores, and how many there are.
pub fn events(folder: &str) -> usize {
    let texts = read(Path::new(folder));
    let all: Vec<Piece> = texts.par_iter().flat_map_iter(|text| pieces(text)).collect();
    let count = |piece: &Piece| {
        let mut options = granit_parser::options! { strict_indentation: true };
        options.set_emit_comments(false);
        Parser::new_from_str_with_options(piece.text, options).inspect(|event| assert!(event.is_ok())).count()
    };
    all.par_iter().map(count).sum()
}

mod things;

use clap::{ArgGroup, Args, Subcommand};

use super::forms::{PLAIN, described};
use super::planning::TargetArgs;
use super::{Context, Ended, asking};
use crate::engine::target::Opened;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::kinds::{Resource, Segment, Template};
use crate::query::people::{Channel, NamedUser};
use crate::query::place::{PlaceQuery, corners, places, point};
use crate::render::Format;
use crate::render::Style;
use crate::render::lookup::{self, json, json::LookedUp};

/// Find place ids, tags of a channel, contents of a segment.
///
/// It only reads from the service. Of the project, only pushplan.toml is used, so the manifests may have errors.
#[derive(Debug, Args)]
pub struct Lookup {
    #[command(subcommand)]
    what: LookupCommand,
}

#[derive(Debug, Subcommand)]
enum LookupCommand {
    /// Places with their ids, for `location: {id: …}` in the criteria of a segment
    #[command(group = ArgGroup::new("where").required(true).args(["name", "point", "within"]))]
    Location(Location),
    /// A channel: its device, whether it is opted in, its tags by group, its named user
    Channel(LookupId),
    /// A named user: its tags and its channels
    #[command(alias = "named_user")]
    NamedUser(LookupId),
    /// Segments by name or id: their conditions
    Segment(LookupId),
    /// Templates by name or id: their texts and variables
    Template(LookupId),
}

#[derive(Debug, Args)]
struct Location {
    /// Name of a city, state or province
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Places at a point, such as 52.52,13.405
    #[arg(long, value_name = "LAT,LON", value_parser = point, allow_hyphen_values = true)]
    point: Option<[f64; 2]>,

    /// Places in a box, such as 37.6,-122.6,37.9,-122.0
    #[arg(long = "box", value_name = "SOUTH,WEST,NORTH,EAST", value_parser = corners, allow_hyphen_values = true)]
    within: Option<[f64; 4]>,

    /// Only places of this type, such as city or province
    #[arg(long, value_name = "TYPE")]
    r#type: Option<String>,

    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct LookupId {
    /// Its id; for segments and templates also the name, or the key if it is managed
    #[arg(value_name = "ID")]
    id: String,

    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
struct How {
    /// Form: text for people, json for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    place: TargetArgs,
}

impl Lookup {
    pub fn run(&self, context: &Context) -> Ended {
        let how = match &self.what {
            LookupCommand::Location(location) => &location.how,
            LookupCommand::Channel(one)
            | LookupCommand::NamedUser(one)
            | LookupCommand::Segment(one)
            | LookupCommand::Template(one) => &one.how,
        };
        let (target, found) = asking::with(&how.place, context, async |opened| {
            let found = match &self.what {
                LookupCommand::Location(location) => location.find(opened).await,
                LookupCommand::Channel(one) => channel(opened, &one.id).await,
                LookupCommand::NamedUser(one) => named_user(opened, &one.id).await,
                LookupCommand::Segment(one) => things::find(Segment::KEY, &one.id, opened, &how.place, context).await,
                LookupCommand::Template(one) => things::find(Template::KEY, &one.id, opened, &how.place, context).await,
            };
            Ok((opened.name.clone(), found?))
        })?;
        match how.format {
            Format::Json => context.out.json(&json::json(&target, found)),
            _ => context.out.print(&text(&found, context.out.style())),
        }
        Ok(Exit::Done)
    }
}

fn text(found: &LookedUp, style: Style) -> String {
    match found {
        LookedUp::Places(places) => lookup::places(places, style),
        LookedUp::Channel(channel) => lookup::channel(channel, style),
        LookedUp::NamedUser(user) => lookup::named_user(user, style),
        LookedUp::Things(things) => lookup::things(things, style),
    }
}

impl Location {
    async fn find(&self, opened: &Opened) -> Result<LookedUp, Failure> {
        let wanted = match (&self.name, self.point, self.within) {
            (_, Some(point), _) => PlaceQuery::Point(point),
            (_, _, Some(corners)) => PlaceQuery::Within(corners),
            (name, None, None) => PlaceQuery::Named(name.clone().unwrap_or_default()),
        };
        let read = async |kind: Option<&str>| {
            let path = wanted.path(kind);
            let body = asking::read(opened, &path).await?;
            places(&body).map_err(|why| asking::unclear(&path, why))
        };
        let found = read(self.r#type.as_deref()).await?;
        if !found.is_empty() {
            return Ok(LookedUp::Places(found));
        }
        let of_type = self.r#type.as_ref().map(|kind| format!(" of the type `{kind}`")).unwrap_or_default();
        let failure = Failure::new(match &wanted {
            PlaceQuery::Named(name) => format!("{} has no place{of_type} with the name `{name}`", opened.name),
            PlaceQuery::Point([latitude, longitude]) => {
                format!("{} has no place{of_type} at {latitude},{longitude}", opened.name)
            }
            PlaceQuery::Within(_) => format!("{} has no place{of_type} in this box", opened.name),
        });
        // The type may be wrong.
        let others = if self.r#type.is_some() { read(None).await? } else { Vec::new() };
        Err(match (others.first(), &wanted) {
            (Some(other), _) => failure.help(format!("without --type there is {}, {}", other.name, other.r#type)),
            (None, PlaceQuery::Named(_)) => failure.help(
                "the service may use another spelling, such as the English one; --point LAT,LON finds the places at \
                    a point",
            ),
            (None, PlaceQuery::Point(_) | PlaceQuery::Within(_)) => {
                failure.help("the latitude comes first, then the longitude")
            }
        })
    }
}

async fn channel(opened: &Opened, id: &str) -> Result<LookedUp, Failure> {
    let path = Channel::path(usable(id, "channel")?);
    let Some(body) = asking::find(opened, &path).await? else {
        return Err(Failure::new(format!("{} has no channel `{id}`", opened.name))
            .help("write a channel id such as 04cc8283-ae38-4177-b206-6f92cf1992cb; the app can read its own"));
    };
    Channel::read(&body).map(LookedUp::Channel).map_err(|why| asking::unclear(&path, why))
}

async fn named_user(opened: &Opened, id: &str) -> Result<LookedUp, Failure> {
    let path = NamedUser::path(usable(id, "named user")?);
    let Some(body) = asking::find(opened, &path).await? else {
        return Err(Failure::new(format!("{} has no named user `{id}`", opened.name))
            .help("a named user exists when it has a channel or a tag; upper and lower case count"));
    };
    NamedUser::read(&body).map(LookedUp::NamedUser).map_err(|why| asking::unclear(&path, why))
}

/// An id that can be part of a path: an empty one would request the whole list, and dots another path.
fn usable<'i>(id: &'i str, noun: &str) -> Result<&'i str, Failure> {
    match id {
        "" | "." | ".." => Err(Failure::usage(format!("`{id}` is not the id of a {noun}"))),
        id => Ok(id),
    }
}

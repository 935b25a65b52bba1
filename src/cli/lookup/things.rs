//! Resources of a kind that the service lists, by id or name.

use serde_json::Value;

use crate::cli::Context;
use crate::cli::asking;
use crate::cli::planning::TargetArgs;
use crate::engine::target::Opened;
use crate::exchange::Request;
use crate::failure::Failure;
use crate::kinds::{self, Found, Kind};
use crate::ledger::{Ledger, Log};
use crate::render::lookup::{LookedUpThing, json};
use crate::text;

/// The number of resources with one name that are shown.
const MOST: usize = 20;

/// The resources with an id or a name.
pub async fn find(
    key: &str,
    wanted: &str,
    opened: &Opened,
    place: &TargetArgs,
    context: &Context,
) -> Result<json::LookedUp, Failure> {
    let kind = kinds::kind(key).ok_or_else(|| Failure::new(format!("`{key}` is not a kind")))?;
    let ledger = ledger(place, opened, context).await;
    let mut found: Vec<Found> = by_id(kind, wanted, opened).await?.into_iter().collect();
    if found.is_empty() {
        found = match by_name(kind, wanted, opened).await {
            Ok(found) => found,
            // Authors may use its key.
            Err(failure) => by_key(kind, wanted, &ledger, opened).await?.map(|one| vec![one]).ok_or(failure)?,
        };
    }
    if found.len() > MOST {
        let more = found.len() - MOST;
        context.out.note(&format!("{} of {} with this name are shown; {more} more have it.", MOST, found.len()));
        found.truncate(MOST);
    }
    let mut things = Vec::new();
    for one in found {
        let whole = match one.spec {
            Some(_) => Some(one),
            // It may have been deleted since.
            None => content(kind, &one, opened).await?,
        };
        things.extend(whole.map(|whole| LookedUpThing::of(kind, &whole, &ledger)));
    }
    match things.is_empty() {
        true => Err(Failure::new(format!("the {} `{wanted}` no longer exists", kind.noun))),
        false => Ok(json::LookedUp::Things(things)),
    }
}

/// The ledger, if it exists, can be read and is about this application.
async fn ledger(place: &TargetArgs, opened: &Opened, context: &Context) -> Ledger {
    let Ok((log, _)) = place.log() else { return Ledger::default() };
    match log.read(0).await {
        Ok(entries) => {
            let ledger = Ledger::replay(entries);
            if ledger.app.is_empty() || ledger.app == opened.app { ledger } else { Ledger::default() }
        }
        Err(why) => {
            context
                .out
                .note(&format!("It is unknown which of these pushplan manages: {}", text::short(&why.message, 200)));
            Ledger::default()
        }
    }
}

/// The resource with this id. A text that cannot be an id is not requested.
async fn by_id(kind: &'static Kind, id: &str, opened: &Opened) -> Result<Option<Found>, Failure> {
    let is_id = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let request = kind.api.get(id, &Value::Null, opened.level).filter(|_| is_id && !id.is_empty());
    match request {
        Some(request) => read(kind, id, &request, opened).await,
        None => Ok(None),
    }
}

/// The managed resource with this key.
async fn by_key(kind: &'static Kind, key: &str, ledger: &Ledger, opened: &Opened) -> Result<Option<Found>, Failure> {
    let ours = ledger.owned.iter().find(|(address, _)| address.kind == kind.key && address.key == key);
    match ours {
        Some((_, owned)) => by_id(kind, &owned.id, opened).await,
        None => Ok(None),
    }
}

/// A listed resource, with its content.
async fn content(kind: &'static Kind, listed: &Found, opened: &Opened) -> Result<Option<Found>, Failure> {
    let Some(request) = kind.api.get(&listed.id, &Value::Null, opened.level) else { return Ok(Some(listed.clone())) };
    let read = read(kind, &listed.id, &request, opened).await?;
    // A list has fields that the resource's own answer lacks.
    Ok(read.map(|read| Found { spec: read.spec, ..listed.clone() }))
}

async fn read(kind: &'static Kind, id: &str, request: &Request, opened: &Opened) -> Result<Option<Found>, Failure> {
    let Some(body) = asking::find(opened, &request.path).await? else { return Ok(None) };
    kind.api.got(id, &Value::Null, &body).map_err(|why| asking::unclear(&request.path, why))
}

/// The resources with this name; without any, those with the same name in another case.
async fn by_name(kind: &'static Kind, name: &str, opened: &Opened) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::new();
    for request in kind.api.list(opened.level) {
        for page in asking::pages(opened, &request.path).await? {
            let list = page[kind.api.listed()].as_array();
            let list = list.ok_or_else(|| asking::unclear(&request.path, "it has no list"))?;
            all.extend(list.iter().filter_map(|item| kind.api.found(item)));
        }
    }
    let exact: Vec<Found> = all.iter().filter(|one| one.name == name || one.id == name).cloned().collect();
    if !exact.is_empty() {
        return Ok(exact);
    }
    let lower = name.to_lowercase();
    let alike: Vec<Found> = all.iter().filter(|one| one.name.to_lowercase() == lower).cloned().collect();
    if !alike.is_empty() {
        return Ok(alike);
    }
    let failure = Failure::new(format!("{} has no {} with the name or id `{name}`", opened.name, kind.noun));
    let names = all.iter().map(|one| one.name.as_str());
    let within = || all.iter().map(|one| one.name.as_str()).find(|other| other.to_lowercase().contains(&lower));
    Err(match text::nearest(name, names).or_else(|| within().filter(|_| !lower.is_empty())) {
        Some(near) => failure.help(format!("did you mean {}?", text::quoted(near))),
        None => failure.help(format!("it has {}", text::count(all.len(), kind.noun))),
    })
}

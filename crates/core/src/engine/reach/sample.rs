//! Sample devices from a file.

use std::path::Path;

use pushplan_io::failure::Failure;
use pushplan_io::files;
use pushplan_model::nouns::vocabulary::GROUPS;
use pushplan_model::population::{DeviceFacts, Population, PopulationBuilder, PopulationSource, UserFacts};
use pushplan_service::population;
use pushplan_service::state::devices::{Device, NO_GROUP, pairs, property_tags};

/// The largest size of a file of sample devices.
const LARGEST: u64 = 256 << 20;

/// Reads devices like `pushplan serve --devices FILE`. A file contains all facts about its devices.
pub fn read(path: &Path) -> Result<Population, Failure> {
    let cannot =
        |why: String| Failure::new(why).help("a file has one device on each line, as `pushplan serve` reads them");
    let shown = path.display().to_string();
    let bytes = files::read(path, LARGEST).map_err(|why| cannot(format!("{shown} cannot be read: {why}")))?;
    let text = String::from_utf8(bytes).map_err(|_| cannot(format!("{shown} is not UTF-8")))?;
    let devices = population::read(&shown, &text).map_err(|why| cannot(why.to_string()))?;
    let mut builder = PopulationBuilder::new(PopulationSource::Sample, None, "");
    devices.iter().filter(|(_, device)| device.installed).for_each(|(_, device)| builder.add(&device_facts(device)));
    Ok(builder.done())
}

/// The facts about a device of the built-in service. The tags of its named user are not included, because a file has
/// none.
pub fn device_facts(device: &Device) -> DeviceFacts {
    let place = |id: &str| GROUPS.iter().position(|group| group.id == id);
    let (bare, grouped): (Vec<_>, Vec<_>) = pairs(&device.tags).partition(|(group, _)| *group == NO_GROUP);
    let texts = |names: &std::collections::BTreeSet<String>| Some(names.iter().cloned().collect());
    DeviceFacts {
        kind: Some(device.device_type.clone()),
        properties: property_tags(device).filter_map(|(group, tag)| Some((place(group)?, tag))).collect(),
        tells_properties: true,
        tags: Some(bare.into_iter().map(|(_, tag)| tag.to_owned()).collect()),
        group_tags: Some(grouped.into_iter().map(|(group, tag)| (group.to_owned(), tag.to_owned())).collect()),
        user: match device.named_user {
            Some(_) => UserFacts::Has(Some(Vec::new())),
            None => UserFacts::None,
        },
        lists: texts(&device.lists),
        subscriptions: texts(&device.subscriptions),
        places: Some(device.seen_at.keys().cloned().collect()),
    }
}

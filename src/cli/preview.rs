use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::planning::{self, Place};
use super::{Context, Ended, target};
use crate::address::Address;
use crate::failure::{Exit, Failure};
use crate::finding::{Finding, Severity};
use crate::kinds::{Parts, Resource, Template};
use crate::look::{self, Seen, Spoken, Values};
use crate::manifest::{Declared, Desired, Manifests, read_project};
use crate::model::device::DeviceType;
use crate::render;
use crate::text;

/// Show a message as people will see it; no service is asked.
#[derive(Debug, Args)]
pub struct Preview {
    /// Something with a message, such as templates/winback
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// Value for a variable of the template, for this look alone
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    set: Vec<(String, String)>,

    /// Sample of the template's `previews` to show [default: all, behind the defaults]
    #[arg(long, value_name = "NAME")]
    preview: Option<String>,

    /// Device to show it on [default: all that it goes to]
    #[arg(long, value_enum)]
    device: Option<Device>,

    /// Form: text for a terminal, HTML for a browser
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// File to write it to
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Device {
    Iphone,
    Android,
    Web,
}

impl Device {
    fn kind(self) -> DeviceType {
        match self {
            Self::Iphone => DeviceType::Ios,
            Self::Android => DeviceType::Android,
            Self::Web => DeviceType::Web,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Html,
}

/// `KEY=VALUE`, whose value may hold further `=`.
fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as FIRST_NAME=Anna")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

impl Preview {
    pub fn run(&self, context: &Context) -> Ended {
        let address = Address::try_from(self.address.clone()).map_err(Failure::usage)?;
        let root = self.place.root()?;
        let manifests = read_project(&root, None);
        // A project without a target has no variables and no overlays, but it has messages.
        let target = match manifests.project.target_names().is_empty() && self.place.target().is_none() {
            true => None,
            false => Some(target::choose(&manifests.project, self.place.target())?.0),
        };
        let (desired, found) = manifests.resolve(target.as_deref());
        let errors: Vec<&Finding> =
            found.iter().chain(&manifests.findings).filter(|finding| finding.severity == Severity::Error).collect();
        let declared = self.declared(&address, &desired, &manifests, &errors, context)?;
        let mut parts = Parts::new(&declared.key);
        declared.spec.parts(&mut parts);
        readable(&address, &parts, &desired, &manifests, &errors, context)?;
        if parts.said.is_empty() {
            return Err(Failure::usage(format!("{address} has no message, so that there is nothing to show"))
                .help("templates, scheduled pushes, pipelines and experiments have one"));
        }
        if errors.iter().any(|finding| finding.address.as_ref() != Some(&address)) {
            context.out.note("Other manifests have errors; `pushplan validate` shows them.");
        }
        let place = declared.key.span.file().map(|file| {
            let source = manifests.sources.get(file);
            format!("{}:{}", source.path, source.position(declared.key.span.range().start).line)
        });
        let named = manifests.project.file.project.as_ref().and_then(|about| about.name.as_ref());
        let folder = || root.file_name().map(|name| name.to_string_lossy().into_owned());
        let app = named.map(|name| name.value.clone()).or_else(folder).unwrap_or_default();
        let seen = self.seen(&address, &parts, &desired)?;
        let preview = render::preview::Preview { address: &address, place: place.unwrap_or_default(), app: &app, seen };
        self.show(&preview, context)
    }

    /// What is declared under the address, or why nothing can be shown of it.
    fn declared<'d>(
        &self,
        address: &Address,
        desired: &'d Desired,
        manifests: &Manifests,
        errors: &[&Finding],
        context: &Context,
    ) -> Result<&'d Declared, Failure> {
        if let Some(declared) = desired.resources.get(address) {
            return Ok(declared);
        }
        if desired.broken.contains(address) {
            return Err(broken(address, address, manifests, errors, context));
        }
        let known: Vec<String> = desired.resources.keys().chain(&desired.broken).map(Address::to_string).collect();
        let failure = Failure::usage(format!("{address} is not declared"));
        Err(match text::nearest(&self.address, known.iter().map(String::as_str)) {
            Some(near) => failure.help(format!("did you mean {near}?")),
            None if !desired.complete => {
                planning::tell(manifests, manifests.findings.iter(), false, context);
                failure.exit(Exit::Findings).help("some of the manifests cannot be read: it may stand there")
            }
            None => failure.help("an address is such as templates/winback; `pushplan graph` lists what is declared"),
        })
    }

    /// Every look at the message that is asked for.
    fn seen(&self, address: &Address, parts: &Parts, desired: &Desired) -> Result<Vec<Seen>, Failure> {
        let spoken = look::as_written(parts, desired);
        let samples = samples(parts, desired);
        let set: Values = self.set.iter().cloned().collect();
        check_keys(address, &set, &spoken)?;
        let mut seen = match &self.preview {
            Some(name) => {
                let mut values = samples.get(name).cloned().ok_or_else(|| no_sample(address, name, &samples))?;
                values.extend(set);
                look::all(&spoken, parts.each, Some((name, &values)))
            }
            None if !set.is_empty() => {
                let told: Vec<String> = set.iter().map(|(key, value)| format!("{key}={value}")).collect();
                look::all(&spoken, parts.each, Some((&format!("with {}", told.join(", ")), &set)))
            }
            None => {
                let mut all = look::all(&spoken, parts.each, None);
                for (name, values) in &samples {
                    all.extend(look::all(&spoken, parts.each, Some((name, values))));
                }
                all
            }
        };
        if let Some(device) = self.device.map(Device::kind) {
            let goes: Vec<String> = seen.iter().flat_map(|seen| &seen.fits).map(|fit| fit.device.to_string()).collect();
            seen.iter_mut().for_each(|seen| seen.fits.retain(|fit| fit.device == device));
            seen.retain(|seen| !seen.fits.is_empty());
            if seen.is_empty() {
                let mut goes = goes;
                goes.dedup();
                return Err(Failure::usage(format!("{address} does not go to {device}"))
                    .help(format!("it goes to {}", text::all_of(&goes))));
            }
        }
        Ok(seen)
    }

    fn show(&self, preview: &render::preview::Preview, context: &Context) -> Ended {
        // A file is no terminal.
        let style = if self.out.is_some() { render::Style::PLAIN } else { context.out.style() };
        let text = match self.format {
            Format::Text => preview.text(style),
            Format::Html => preview.html(),
        };
        match (&self.out, self.format) {
            (Some(path), _) => {
                fs::write(path, text)
                    .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))?;
                context.out.print(&format!("Wrote {}", render::one_line(&path.display().to_string())));
            }
            (None, Format::Text) => context.out.print(&text),
            (None, Format::Html) => context.out.exact(text.as_bytes()),
        }
        Ok(Exit::Done)
    }
}

/// Refuses what was read in part: a push without its template would look as if it said nothing.
fn readable(
    address: &Address,
    parts: &Parts,
    desired: &Desired,
    manifests: &Manifests,
    errors: &[&Finding],
    context: &Context,
) -> Result<(), Failure> {
    if errors.iter().any(|finding| finding.address.as_ref() == Some(address)) {
        return Err(broken(address, address, manifests, errors, context));
    }
    for name in parts.pushes.iter().filter_map(|push| push.template.as_ref()) {
        let template = Address::new(Template::KEY, name.0.clone());
        if desired.broken.contains(&template) {
            return Err(broken(address, &template, manifests, errors, context));
        }
        if !desired.resources.contains_key(&template) {
            let failure = Failure::new(format!("{address} takes its words from {template}, which is not declared"));
            return Err(match text::nearest(&name.0, desired.keys::<Template>()) {
                Some(near) => failure.exit(Exit::Findings).help(format!("did you mean `{near}`?")),
                None => failure.exit(Exit::Findings).help("declare it under `templates:`"),
            });
        }
    }
    Ok(())
}

/// The failure for what has errors itself, which are shown.
fn broken(address: &Address, at: &Address, manifests: &Manifests, errors: &[&Finding], context: &Context) -> Failure {
    let own = errors.iter().copied().filter(|finding| finding.address.as_ref() == Some(at));
    planning::tell(manifests, own, false, context);
    let message = match address == at {
        true => format!("{address} has errors, so that it cannot be shown"),
        false => format!("{address} takes its words from {at}, which has errors"),
    };
    Failure::new(message).exit(Exit::Findings).help("correct them; `pushplan validate` shows all of them")
}

/// The samples of a resource and of the templates that its pushes name.
fn samples(parts: &Parts, desired: &Desired) -> BTreeMap<String, Values> {
    let names = parts.pushes.iter().filter_map(|push| push.template.as_ref());
    let borrowed = names.filter_map(|name| desired.get::<Template>(&name.0)).flat_map(|template| &template.previews);
    let mut found: BTreeMap<String, Values> = BTreeMap::new();
    for (name, sample) in borrowed.chain(parts.previews.iter().copied()) {
        found.entry(name.value.clone()).or_default().extend(look::values(sample));
    }
    found
}

/// Refuses values for variables that no text has.
fn check_keys(address: &Address, set: &Values, spoken: &[Spoken]) -> Result<(), Failure> {
    let variables = spoken.iter().flat_map(|one| one.said.variables.unwrap_or(&[]));
    let known: Vec<&str> = variables.map(|variable| variable.key.as_str()).collect();
    let Some(wrong) = set.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let failure = Failure::usage(format!("{address} has no variable `{wrong}`"));
    Err(match text::nearest(wrong, known.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => failure.help("it has no variables: leave out --set"),
        None => failure.help(format!("expected {}", text::any_of(&known))),
    })
}

/// The failure for a sample that nobody declared.
fn no_sample(address: &Address, name: &str, samples: &BTreeMap<String, Values>) -> Failure {
    let known: Vec<&str> = samples.keys().map(String::as_str).collect();
    let failure = Failure::usage(format!("{address} has no preview `{name}`"));
    match text::nearest(name, known.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => failure.help("add `previews: {long: {KEY: ...}}` to the template"),
        None => failure.help(format!("expected {}", text::any_of(&known))),
    }
}

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use jiff::Timestamp;

use super::forms::among;
use super::message::{self, Source};
use super::planning::TargetArgs;
use super::{Context, Ended, ledger};
use crate::address::Address;
use crate::engine::reach::has_population;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::kinds::{Parts, Template};
use crate::look::{self, Appearance, Spoken, Values};
use crate::manifest::Desired;
use crate::nouns::device::DeviceType;
use crate::render;
use crate::render::Format;
use crate::text;

/// The output formats.
const FORMATS: &[Format] = &[Format::Text, Format::Html];

/// Show a message as people will see it.
#[derive(Debug, Args)]
pub struct Preview {
    /// Resource with a message, such as templates/winback
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// Value for a variable of the template, for this preview only; `send` calls this option --with
    #[arg(long, value_name = "KEY=VALUE", value_parser = message::pair)]
    set: Vec<(String, String)>,

    /// Sample of the template's `previews` to show [default: the default values, then every sample]
    #[arg(long, value_name = "NAME")]
    preview: Option<String>,

    /// Device to show it on [default: all that it goes to]
    #[arg(long, value_enum)]
    device: Option<PreviewDevice>,

    /// Form: text for a terminal, HTML for a browser
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,

    /// File to write it to
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    place: TargetArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PreviewDevice {
    Iphone,
    Android,
    Web,
}

impl PreviewDevice {
    fn kind(self) -> DeviceType {
        match self {
            Self::Iphone => DeviceType::Ios,
            Self::Android => DeviceType::Android,
            Self::Web => DeviceType::Web,
        }
    }
}

impl Preview {
    pub fn run(&self, context: &Context) -> Ended {
        let address = ledger::address_at(&self.address, &self.place)?;
        let source = Source::read(&self.place, false)?;
        let message = source.message(&address, context)?;
        let seen = self.seen(&address, &message.parts, &source.desired)?;
        let open = message.parts.said.iter().any(|said| said.variables.is_some());
        let target = source.desired.target.as_deref();
        let is_counted = target.is_some_and(|target| has_population(&source.manifests.project, target));
        let reach = is_counted.then(|| self.reach(&address, context)).flatten();
        let (place, app) = (message.place, source.app());
        let preview = render::preview::Preview { address: &address, place, app: &app, open, reach, seen };
        self.show(&preview, context)
    }

    /// The devices that the message reaches. A project with errors has no numbers.
    fn reach(&self, address: &Address, context: &Context) -> Option<String> {
        let now = Timestamp::now();
        let reach = self.place.open(now).ok()?.reach_of(address, &context.session, now)?;
        render::plan::reach::of_message(&reach, address)
    }

    /// All requested views of the message.
    fn seen(&self, address: &Address, parts: &Parts, desired: &Desired) -> Result<Vec<Appearance>, Failure> {
        let mut spoken = look::as_written(parts, desired);
        let samples = samples(parts, desired);
        let set: Values = self.set.iter().cloned().collect();
        message::check_keys(address, &set, &spoken, "--set")?;
        // A value on the command line replaces that of a push; a value of a sample does not.
        spoken.iter_mut().for_each(|one| one.values.extend(set.clone()));
        let mut seen = match &self.preview {
            Some(name) => {
                let values = samples.get(name).ok_or_else(|| no_sample(address, name, &samples))?;
                look::all(&spoken, &|at| parts.label(at), Some((name, values)))
            }
            None if !set.is_empty() => {
                let told: Vec<String> = set.iter().map(|(key, value)| format!("{key}={value}")).collect();
                look::all(&spoken, &|at| parts.label(at), Some((&format!("with {}", told.join(", ")), &set)))
            }
            None => with_samples(&spoken, parts, &samples),
        };
        if let Some(device) = self.device.map(PreviewDevice::kind) {
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
        // A file is not a terminal.
        let style = if self.out.is_some() { render::Style::PLAIN } else { context.out.style() };
        let text = if self.format == Format::Html { preview.html() } else { preview.text(style) };
        match &self.out {
            Some(path) => {
                fs::write(path, text)
                    .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))?;
                context.out.print(&format!("Wrote {}", render::one_line(&path.display().to_string())));
            }
            None => context.out.show(self.format, &text),
        }
        Ok(Exit::Done)
    }
}

/// A message with its defaults, then with each sample. For a message from a template, samples that change nothing are
/// left out.
fn with_samples(spoken: &[Spoken], parts: &Parts, samples: &BTreeMap<String, Values>) -> Vec<Appearance> {
    let plain = look::all(spoken, &|at| parts.label(at), None);
    let mut all = plain.clone();
    for (name, values) in samples {
        let seen = look::all(spoken, &|at| parts.label(at), Some((name, values))).into_iter().zip(&plain);
        let own = !parts.previews.is_empty();
        let tells = |seen: &Appearance, plain: &Appearance| {
            own || Appearance { label: plain.label.clone(), ..seen.clone() } != *plain
        };
        all.extend(seen.filter(|(seen, plain)| tells(seen, plain)).map(|(seen, _)| seen));
    }
    all
}

/// The samples of a resource and of the templates of its pushes.
fn samples(parts: &Parts, desired: &Desired) -> BTreeMap<String, Values> {
    let names = parts.pushes.iter().filter_map(|push| push.template.as_ref());
    let borrowed = names.filter_map(|name| desired.get::<Template>(&name.0)).flat_map(|template| &template.previews);
    let mut found: BTreeMap<String, Values> = BTreeMap::new();
    for (name, sample) in borrowed.chain(parts.previews.iter().copied()) {
        found.entry(name.value.clone()).or_default().extend(look::values(sample));
    }
    found
}

/// The failure for an unknown sample.
fn no_sample(address: &Address, name: &str, samples: &BTreeMap<String, Values>) -> Failure {
    let known: Vec<&str> = samples.keys().map(String::as_str).collect();
    let failure = Failure::usage(format!("{address} has no preview `{name}`"));
    match text::nearest(name, known.iter().copied()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None if known.is_empty() => failure.help("add `previews: {long: {KEY: ...}}` to the template"),
        None => failure.help(format!("expected {}", text::any_of(&known))),
    }
}

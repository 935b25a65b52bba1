mod play;
mod why;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;
use tokio::task::JoinSet;

use super::forms::among;
use super::many::each;
use super::places::Places;
use super::planning::TargetArgs;
use super::{Context, Ended, runtime};
use crate::cases::{self, Against, Case, FILES, Ran, Suite};
use crate::codes::Severity;
use crate::engine::stage::{Stage, StageSetup};
use crate::engine::{Workspace, project, scope, target};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files;
use crate::nouns::level::Level;
use crate::render;
use crate::render::Format;
use crate::render::findings::{self, CheckReport, LocatedFinding};
use crate::text;
use play::{World, placed, play};

/// The output formats.
const FORMATS: &[Format] = &[Format::Text, Format::Json];

/// Run the project's device tests.
///
/// They run on a built-in service in memory, with a virtual clock. Cases are in files named *.test.yaml, anywhere in
/// the project. The exit code is 1 if a case fails, and 3 if a file has errors. A project without tests passes, and
/// shows how to write the first.
#[derive(Debug, Args)]
pub struct Test {
    /// Files or folders with cases, or words in their names [default: all of the project]
    #[arg(value_name = "FILE|NAME")]
    wanted: Vec<String>,

    #[command(flatten)]
    places: Places,

    /// List the cases and run none
    #[arg(long)]
    list: bool,

    /// Form of the result: text for people, or one JSON object
    #[arg(long, value_parser = among(FORMATS), default_value_t = Format::Text)]
    format: Format,
}

/// The requested cases.
struct CaseFilter {
    /// The places of their files.
    places: Vec<PathBuf>,
    /// Words in their names.
    names: Vec<String>,
}

impl Test {
    pub fn run(&self, context: &Context) -> Ended {
        each::run(&self.places, self.format, context, |place, context| self.one(place, context))
    }

    fn one(&self, place: &TargetArgs, context: &Context) -> Ended {
        let here = project::here()?;
        let root = place.root()?;
        let asked = self.asked(&here, &root)?;
        let mut workspace = place.read_for(context, Timestamp::now(), self.format == Format::Json)?;
        let name = |name: &str| scope::relative(&here, &root.join(name));
        Arc::get_mut(&mut workspace.manifests).expect("no other thread has it yet").sources.rename(name);
        let (desired, _) = workspace.manifests.resolve(Some(&workspace.target));
        let suite = cases::read(&asked.places, Against { manifests: &workspace.manifests, desired: &desired }, &name);
        if suite.findings.iter().any(|finding| finding.severity == Severity::Error) {
            self.invalid(&suite, context);
            return Ok(Exit::Findings);
        }
        let cases = asked.choose(suite.cases)?;
        if self.list {
            let listed = match self.format {
                Format::Json => render::cases::json_list(&cases),
                _ => render::cases::list(&cases),
            };
            context.out.print(&listed);
            return Ok(Exit::Done);
        }
        if cases.is_empty() && self.format == Format::Text {
            context.out.print(render::cases::FIRST);
            return Ok(Exit::Done);
        }
        let world = World { workspace, desired };
        let ran = runtime()?.block_on(run(world, cases))?;
        let style = context.out.style();
        let text = match self.format {
            Format::Json => render::cases::json(&ran),
            _ => render::cases::text(&ran, style),
        };
        context.out.show(self.format, &text);
        let failed = ran.iter().any(|ran| !ran.failures.is_empty());
        Ok(if failed { Exit::Failed } else { Exit::Done })
    }

    /// Parses the arguments: files and folders, and words in names.
    fn asked(&self, here: &Path, root: &Path) -> Result<CaseFilter, Failure> {
        let mut asked = CaseFilter { places: Vec::new(), names: Vec::new() };
        for wanted in &self.wanted {
            let path = here.join(wanted);
            let Ok(place) = path.canonicalize() else {
                if files::is_cases(&path) {
                    return Err(scope::missing(Path::new(wanted)));
                }
                asked.names.push(wanted.clone());
                continue;
            };
            if place.is_file() && !files::is_cases(&place) {
                let message = format!("`{wanted}` is not a file of device tests");
                return Err(Failure::usage(message).help(format!("their names end with {FILES}")));
            }
            let within = root.canonicalize().is_ok_and(|root| place.starts_with(root));
            if !within {
                return Err(Failure::usage(format!("`{wanted}` is not in the project {}", root.display())));
            }
            asked.places.push(if path.is_symlink() { path } else { place });
        }
        if asked.places.is_empty() {
            asked.places.push(root.to_owned());
        }
        Ok(asked)
    }

    /// Shows the findings in the files.
    fn invalid(&self, suite: &Suite, context: &Context) {
        let mut findings = suite.findings.clone();
        // `validate --fix` edits manifests only.
        findings.iter_mut().filter_map(|finding| finding.fix.as_mut()).for_each(|fix| fix.safe = false);
        let report = CheckReport {
            found: findings.iter().map(|finding| LocatedFinding { finding, sources: &suite.sources }).collect(),
            suppressed: 0,
            resources: 0,
            files: suite.sources.iter().map(|(_, source)| &*source.path).collect(),
            project_files: Vec::new(),
            notes: Vec::new(),
            fails_from: Severity::Error,
        };
        let style = context.out.style();
        let text = match self.format {
            Format::Json => findings::json::json(&report),
            _ => findings::text(&report, style),
        };
        context.out.show(self.format, &text);
    }
}

impl CaseFilter {
    /// The cases with one of the words in their names or in the names of their files, if there are any. A word that is in no name is refused.
    fn choose(&self, cases: Vec<Case>) -> Result<Vec<Case>, Failure> {
        if self.names.is_empty() {
            return Ok(cases);
        }
        let has = |case: &Case, word: &str| {
            let file = case.place.file.rsplit('/').next().unwrap_or_default();
            [case.name.as_str(), file].iter().any(|name| name.to_lowercase().contains(&word.to_lowercase()))
        };
        if let Some(word) = self.names.iter().find(|word| !cases.iter().any(|case| has(case, word))) {
            let failure = Failure::usage(format!("no case and no file has `{word}` in its name"));
            return Err(match text::nearest(word, cases.iter().map(|case| case.name.as_str())) {
                Some(near) => failure.help(format!("did you mean `{near}`?")),
                None => failure.help("`pushplan test --list` lists them"),
            });
        }
        Ok(cases.into_iter().filter(|case| self.names.iter().any(|word| has(case, word))).collect())
    }
}

/// Plays all cases concurrently, each on a separate service. Returns the results in the order of the cases.
async fn run(world: World, cases: Vec<Case>) -> Result<Vec<Ran>, Failure> {
    let world = Arc::new(world);
    let mut stages: BTreeMap<Setting, Arc<Stage>> = BTreeMap::new();
    let mut under_way = JoinSet::new();
    for (number, case) in cases.into_iter().enumerate() {
        let setting = Setting::of(&case);
        let stage = match stages.get(&setting) {
            Some(stage) => stage.clone(),
            None => {
                let stage = Arc::new(stage(&world.workspace, &case).await?);
                stages.entry(setting).or_insert(stage).clone()
            }
        };
        let world = world.clone();
        under_way.spawn(async move { (number, play(&world, &stage, &case).await) });
    }
    let mut ran = BTreeMap::new();
    while let Some(ended) = under_way.join_next().await {
        let (number, one) = ended.map_err(|error| Failure::new(format!("a case was interrupted: {error}")))?;
        ran.insert(number, one?);
    }
    Ok(ran.into_values().collect())
}

/// The common setting of cases on one stage: their time and, if manifests may name it, their device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Setting {
    start: Timestamp,
    channel: Option<(String, String)>,
}

impl Setting {
    fn of(case: &Case) -> Self {
        let channel = case.channel.clone().map(|id| (id, case.device.to_string()));
        Self { start: case.start, channel }
    }
}

/// The built-in service with the manifests applied to it. A device that they may name is created before.
async fn stage(workspace: &Workspace, case: &Case) -> Result<Stage, Failure> {
    let level = workspace
        .manifests
        .project
        .target(&workspace.target)
        .map_or(Level::Extended, |target| target::wanted(target, target.base_url.is_none()));
    let devices = case.channel.iter().map(|id| placed(case, id)).collect::<Result<_, Failure>>()?;
    let setup = StageSetup { target: &workspace.target, level, units: &workspace.units, start: case.start, devices };
    let stage = Stage::set(setup).await?;
    match stage.refused.first() {
        None => Ok(stage),
        Some((address, why)) => {
            let why = format!("the manifests cannot be applied to the built-in service: {address}: {why}");
            Err(Failure::new(why).help("no case was run; correct the manifests"))
        }
    }
}

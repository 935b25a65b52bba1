mod jobs;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::environments::{self, Environment};
use super::naming;
use super::words::{self, quoted};
use crate::address::is_key;
use crate::cli::planning::TargetArgs;
use crate::cli::review::beneath;
use crate::cli::{Context, Ended};
use crate::client::Origin;
use crate::engine::project::checkout;
use crate::engine::select::select;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::files::describe;
use crate::git::Repository;
use crate::ledger::place;
use crate::manifest::Project;
use crate::render::{one_line, visible};
use crate::text::all_of;
use jobs::{job, planning};

/// Write the workflow that plans on pull requests, applies on the merge and looks for drift each day.
///
/// The workflow covers the targets that have a `base_url`. If each of them is in exactly one group, such as dev, staging and
/// production, or if the targets themselves have such names, each environment has jobs of its own, and a merge is applied in that
/// order. Jobs that plan use other credentials than jobs that apply. A job without credentials shows all of their plans in one comment.
/// Pull requests from forks get no secrets; their plan is compared with the
/// branch only. No text from a pull request reaches a shell.
#[derive(Debug, Args)]
pub struct Init {
    /// The code host
    #[arg(value_name = "HOST", value_enum)]
    host: Host,

    /// Folder of the project [default: this one or the nearest above it]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Targets, with commas between them: names, groups, or patterns such as `prod-*` [default: all that have a `base_url`]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,

    /// The branch from which merged commits are applied, on GitHub [default: the main branch of `origin`, otherwise the current one]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,

    /// Where the action or the component comes from, with a tag or a commit: OWNER/REPOSITORY@v1.2.3 [default: this release]
    #[arg(long, value_name = "PLACE")]
    uses: Option<String>,

    /// File to write [default: .github/workflows/pushplan.yml or .gitlab-ci.yml of the repository]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Host {
    Github,
    Gitlab,
}

impl Host {
    /// The path of its workflow in a repository, and the beginning of the text.
    fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::Github => (".github/workflows/pushplan.yml", include_str!("files/github.yml")),
            Self::Gitlab => (".gitlab-ci.yml", include_str!("files/gitlab.yml")),
        }
    }

    /// The beginning of an expression in its workflow.
    fn sign(self) -> &'static str {
        match self {
            Self::Github => words::EXPRESSION,
            Self::Gitlab => "$",
        }
    }

    /// The action or component of this release.
    fn uses(self) -> &'static str {
        match self {
            Self::Github => concat!("pushplan/pushplan@v", env!("CARGO_PKG_VERSION")),
            Self::Gitlab => concat!("$CI_SERVER_FQDN/pushplan/pushplan/pushplan@", env!("CARGO_PKG_VERSION")),
        }
    }
}

/// The maximal number of targets for which a command is shown for each.
const MOST_MOVED: usize = 8;

/// The facts for the workflow.
struct Team {
    targets: String,
    /// The targets with their origins and the places of their ledgers; `None`: the project file names none.
    known: Vec<(String, String, Option<String>)>,
    /// The targets whose ledger was just written into the project file.
    named: Vec<String>,
    branch: String,
    /// The folder of the project in the repository.
    folder: String,
    /// In the order of a rollout; empty if there are none.
    environments: Vec<Environment>,
}

impl Init {
    pub fn run(&self, context: &Context) -> Ended {
        let root = TargetArgs::new(self.project.clone(), None).root()?;
        let mut team = self.team(&root, Vec::new())?;
        let (usual, text) = self.host.file();
        let top = root.canonicalize().ok().and_then(|root| checkout(&root)).unwrap_or_else(|| root.clone());
        let path = self.out.clone().unwrap_or_else(|| top.join(usual));
        if self.force || !path.exists() {
            team = self.team(&root, naming::name_ledgers(&root)?)?;
        }
        let uses = self.uses()?;
        let text = match team.environments.is_empty() {
            true => team.fill(text, self.host, uses),
            false => team.fill_environments(self.host, uses),
        };
        write(&path, &text, self.force)?;
        let here = crate::engine::project::here()?;
        let shown = path.strip_prefix(&here).unwrap_or(&path).display();
        let mut lines = vec![one_line(&format!("  wrote {shown}")), "Next:".to_owned()];
        let steps = team.next(self.host);
        for (number, step) in steps.iter().enumerate() {
            let step = context.out.said(step, None);
            lines.push(format!("  {}. {}", number + 1, visible(&step).replace('\n', "\n     ")));
        }
        context.out.print(&lines.join("\n"));
        Ok(Exit::Done)
    }

    fn team(&self, root: &Path, named: Vec<String>) -> Result<Team, Failure> {
        let project = Project::open(root);
        let words = self.target.as_ref().map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
        let words: Option<Vec<String>> = words;
        let asked = words.as_ref().map(|names| select(&project, names)).transpose()?;
        let is_asked =
            |name: &&str| asked.as_ref().is_none_or(|asked: &Vec<String>| asked.iter().any(|other| other == name));
        if let Some(name) = project.target_names().into_iter().filter(is_asked).find(|name| !is_key(name)) {
            return Err(words::wrong_target(name));
        }
        let known: Vec<(String, String, Option<String>)> = project
            .target_names()
            .into_iter()
            .filter(is_asked)
            .filter_map(|name| {
                let target = project.target(name)?;
                let origin = target.base_url.as_ref()?.value.clone();
                Some((name.to_owned(), origin, target.ledger.as_ref().map(|ledger| ledger.value.clone())))
            })
            .collect();
        for (name, origin, _) in &known {
            // It is copied into a file that everybody can read.
            Origin::parse(origin).map_err(|why| {
                Failure::new(format!("target {}: {why}", one_line(name)))
                    .kind(FailureKind::Invalid)
                    .help("correct `base_url` in pushplan.toml")
            })?;
        }
        let names: Vec<&str> = known.iter().map(|(name, ..)| name.as_str()).collect();
        let branch = self.branch.clone().or_else(|| Repository::of(root).ok()?.main_branch());
        let branch = branch.unwrap_or_else(|| "main".to_owned());
        words::check_branch(&branch)?;
        let folder = beneath(root);
        words::check_folder(&folder, self.host.sign())?;
        Ok(Team {
            targets: words.map_or_else(|| names.join(","), |words| words.join(",")),
            branch,
            folder: if folder.is_empty() { ".".to_owned() } else { folder },
            named,
            environments: environments::of(&project, &names),
            known,
        })
    }

    fn uses(&self) -> Result<&str, Failure> {
        let Some(place) = &self.uses else { return Ok(self.host.uses()) };
        let is_plain = place.chars().all(|c| c.is_ascii_alphanumeric() || "-_./@$:".contains(c));
        let Some((_, at)) = place.split_once('@').filter(|(place, at)| is_plain && !place.is_empty() && !at.is_empty())
        else {
            return Err(Failure::usage(format!("`{}` says no place with a tag or a commit", one_line(place)))
                .help(format!("such as {}", self.host.uses())));
        };
        match is_release(at) || is_commit(at) {
            true => Ok(place),
            false => {
                Err(Failure::usage(format!("`{at}` can be something else tomorrow, and would get the credentials"))
                    .help(format!(
                        "write a release or a commit behind the @: {}, or the 40 digits that `git rev-parse {at}` says",
                        self.host.uses()
                    )))
            }
        }
    }
}

/// Whether it is the tag of one release: `v1.2.3`. A shorter tag moves with every release.
fn is_release(at: &str) -> bool {
    let version = at.strip_prefix('v').unwrap_or(at);
    let number = version.split(['-', '+']).next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    number.split('.').count() == 3 && number.split('.').all(is_number)
}

fn is_commit(at: &str) -> bool {
    matches!(at.len(), 40 | 64) && at.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Team {
    /// The only origin. With several, credentials are in a file.
    fn origin(&self) -> Option<&str> {
        match self.known.as_slice() {
            [(_, origin, _)] => Some(origin),
            _ => None,
        }
    }

    /// Whether the ledger is pushed to a git server.
    fn pushes(&self) -> bool {
        let ledgers = self.known.iter().filter_map(|(_, _, ledger)| ledger.as_deref());
        ledgers.into_iter().any(|place| place == "git" || place.starts_with("git:"))
    }

    /// The concurrency group of the jobs of this project, which differs from those of other projects in the repository.
    fn group(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._/-".contains(c) { c } else { '-' };
        match self.folder.as_str() {
            "." => "pushplan".to_owned(),
            folder => format!("pushplan-{}", folder.chars().map(plain).collect::<String>()),
        }
    }

    fn fill(&self, text: &str, host: Host, uses: &str) -> String {
        let secret = |name: &str| format!("{name}: \"${{{{ secrets.{name} }}}}\"");
        let credentials = match (host, self.origin()) {
            (Host::Github, Some(origin)) => [
                format!("PUSHPLAN_ORIGIN: {}", quoted(origin)),
                secret("PUSHPLAN_APP_KEY"),
                secret("PUSHPLAN_MASTER_SECRET"),
            ]
            .join(", "),
            (Host::Github, None) => secret("PUSHPLAN_CREDENTIALS_TOML"),
            (Host::Gitlab, origin) => format!("      origin: {}", quoted(origin.unwrap_or_default())),
        };
        let values = [
            ("@USES@", uses.to_owned()),
            ("@BRANCH@", quoted(&words::pattern(&self.branch))),
            ("@GROUP@", self.group()),
            ("@CONTENTS@", if self.pushes() { "write" } else { "read" }.to_owned()),
            ("@TARGET@", quoted(&self.targets)),
            ("@PROJECT@", quoted(&self.folder)),
            ("@CREDENTIALS@", credentials),
        ];
        words::filled(text, &values)
    }

    /// The note that each environment has its own credentials.
    fn separate(&self, host: Host) -> String {
        let names = |name: fn(&str) -> String| -> Vec<String> {
            self.environments.iter().map(|environment| name(&environment.name)).collect()
        };
        let (apply, plan) = (all_of(&names(str::to_owned)), all_of(&names(planning)));
        let has_file = self.environments.iter().any(|environment| environment.targets.len() > 1);
        let has_pair = self.environments.iter().any(|environment| environment.targets.len() == 1);
        let file = match host {
            Host::Github => "the secret PUSHPLAN_CREDENTIALS_TOML",
            Host::Gitlab => "the variable PUSHPLAN_CREDENTIALS of the type file",
        };
        let pair = match host {
            Host::Github => "the secrets PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET",
            Host::Gitlab => "the variables PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET",
        };
        let secrets: Vec<&str> =
            [(has_pair, pair), (has_file, file)].iter().filter(|(is, _)| *is).map(|(_, it)| *it).collect();
        let also = match host {
            Host::Github => "",
            Host::Gitlab => {
                "\nSet GITLAB_TOKEN too, for all environments: an access token of the project with the scope api."
            }
        };
        format!(
            "Create the environments {apply}, and {plan} for plans.\nGive each {}: of its own targets alone. Protect {apply}, and not \
             those for plans.{also}",
            secrets.join(", or for several targets ")
        )
    }

    /// The manual steps that are left.
    fn next(&self, host: Host) -> Vec<String> {
        let mut steps = Vec::new();
        if self.known.is_empty() {
            steps.push(
                "No target of pushplan.toml has a base_url: give one to the target that this is for, then run this again \
                 with --force."
                    .to_owned(),
            );
        }
        if !self.environments.is_empty() {
            steps.push(self.separate(host));
        }
        let of = self.origin().map(|origin| format!(" for {origin}")).unwrap_or_default();
        let is_single = self.environments.is_empty();
        steps.extend(is_single.then(|| match (host, self.origin()) {
            (Host::Github, Some(_)) => {
                format!("In the settings of the repository, set the secrets PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET\nto \
                     the credentials{of}.")
            }
            (Host::Github, None) => {
                "In the settings of the repository, set the secret PUSHPLAN_CREDENTIALS_TOML\nto the content of a \
                 credentials.toml with all origins."
                    .to_owned()
            }
            (Host::Gitlab, Some(_)) => format!(
                "In the settings of the project, set the variables PUSHPLAN_APP_KEY and PUSHPLAN_MASTER_SECRET\n\
                 to the credentials{of}, masked and not protected,\n\
                 and GITLAB_TOKEN to an access token of the project with the scope api."
            ),
            (Host::Gitlab, None) => {
                "In the settings of the project, set the variable PUSHPLAN_CREDENTIALS of the type file, not protected,\n\
                 to a credentials.toml with all origins, and GITLAB_TOKEN to an access token of the project\n\
                 with the scope api."
                    .to_owned()
            }
        }));
        let named: Vec<&str> = self.named.iter().map(String::as_str).collect();
        if !named.is_empty() {
            steps.push(format!(
                "pushplan.toml now says ledger = \"{}\" for {}: commit it.\nIf something was applied already:{}",
                naming::PLACE,
                all_of(&named),
                moving(&named)
            ));
        }
        let is_alone = |ledger: &Option<String>| place::folder(ledger.as_deref()).is_some();
        let alone: Vec<&str> =
            self.known.iter().filter(|(.., ledger)| is_alone(ledger)).map(|(name, ..)| name.as_str()).collect();
        if !alone.is_empty() {
            steps.push(format!(
                "The ledger of {} is on one machine, and a runner forgets it: write ledger = \"git\" into pushplan.toml.\n\
                 If something was applied already:{}\n\
                 Then run this again with --force, for the rights that it needs.",
                all_of(&alone),
                moving(&alone)
            ));
        }
        let stores = self.known.iter().filter_map(|(_, _, ledger)| ledger.as_deref());
        let stores: Vec<&str> = stores.filter_map(|place| place.split_once("://")).map(|(scheme, _)| scheme).collect();
        if let Some(scheme) = stores.first() {
            let place = if host == Host::Github { "under env of the step" } else { "as variables of the project" };
            steps.push(format!("Give the ledger in {scheme}:// its credentials, {place}."));
        }
        if host == Host::Gitlab && self.pushes() {
            steps.push(
                "Let jobs push the ledger: Settings > CI/CD > Job token permissions > Allow Git push requests to the \
                 repository.\nBefore GitLab 17.2, or for another repository, use an access token; see Use GitLab CI in `pushplan docs`."
                    .to_owned(),
            );
        }
        if host == Host::Gitlab {
            let of = |environment: &Environment| format!("pushplan-{}", job(&environment.name));
            let groups: Vec<String> = self.environments.iter().map(of).collect();
            let (first, rest) =
                groups.split_first().map_or(("pushplan", &[][..]), |(first, rest)| (first.as_str(), rest));
            let rest = if rest.is_empty() { String::new() } else { format!("\nDo the same for {}.", all_of(rest)) };
            steps.push(format!(
                "After the first apply, make GitLab apply merges in order:\n\
                 curl -X PUT -H \"PRIVATE-TOKEN: $GITLAB_TOKEN\" -d process_mode=oldest_first \
                 https://HOST/api/v4/projects/ID/resource_groups/{first}{rest}"
            ));
            steps.push(
                "Create a pipeline schedule for the default branch. Each scheduled pipeline checks for drift."
                    .to_owned(),
            );
        }
        steps.push(match host {
            Host::Github => format!("Protect the branch {}: require a review before merging.", self.branch),
            Host::Gitlab => "Protect the default branch: require a review before merging.".to_owned(),
        });
        steps
    }
}

/// The commands that move the ledgers of these targets from their machine.
fn moving(targets: &[&str]) -> String {
    let moving = |name: &str| format!("pushplan ledger move --from file: --to git --target {name}");
    match targets {
        [one] => format!(" {}", moving(one)),
        few if few.len() <= MOST_MOVED => few.iter().map(|name| format!("\n  {}", moving(name))).collect(),
        _ => format!(" {} for each NAME of them", moving("NAME")),
    }
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let shown = path.display();
    let fail = |error: &std::io::Error| Failure::new(format!("{shown} cannot be written: {}", describe(error)));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| fail(&error))?;
    }
    if force {
        return fs::write(path, text).map_err(|error| fail(&error));
    }
    let made = fs::OpenOptions::new().write(true).create_new(true).open(path);
    match made.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Err(Failure::usage(format!("{shown} is there already"))
                .help("--force writes over it; --out FILE writes another one, to be included or compared"))
        }
        Err(error) => Err(fail(&error)),
    }
}

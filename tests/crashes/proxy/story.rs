//! One story: edits, applies with faults, and a calm end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use pushplan::nouns::level::Level;
use pushplan_testing::{Dice, Folder};
use serde_json::{Value, json};

use super::declared::{Declared, KINDS, Kind};
use super::faults::{On, Rule};
use super::judge;
use super::relay::{Proxy, Traffic};
use super::service::{KEY, LAST_DAY, SECRET, Service};
use super::yaml::FIRST_DAY;

/// The number of calm applies after the last fault. Between them, a person resolves requests in an unknown state.
const CALM: usize = 5;

pub struct Story {
    level: Level,
    seed: u64,
    told: Vec<String>,
}

/// A project, its service and the proxy between them.
pub struct World {
    pub service: Service,
    pub declared: Declared,
    /// The last day whose pushes were sent.
    pub today: usize,
    proxy: Proxy,
    folder: Folder,
    environment: Vec<(&'static str, String)>,
    /// Paths of the writes of the last run that had a fault.
    struck: Vec<String>,
    pub dice: Dice,
    pub told: Vec<String>,
}

/// The result of a run of the binary.
pub struct Ran {
    /// No code: it was killed.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Story {
    pub fn new(level: Level, seed: u64) -> Self {
        Self { level, seed, told: Vec::new() }
    }

    /// The events of the story, line by line.
    pub fn told(&self) -> String {
        self.told.join("\n")
    }

    /// Runs the story. An error describes a violated invariant.
    pub fn run(&mut self) -> Result<(), String> {
        let mut world = World::new(self.level, self.seed);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.live()));
        self.told = std::mem::take(&mut world.told);
        ended.unwrap_or_else(|why| std::panic::resume_unwind(why))
    }
}

impl World {
    pub fn new(level: Level, seed: u64) -> Self {
        let mut dice = Dice::new(seed.wrapping_mul(2) + u64::from(level == Level::Extended));
        let is_built_in = dice.once_in(2);
        let service = Service::start(level, FIRST_DAY.parse().expect("a time"));
        let proxy = Proxy::new(service.port());
        let folder = Folder::new();
        let origin = format!("http://127.0.0.1:{}", proxy.port);
        let api = if level == Level::Documented { "documented" } else { "extended" };
        let quick = "settle = \"1s\"\nsend_within = \"2s\"\nlease = \"4s\"\nmax_deletes = 1000\n";
        let (target, mut environment) = match is_built_in {
            // Only the clock of a project's own service is known, so pushes are sent during such a story.
            true => ("[targets.local]\n".to_owned(), Vec::new()),
            false => (
                format!("[targets.remote]\nbase_url = \"{origin}\"\nledger = \"file:\"\n"),
                vec![
                    ("PUSHPLAN_ORIGIN", origin.clone()),
                    ("PUSHPLAN_APP_KEY", KEY.to_owned()),
                    ("PUSHPLAN_MASTER_SECRET", SECRET.to_owned()),
                ],
            ),
        };
        folder.write("pushplan.toml", format!("{target}api = \"{api}\"\n{quick}"));
        if is_built_in {
            let served = json!({ "origin": origin, "pid": std::process::id(), "app_key": KEY, "master_secret": SECRET,
                "api": api });
            let note = folder.write(".pushplan/service.json", served.to_string());
            fs::set_permissions(note, fs::Permissions::from_mode(0o600)).expect("permissions");
        }
        environment.push(("HOME", folder.path().display().to_string()));
        environment.push(("PATH", std::env::var("PATH").unwrap_or_default()));
        let told = vec![format!("A project with {} target.", if is_built_in { "the local" } else { "a remote" })];
        Self {
            service,
            declared: Declared::default(),
            today: 0,
            proxy,
            folder,
            environment,
            struck: Vec::new(),
            dice,
            told,
        }
    }

    fn live(&mut self) -> Result<(), String> {
        let mut wrong = Vec::new();
        for _ in 0..3 + self.dice.below(4) {
            let kind = *self.dice.pick(&KINDS);
            let line = self.declared.add(kind, self.today, &mut self.dice);
            self.tell(line);
        }
        let line = self.declared.add(Kind::Push, self.today, &mut self.dice);
        self.tell(line);
        let rounds = 2 + self.dice.below(4);
        for round in 0..rounds {
            if round > 0 {
                self.happen();
            }
            let count = match (round, self.dice.below(6)) {
                (0, 1) | (_, 0) => 0,
                (_, 1..4) => 1,
                (_, 4) => 2,
                _ => 3,
            };
            let mut rules: Vec<Rule> = (0..count).map(|_| Rule::random(&mut self.dice)).collect();
            if let Some(struck) = self.struck.pop().filter(|_| self.dice.once_in(2)) {
                rules.extend(Rule::about(&struck, &mut self.dice));
            }
            // A resource counts as gone only after two proofs. No client is safe from a service that lies twice.
            let mut lies = 0;
            rules.retain(|rule| {
                lies += usize::from(rule.lies());
                !rule.lies() || lies == 1
            });
            match self.dice.below(8) {
                0 => self.apply_saved(rules),
                1 => self.reconcile(rules),
                _ => self.apply(rules),
            };
            wrong.extend(judge::untouched(self));
        }
        wrong.extend(self.end()?);
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    /// The calm end of a story. Returns all violations.
    pub fn end(&mut self) -> Result<Vec<String>, String> {
        let mut wrong = Vec::new();
        let code = self.calm(&mut wrong)?;
        let left = self.left()?;
        wrong.extend(judge::holds(self, code, &left));
        self.finish();
        wrong.extend(judge::received(self));
        Ok(wrong)
    }

    /// Events between two applies: edits, and sometimes changes by other people or the passing of time.
    fn happen(&mut self) {
        for _ in 0..self.dice.below(4) {
            let line = self.declared.edit(self.today, &mut self.dice);
            self.tell(line);
        }
        if self.dice.once_in(4) && !self.declared.things.is_empty() {
            let place = self.dice.below(self.declared.things.len());
            let thing = self.declared.things[place].clone();
            // Before the first apply of a thing, a namesake would be a collision, which is refused immediately.
            let is_there = self.service.objects().iter().any(|object| object.carries(&thing.mark()));
            if thing.kind.has_namesakes() && is_there {
                let line = self.service.plant(thing.kind, thing.service_name());
                self.tell(line);
            }
        }
        if self.declared.has_clock && self.dice.once_in(3) {
            self.today += 1 + self.dice.below(12);
            self.service.move_to(self.today);
            self.tell(format!("day {} has passed", self.today));
        }
    }

    /// Applies without faults until nothing is left, or there is no more progress. Returns the last exit code.
    fn calm(&mut self, wrong: &mut Vec<String>) -> Result<i32, String> {
        self.tell("From here on, nothing goes wrong.".to_owned());
        let mut code = -1;
        for _ in 0..CALM {
            let ran = self.apply(Vec::new());
            wrong.extend(judge::untouched(self));
            let before = std::mem::replace(&mut code, ran.code.ok_or("a calm apply was killed")?);
            if code == 0 || (!self.resolve(&ran) && before == code) {
                break;
            }
        }
        if matches!(code, 0 | 6 | 7) { Ok(code) } else { Err(format!("a calm apply ended with {code}")) }
    }

    /// Sends everything that is still to be sent, and starts every pipeline once.
    fn finish(&mut self) {
        let things: Vec<_> = self.declared.all_ever().cloned().collect();
        for thing in things.iter().filter(|thing| thing.kind == Kind::Pipeline) {
            self.service.tag("device-0", &super::yaml::trigger(thing));
        }
        self.service.move_to(LAST_DAY);
        self.today = LAST_DAY;
    }

    /// The addresses that the program itself reports as different from their declaration.
    fn left(&mut self) -> Result<Vec<(String, String)>, String> {
        let ran = self.run(&["plan", "--format", "json"], Vec::new());
        let plan: Value =
            serde_json::from_str(&ran.stdout).map_err(|error| format!("plan: {error}: {}", ran.stderr))?;
        let changes = plan["changes"].as_array().ok_or("a plan without changes")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let left = changes.iter().filter(|change| !matches!(change["action"].as_str(), Some("keep" | "past")));
        Ok(left.map(|change| (text(&change["resource"]), text(&change["action"]))).collect())
    }

    /// Writes the manifests, and registers the devices that they name.
    fn write(&self) {
        for thing in &self.declared.things {
            self.service.register(thing);
        }
        self.folder.write("messages.yaml", self.declared.manifest());
    }

    /// Saves a plan and applies it, like a job for a pull request.
    fn apply_saved(&mut self, rules: Vec<Rule>) -> Ran {
        self.write();
        let reads = rules.iter().filter(|rule| !matches!(rule.on, On::Write | On::Delete)).cloned().collect();
        let ran = self.run(&["plan", "--out", "saved.json"], reads);
        match ran.code {
            Some(0) => self.run(&["apply", "saved.json", "--yes", "--concurrency", "1"], rules),
            _ => ran,
        }
    }

    /// One round of a job that corrects drift.
    fn reconcile(&mut self, rules: Vec<Rule>) -> Ran {
        self.write();
        self.run(&["reconcile", "--once", "--drift", "fix", "--concurrency", "1"], rules)
    }

    pub fn apply(&mut self, rules: Vec<Rule>) -> Ran {
        self.write();
        let mut arguments = vec!["apply", "--yes", "--concurrency", "1", "--wait", "60s"];
        if !rules.is_empty() && self.dice.once_in(2) {
            arguments.extend(["--on-error", "continue"]);
        }
        self.run(&arguments, rules)
    }

    pub fn run(&mut self, arguments: &[&str], rules: Vec<Rule>) -> Ran {
        let shown: Vec<String> = rules.iter().map(Rule::to_string).collect();
        self.tell(format!("$ pushplan {}", arguments.join(" ")));
        if !shown.is_empty() {
            self.tell(format!("    faults: {}", shown.join("; ")));
        }
        self.proxy.prepare(rules);
        let child = Command::new(env!("CARGO_BIN_EXE_pushplan"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        self.proxy.started(child.id());
        let output = child.wait_with_output().expect("the binary ends");
        let Traffic { told, struck } = self.proxy.ended();
        self.told.extend(told.into_iter().map(|line| format!("    {line}")));
        self.struck = struck;
        let killed = output.status.signal() == Some(9);
        let ran = Ran {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        assert!(ran.code.is_some() || killed, "{}: {}", output.status, ran.stderr);
        self.tell(format!("    exit {}", ran.code.map_or("none, killed".to_owned(), |code| code.to_string())));
        for line in ran.stderr.lines().filter(|line| !line.trim().is_empty()) {
            self.tell(format!("    | {line}"));
        }
        ran
    }

    pub fn tell(&mut self, line: String) {
        self.told.push(line);
    }
}

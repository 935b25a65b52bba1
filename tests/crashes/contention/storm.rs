//! A team that applies at the same time, under random faults.

use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pushplan_testing::{Dice, Project, Ran, Service, outside_ci};
use tempfile::TempDir;

use super::declared::Declared;
use super::places::Place;
use super::witness::Witness;

const MEMBERS: usize = 8;
/// How often a member that has just sent a request is hit, and how often any other.
const AIMED: u64 = 3;
const BLIND: u64 = 2;
/// The length of a lease without extension, in seconds.
pub const LEASE: i64 = 2;
/// The maximal time of a storm, including all faults.
const PATIENCE: Duration = Duration::from_secs(150);
/// Writes are slow, so that there is time for faults.
const SLOW: &str = "\
[[fault]]
kind = \"delay\"
ms = 100
method = \"POST\"

[[fault]]
kind = \"delay\"
ms = 100
method = \"PUT\"

[[fault]]
kind = \"delay\"
ms = 100
method = \"DELETE\"
";

const KEY: &str = "local-application-key0";
const SECRET: &str = "local-master-secret-00";

pub struct Team {
    pub service: Service,
    pub witness: Witness,
    pub declared: Declared,
    place: Place,
    api: &'static str,
    members: Vec<Member>,
    /// The number of requests before this round.
    pub earlier: usize,
    folder: TempDir,
    _own: Project,
}

struct Member {
    folder: PathBuf,
    port: u16,
}

/// A running apply of a member.
struct Running {
    child: Child,
    /// The end of its suspension, if it is suspended.
    asleep: Option<Instant>,
}

impl Team {
    /// Creates a team with a service that can change resources, or one that can only create and delete them.
    pub fn new(place: Place, api: &'static str) -> Self {
        let own = Project::new("");
        let service = own.faulty(SLOW);
        let port = service.origin.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        let (witness, folder) = (Witness::default(), tempfile::tempdir().expect("a folder"));
        let members = (0..MEMBERS).map(|number| {
            let path = folder.path().join(format!("member-{number}"));
            place.join(&path);
            Member { folder: path, port: witness.between(number, port) }
        });
        let members = members.collect();
        Self { service, witness, declared: Declared::default(), place, api, members, earlier: 0, folder, _own: own }
    }

    /// Starts an apply for each member and applies faults to some. Returns a summary.
    pub fn storm(&mut self, round: u64, dice: &mut Dice, about: &str) -> String {
        self.declared = self.declared.next(dice);
        for member in &self.members {
            let settings = format!(
                "[targets.shared]\nbase_url = \"http://127.0.0.1:{}\"\napi = \"{}\"\nledger = \"{}\"\nlease = \"{LEASE}s\"\n\
                 send_within = \"1s\"\nsettle = \"1s\"\nmax_deletes = 1000\n",
                member.port, self.api, self.place.setting
            );
            fs::write(member.folder.join("pushplan.toml"), settings).expect("a file");
            fs::write(member.folder.join("messages.yaml"), self.declared.manifest()).expect("a file");
        }
        self.earlier = self.witness.count();
        self.service.forget();
        let mut running: Vec<Running> = (0..MEMBERS)
            .map(|member| {
                sleep(dice.millis(0, 60));
                let mut command = self.command(member, round);
                command.args(["apply", "--yes", "--wait", "30s", "--concurrency", "2"]);
                // Its output goes to a file, because a full pipe would block it.
                let out = fs::File::create(self.said(member)).expect("a file");
                let err = out.try_clone().expect("a file");
                let child = command.process_group(0).stdout(out).stderr(err).spawn().expect("it starts");
                Running { child, asleep: None }
            })
            .collect();
        let (mut killed, mut slept) = (0, 0);
        let mut aims: Vec<bool> = (0..AIMED).map(|_| true).chain((0..BLIND).map(|_| false)).collect();
        while !aims.is_empty() {
            let aimed = aims.swap_remove(dice.below(aims.len()));
            let victim = match aimed {
                true => self.sender(&mut running, dice),
                false => {
                    wait(&mut running, dice.millis(0, 800));
                    Some(dice.below(MEMBERS))
                }
            };
            let Some(victim) = victim else { continue };
            let struck = &mut running[victim];
            if struck.asleep.is_some() || struck.child.try_wait().expect("a child").is_some() {
                continue;
            }
            match dice.below(5) {
                0 => killed += usize::from(signal(&struck.child, "-KILL", false)),
                // Like a machine that goes away: its child processes end with it.
                1 => killed += usize::from(signal(&struck.child, "-KILL", true)),
                _ => {
                    slept += usize::from(signal(&struck.child, "-STOP", false));
                    struck.asleep = Some(Instant::now() + dice.millis(50, 6000));
                }
            }
        }
        let end = Instant::now() + PATIENCE;
        while running.iter_mut().any(|one| one.asleep.is_some() || one.child.try_wait().expect("a child").is_none()) {
            wait(&mut running, Duration::from_millis(50));
            if Instant::now() > end {
                let said: Vec<String> = (0..MEMBERS).map(|member| self.read(member)).collect();
                for one in &mut running {
                    let _ = one.child.kill();
                }
                panic!("{about}: somebody does not end\n{}", said.join("\n===\n"));
            }
        }
        for (member, one) in running.iter_mut().enumerate() {
            let status = one.child.wait().expect("a child");
            let is_known = matches!(status.code(), Some(0 | 1 | 6 | 8)) || status.signal() == Some(9);
            assert!(is_known, "{about}: member {member} ended with {status}\n{}", self.read(member));
        }
        let writes = self.witness.count() - self.earlier;
        format!("{writes} writes, {killed} killed, {slept} slept")
    }

    /// Waits until a member has sent some more requests, and a moment longer.
    fn sender(&self, running: &mut [Running], dice: &mut Dice) -> Option<usize> {
        let (until, more) = (self.witness.count() + 1 + dice.below(7), dice.millis(0, 120));
        let end = Instant::now() + Duration::from_secs(9);
        while self.witness.count() < until && Instant::now() < end {
            wait(running, Duration::from_millis(3));
            if running.iter_mut().all(|one| one.child.try_wait().expect("a child").is_some()) {
                return None;
            }
        }
        wait(running, more);
        self.witness.last()
    }

    /// One apply without faults. After it, everything is as declared.
    pub fn calm(&self, round: u64, dice: &mut Dice, about: &str) -> String {
        let before = self.witness.count();
        let member = dice.below(MEMBERS);
        let ran = self.run(member, round, &["apply", "--yes", "--wait", "60s"]);
        assert_eq!(ran.code, 0, "{about}: {ran}\n{}", self.everything());
        format!("{} more in calm", self.witness.count() - before)
    }

    pub fn run(&self, member: usize, round: u64, arguments: &[&str]) -> Ran {
        let output = self.command(member, round).args(arguments).output().expect("the binary runs");
        Ran {
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            code: output.status.code().expect("no signal"),
        }
    }

    /// A command of a member, with an actor name in the ledger that contains the member and the round.
    fn command(&self, member: usize, round: u64) -> Command {
        let Member { folder, port } = &self.members[member];
        let mut command = Command::new(env!("CARGO_BIN_EXE_pushplan"));
        outside_ci(&mut command).current_dir(folder).stdin(Stdio::null());
        command.env("GITHUB_ACTOR", format!("{member}-{round}")).env("HOSTNAME", "host");
        command.env("PUSHPLAN_ORIGIN", format!("http://127.0.0.1:{port}"));
        command.env("PUSHPLAN_APP_KEY", KEY).env("PUSHPLAN_MASTER_SECRET", SECRET);
        command.envs(self.place.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn members(&self) -> std::ops::Range<usize> {
        0..self.members.len()
    }

    fn said(&self, member: usize) -> PathBuf {
        self.folder.path().join(format!("said-{member}"))
    }

    fn read(&self, member: usize) -> String {
        format!("member {member}:\n{}", fs::read_to_string(self.said(member)).unwrap_or_default())
    }

    /// The output of all members in the storm, and the requests.
    pub fn everything(&self) -> String {
        let said: Vec<String> = self.members().map(|member| self.read(member)).collect();
        let sent = self.witness.all().into_iter().skip(self.earlier).map(|write| {
            let at = write.at;
            format!("{at} by {}: {} {} {} -> {}", write.member, write.method, write.path, write.body, write.status)
        });
        format!("{}\nsent:\n{}", said.join("\n"), sent.collect::<Vec<_>>().join("\n"))
    }
}

/// Lets time pass, and resumes suspended members when their time is over.
fn wait(running: &mut [Running], time: Duration) {
    let end = Instant::now() + time;
    loop {
        for one in running.iter_mut() {
            if one.asleep.take_if(|until| *until <= Instant::now()).is_some() {
                signal(&one.child, "-CONT", false);
            }
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        sleep(left.min(Duration::from_millis(20)));
    }
}

/// Sends a signal; returns whether the process existed.
fn signal(child: &Child, name: &str, with_all_it_started: bool) -> bool {
    let id = format!("{}{}", if with_all_it_started { "-" } else { "" }, child.id());
    Command::new("kill").args([name, "--", &id]).stderr(Stdio::null()).status().expect("kill runs").success()
}

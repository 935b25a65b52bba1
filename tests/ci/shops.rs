//! Shops: many targets on one service, with a pull request.

use std::fs::{Permissions, read_dir, set_permissions, write};
use std::os::unix::fs::PermissionsExt;

use pushplan_testing::hosts::Kind;
use pushplan_testing::{Ran, Service};

use crate::team::{Env, TWO, Team};

pub struct Shops {
    pub team: Team,
    pub service: Service,
    names: Vec<String>,
}

impl Shops {
    /// Shops of one service, which have all applied their files once.
    pub fn new(kind: Kind, number: usize) -> Self {
        let team = Team::fresh(kind, TWO);
        let names: Vec<String> = (0..number).map(|number| format!("shop-{number:03}")).collect();
        let apps: Vec<String> = names.iter().map(|name| format!("{name}:secret")).collect();
        let options: Vec<&str> = apps.iter().flat_map(|app| ["--app", app]).collect();
        let service = team.project.serve_with(&options);
        let shops = Self { team, service, names };
        shops.settle("", "");
        shops.give("");
        shops
    }

    /// Writes the project file. One target has a service that cannot be reached.
    pub fn settle(&self, unreachable: &str, more: &str) {
        let target = |name: &String| {
            let origin = if name == unreachable { "http://127.0.0.1:9" } else { &self.service.origin };
            format!(
                "[targets.{name}]\nbase_url = \"{origin}\"\napi = \"extended\"\nsettle = \"1s\"\nledger = \"file:\"\n"
            )
        };
        self.team.project.folder.write("pushplan.toml", self.names.iter().map(target).collect::<String>() + more);
    }

    /// Writes the credentials. The secret of one target was revoked.
    pub fn give(&self, revoked: &str) {
        let section = |name: &String| {
            let secret = if name == revoked { "revoked" } else { "secret" };
            let of =
                |origin: &str| format!("[\"{origin}\".{name}]\napp_key = \"{name}\"\nmaster_secret = \"{secret}\"\n");
            of(&self.service.origin) + &of("http://127.0.0.1:9")
        };
        let sections: String = self.names.iter().map(section).collect();
        let file = self.team.project.folder.write("credentials.toml", sections);
        set_permissions(file, Permissions::from_mode(0o600)).expect("permissions");
    }

    /// Breaks the ledger of a target.
    pub fn damage(&self, target: &str) {
        let folder = self.team.project.folder.path().join(format!(".pushplan/ledger/{target}"));
        let files = read_dir(folder).expect("a ledger").map(|file| file.expect("a file").path());
        files.filter(|path| path.is_file()).for_each(|path| write(path, "no record").expect("a file"));
    }

    pub fn run(&self, arguments: &[&str], env: &Env) -> Ran {
        let file = self.team.project.folder.path().join("credentials.toml").display().to_string();
        self.team.run(arguments, &[env.clone(), vec![("PUSHPLAN_CREDENTIALS", file)]].concat())
    }

    #[track_caller]
    pub fn good(&self, arguments: &[&str], env: &Env) -> Ran {
        let ran = self.run(arguments, env);
        assert_eq!(ran.code, 0, "{ran}");
        ran
    }

    /// Plans all targets as the workflow does, and writes the comment. Returns the exit code of the plan.
    #[track_caller]
    pub fn comment(&self) -> i32 {
        let code = self.run(&["plan", "--all-targets", "--out", "plans"], &vec![]).code;
        self.good(&["ci", "comment", "--plan", "plans"], &self.team.on_pull(7));
        code
    }
}

//! The configured git place: a remote's name, an address or a folder; and the names of its refs.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use percent_encoding::percent_decode_str;
use pushplan_io::git::masked;
use pushplan_model::digest::Digest;

use super::super::store::plain;

/// The repository that commits are pushed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remote {
    /// A remote of the project's repository.
    Named(String),
    Address(String),
    Folder(PathBuf),
}

impl Remote {
    /// Parses the setting. Refuses values that git would take for an option or for a program to run.
    pub fn read(root: &Path, setting: &str) -> anyhow::Result<Self> {
        let shown = masked(setting);
        let refuse = |why: &str| Err(anyhow!("`{shown}` is not a git remote: {why}"));
        if setting.is_empty() || setting.starts_with('-') || setting.contains(|c: char| c.is_control()) {
            return refuse("it must be the name of a remote, the address of a repository, or a folder");
        }
        if let Some((scheme, rest)) = setting.split_once("://") {
            return match scheme {
                _ if rest.starts_with('-') => refuse("an address does not begin with a dash"),
                "file" if !rest.starts_with('/') => refuse("after file:// comes the whole path of a folder"),
                "file" => Ok(Self::Folder(PathBuf::from(&*percent_decode_str(rest).decode_utf8_lossy()))),
                "git" | "http" | "https" | "ssh" => Ok(Self::Address(setting.to_owned())),
                _ => refuse("an address begins with https://, http://, ssh://, git:// or file://"),
            };
        }
        if setting.contains("::") {
            return refuse("an address begins with https://, http://, ssh://, git:// or file://");
        }
        let path = Path::new(setting);
        if path.is_absolute() || setting.starts_with("./") || setting.starts_with("../") {
            return Ok(Self::Folder(root.join(path)));
        }
        if setting.split('/').next().is_some_and(|host| host.contains(':')) {
            return Ok(Self::Address(setting.to_owned()));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
        if setting.starts_with('.') || !setting.chars().all(is_plain) {
            return refuse("a remote's name has only letters, digits and -_./+");
        }
        Ok(Self::Named(setting.to_owned()))
    }

    /// The argument for git.
    pub fn argument(&self) -> String {
        match self {
            Self::Named(name) => name.clone(),
            Self::Address(address) => address.clone(),
            Self::Folder(folder) => folder.display().to_string(),
        }
    }

    /// The name for display.
    pub fn shown(&self) -> String {
        masked(&self.argument())
    }
}

/// Whether git uses ssh for this address.
pub(crate) fn is_ssh(address: &str) -> bool {
    match address.split_once("://") {
        Some((scheme, _)) => scheme.contains("ssh"),
        None => address.split('/').next().is_some_and(|host| host.contains(':')),
    }
}

/// The prefix of the refs of all targets.
const TIPS: &str = "refs/pushplan/";

/// The names of one target's refs.
#[derive(Clone, Debug)]
pub struct Refs {
    target: String,
    /// The records since the newest checkpoint.
    pub tip: String,
}

impl Refs {
    pub fn of(target: &str) -> Self {
        let target = plain(target);
        Self { tip: format!("{TIPS}{target}"), target }
    }

    /// What the names of all refs of ledgers begin with.
    pub const BEGINNING: &str = "refs/pushplan";

    /// What stands for the refs of every target.
    pub fn every() -> String {
        format!("{}*", Self::BEGINNING)
    }

    /// Returns the target of a ref of records, as its name is written there.
    pub(crate) fn target_of(name: &str) -> &str {
        name.strip_prefix(TIPS).unwrap_or(name)
    }

    /// The newest commit that the records ever had. It moves together with them, so that everyone detects records that
    /// are set back, even in a fresh clone. A server moves refs one by one, in the order of their names, and may be
    /// killed in between: this one comes after the records, because a mark without its record looks like a lost record.
    pub fn mark(&self) -> String {
        format!("refs/pushplan_mark/{}", self.target)
    }

    /// The name of the mark in earlier versions. It is read if there is no other.
    pub fn earlier_mark(&self) -> String {
        format!("refs/pushplan-mark/{}", self.target)
    }

    /// The ref that keeps the records up to this one after a checkpoint replaced them.
    pub fn history(&self, last: u64) -> String {
        format!("{}{last:08}", self.histories())
    }

    /// The prefix of the refs that keep earlier records.
    pub fn histories(&self) -> String {
        format!("refs/pushplan-history/{}/", self.target)
    }

    /// The ref in the project's repository that notes what was last seen at an address.
    pub fn seen(&self, address: &str) -> String {
        let digest = Digest::of(address.as_bytes());
        format!("refs/pushplan-seen/{}/{}", &digest.as_str()[..12], self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_moves_the_mark_after_the_records() {
        for target in ["a", "prod", "shop-de/eu"] {
            let refs = Refs::of(target);
            assert!(refs.tip < refs.mark(), "{refs:?}");
        }
    }

    #[test]
    fn a_setting_is_a_name_an_address_or_a_folder_and_never_an_option() {
        let refused = |setting: &str| Remote::read(Path::new("/p"), setting).expect_err(setting).to_string();
        let read = |setting: &str| Remote::read(Path::new("/p"), setting).expect(setting);
        assert_eq!(read("origin"), Remote::Named("origin".into()));
        assert_eq!(read("git@host.example:team/x.git"), Remote::Address("git@host.example:team/x.git".into()));
        assert_eq!(read("../x.git"), Remote::Folder("/p/../x.git".into()));
        assert_eq!(read("file:///srv/%78.git").argument(), "/srv/x.git");
        for odd in [
            "",
            "-x",
            "--upload-pack=touch x",
            "ext::sh -c x",
            "x\ny",
            "a b",
            ".git",
            "ext://x",
            "ssh://-oProxyCommand=x",
        ] {
            assert!(refused(odd).contains("is not a git remote"), "{odd}");
        }
        assert!(!refused("ftp://ada:secret@host/x").contains("secret"));
    }

    #[test]
    fn a_targets_refs_are_its_own_and_git_takes_them() {
        assert_eq!(Refs::of("prod-2.eu").tip, "refs/pushplan/prod-2.eu");
        let odd = ["a", "A", "a.", "a..b", ".a", "a.lock", "a/b", "a b", "é", "", "%", "@{", "a.lock.b", "~^:?*[\\"];
        let mut names: Vec<String> = odd.iter().map(|target| Refs::of(target).tip).collect();
        for name in &names {
            let checked = std::process::Command::new("git").args(["check-ref-format", name]).status();
            assert!(checked.expect("git").success(), "{name}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), odd.len());
    }
}

//! The settings of git in a repository, and their files. Settings can name programs, so none may come from a file that
//! comes with the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::locate::real;

/// The settings that `git init --bare` writes. None of them names a program or a server.
const OWN: [&str; 9] = [
    "core.bare",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.repositoryformatversion",
    "core.symlinks",
    "extensions.objectformat",
    "extensions.refstorage",
];

/// Settings by name. Each has its last value, which is the effective one.
#[derive(Debug, Default)]
pub struct GitSettings(BTreeMap<String, String>);

/// A file that comes with the project and contains a setting.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    pub name: String,
    pub file: PathBuf,
}

impl GitSettings {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the settings that name programs which read files of the work tree. The files select among them by
    /// `.gitattributes`, and a relative name is one of their own programs.
    pub fn filters(&self) -> impl Iterator<Item = &str> {
        let is_filter = |name: &&String| {
            let names_program = [".clean", ".smudge", ".process"].iter().any(|end| name.ends_with(end));
            name.starts_with("filter.") && names_program
        };
        self.0.keys().filter(is_filter).map(String::as_str)
    }

    /// Parses the output of `git config --list --show-origin -z`. `top` contains everything that comes with the
    /// project; `own` is the git directory that pushplan created there, with settings of its own.
    pub fn read(printed: &[u8], root: &Path, top: &Path, own: Option<&Path>) -> Result<Self, Foreign> {
        let real = |path: &Path| real(path).unwrap_or_else(|_| path.to_owned());
        let (top, own) = (real(top), own.map(real));
        let mut all = BTreeMap::new();
        let mut parts = printed.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
            let (name, value) = setting.split_once('\n').unwrap_or((&setting, ""));
            if let Some(file) = origin.strip_prefix("file:").map(|file| real(&root.join(file))) {
                let is_own = own.as_ref().is_some_and(|own| file.starts_with(own)) && OWN.contains(&name);
                let is_content = file.strip_prefix(&top).is_ok_and(|inside| inside.iter().all(|part| part != ".git"));
                if is_content && !is_own {
                    return Err(Foreign { name: name.to_owned(), file });
                }
            }
            all.insert(name.to_owned(), value.to_owned());
        }
        Ok(Self(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_counts_by_the_file_that_it_comes_from() {
        let (root, own) = (Path::new("/p/sub"), Path::new("/p/.pushplan/git"));
        let read = |file: &str, name: &str| {
            let printed = format!("file:/home/ada/.gitconfig\0user.name\nAda\0file:{file}\0{name}\nx\ny\0");
            GitSettings::read(printed.as_bytes(), root, Path::new("/p"), Some(own))
        };
        for (file, name) in [
            ("/home/ada/.gitconfig", "core.sshcommand"),
            ("/p/.git/config", "core.sshcommand"),
            ("/p/sub/.git/config", "core.sshcommand"),
            ("/p/.pushplan/git/config", "core.bare"),
        ] {
            let settings = read(file, name).expect(file);
            assert_eq!((settings.get(name), settings.get("user.name")), (Some("x\ny"), Some("Ada")));
        }
        for (file, name) in [
            ("/p/.gitconfig", "core.sshcommand"),
            ("/p/.gitconfig", "core.bare"),
            ("x", "user.name"),
            ("/p/.pushplan/git/config", "core.sshcommand"),
        ] {
            let foreign = read(file, name).expect_err(file);
            assert_eq!(foreign, Foreign { name: name.to_owned(), file: root.join(file) });
        }
        let printed = b"command line:\0core.fsmonitor\nfalse\0file:/x\0a.b\0";
        let settings = GitSettings::read(printed, root, root, None).expect("sound");
        assert_eq!((settings.get("core.fsmonitor"), settings.get("a.b")), (Some("false"), Some("")));
    }
}

//! Translations: importing a file of a translator into the message catalogues.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pushplan_io::failure::{Failure, FailureKind};
use pushplan_io::files;
use pushplan_project::manifest::edit::NewText;
use pushplan_project::manifest::{FILE_LIMIT, Manifests, TranslationTable, to_text};
use pushplan_project::translations::{Import, ImportProblem};

/// A file of a translator, compared with the catalogues. Nothing is written yet.
#[derive(Debug)]
pub struct ImportedFile {
    pub import: Import,
    /// The changed catalogues, by name.
    texts: BTreeMap<String, String>,
}

/// Why a file of a translator is not imported.
#[derive(Debug)]
pub enum NotImported {
    /// The file has problems, each at a line.
    Problems(Vec<ImportProblem>),
    Failed(Failure),
}

impl ImportedFile {
    /// Reads a file. `outdated` accepts translations of common texts that have changed since the export.
    pub fn read(
        manifests: &Manifests,
        table: &TranslationTable,
        path: &Path,
        outdated: bool,
    ) -> Result<Self, NotImported> {
        let failed = |why: &dyn std::fmt::Display| {
            NotImported::Failed(Failure::usage(format!("{} cannot be read: {why}", path.display())))
        };
        let bytes = files::read(path, FILE_LIMIT).map_err(|why| failed(&why))?;
        let (text, wrong) = to_text(bytes);
        if let Some(wrong) = wrong {
            let line = 1 + text.matches('\n').count();
            let help = "save the file as UTF-8";
            return Err(NotImported::Problems(vec![ImportProblem { line, message: wrong.to_owned(), help }]));
        }
        let import = Import::of(manifests, table, &text, outdated).map_err(NotImported::Problems)?;
        let new: Vec<NewText> = import.changed.iter().map(|changed| changed.new.clone()).collect();
        let texts = manifests.with_texts(&new).map_err(|name| {
            let failure = Failure::new(format!("{name} is written in a way that pushplan cannot edit"));
            NotImported::Failed(failure.kind(FailureKind::Invalid).help(
                "write its messages as a map with a line for each text, and import the file again; nothing was changed",
            ))
        })?;
        Ok(Self { import, texts })
    }

    /// The names of the changed catalogues.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    /// Writes the changed catalogues: all of them, or none.
    pub fn write(&self, manifests: &Manifests) -> Result<(), Failure> {
        let root = &manifests.project.root;
        let mut before: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for name in self.names() {
            let path = root.join(name);
            let now = files::read_unlinked(&path, FILE_LIMIT).map_err(|why| cannot_write(name, &why.to_string()))?;
            let known = manifests.sources.iter().find(|(_, source)| *source.path == *name);
            if known.is_none_or(|(_, source)| source.text.as_bytes() != now) {
                return Err(cannot_write(name, "it has changed since it was read").help("run the command again"));
            }
            before.push((path, now));
        }
        let both = before.iter().zip(self.texts.values());
        let all: Vec<(PathBuf, [&[u8]; 2])> =
            both.map(|((path, before), after)| (path.clone(), [before.as_slice(), after.as_bytes()])).collect();
        let Err((path, why)) = files::replace_all(&all) else { return Ok(()) };
        let is_old =
            |(path, old): &(PathBuf, Vec<u8>)| files::read_unlinked(path, FILE_LIMIT).is_ok_and(|now| now == *old);
        Err(match before.iter().all(is_old) {
            true => cannot_write(&path.display().to_string(), &why.to_string()),
            // The reason names each file that could not get its old content back.
            false => Failure::new(format!("{} cannot be written: {why}", path.display())),
        })
    }
}

fn cannot_write(name: &str, why: &str) -> Failure {
    Failure::new(format!("{name} cannot be written: {why}; nothing was imported"))
}

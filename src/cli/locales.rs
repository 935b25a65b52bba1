use std::path::PathBuf;

use clap::{Args, Subcommand};
use jiff::Timestamp;

use super::forms::{PLAIN, among, described};
use super::planning::TargetArgs;
use super::{Context, Ended};
use crate::engine::Workspace;
use crate::engine::translations::{ImportedFile, NotImported};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::manifest::TranslationTable;
use crate::nouns::locale::Locale;
use crate::private;
use crate::render::translations::{ImportView, TranslationsView, imported, json, text as table};
use crate::render::{Format, one_line};
use crate::text::{any_of, count};
use crate::translations::{ExchangeFormat, exchanged, export};

/// The output formats.
const EXCHANGED: &[Format] = &[Format::Xliff, Format::Csv];

/// List what is not translated; export and import texts.
///
/// It lists the messages with localizations or message catalogues, and the texts that a locale lacks. The service is not contacted.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Locales {
    #[command(subcommand)]
    what: Option<LocalesCommand>,

    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum LocalesCommand {
    Export(Export),
    Import(ImportArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Form of the list: text for people, json for programs
    #[arg(long, value_parser = described(PLAIN), default_value_t = Format::Text)]
    format: Format,

    #[command(flatten)]
    place: TargetArgs,
}

/// Write the texts of message catalogues for translators
///
/// XLIFF has one locale, CSV has a column for each. Texts in `localizations` and in files of their own are not exported.
#[derive(Debug, Args)]
struct Export {
    /// Form of the file: XLIFF 2.0 for translation tools, CSV for spreadsheets
    #[arg(long, value_parser = among(EXCHANGED), default_value_t = Format::Xliff)]
    format: Format,

    /// Locale to translate to, such as de; CSV can have several [default: all]
    #[arg(long, value_name = "LOCALE")]
    locale: Vec<String>,

    /// Language of the common texts
    #[arg(long, value_name = "LOCALE", default_value = "en")]
    source: String,

    /// File to write to
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    place: TargetArgs,
}

/// Write the texts of an exported file to the message catalogues
///
/// The form is XLIFF 2 or CSV. Only changed texts are edited: comments and the order of the catalogues stay. If any text has a problem, such as
/// a lost placeholder, nothing is written. Texts without a translation change nothing.
#[derive(Debug, Args)]
struct ImportArgs {
    /// The file of the translator
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Import translations of texts that have changed since the export
    #[arg(long)]
    outdated: bool,

    /// Write nothing; show what would change
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    place: TargetArgs,
}

impl Locales {
    pub fn run(&self, context: &Context) -> Ended {
        match &self.what {
            None => self.list.run(context),
            Some(LocalesCommand::Export(export)) => export.run(context),
            Some(LocalesCommand::Import(import)) => import.run(context),
        }
    }
}

/// Reads the project and its texts.
fn read(place: &TargetArgs, context: &Context, programs: bool) -> Result<(Workspace, TranslationTable), Failure> {
    let workspace = place.read_for(context, Timestamp::now(), programs)?;
    let table = workspace.manifests.translations(Some(&workspace.target));
    Ok((workspace, table))
}

impl ListArgs {
    fn run(&self, context: &Context) -> Ended {
        let (workspace, translations) = read(&self.place, context, self.format == Format::Json)?;
        let sources = &workspace.manifests.sources;
        let view = TranslationsView { table: &translations, target: &workspace.target, sources };
        match self.format {
            Format::Json => context.out.json(&json::json(&view)),
            _ => context.out.print(&table(&view, context.out.style())),
        }
        Ok(Exit::Done)
    }
}

impl Export {
    fn run(&self, context: &Context) -> Ended {
        let (workspace, table) = read(&self.place, context, false)?;
        if Locale::parse(&self.source).is_none_or(|locale| locale.language.is_none()) {
            let failure = Failure::usage(format!("`{}` is not a language", one_line(&self.source)));
            return Err(failure.help("write the language of the common texts, such as `--source en`"));
        }
        let locales = self.locales(&workspace, &table)?;
        let texts = exchanged(&table).count();
        if texts == 0 {
            let failure = Failure::new("no text to export: no message reads a message catalogue");
            return Err(failure.help("`pushplan explain RF120` shows how a push reads catalogues"));
        }
        let form = if self.format == Format::Csv { ExchangeFormat::Csv } else { ExchangeFormat::Xliff };
        let text = export(&table, form, &self.source, &locales);
        match &self.out {
            Some(path) => {
                let manifests = &workspace.manifests;
                let is_this = |own: PathBuf| own.canonicalize().is_ok_and(|own| path.canonicalize().ok() == Some(own));
                let mut own = manifests.sources.iter().map(|(_, source)| manifests.project.root.join(&*source.path));
                if own.any(is_this) {
                    let failure = Failure::usage(format!("{} is a file of the project", path.display()));
                    return Err(failure.help("write to another file, such as de.xlf"));
                }
                private::write(path, text.as_bytes())
                    .map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))?;
                context.out.print(&format!("Wrote {}: {}.", path.display(), count(texts, "text")));
            }
            None => context.out.show(self.format, &text),
        }
        let other = table.messages.iter().filter(|message| message.folder.is_none()).count();
        if other > 0 {
            context
                .out
                .note(&format!("Not exported: {} with `localizations` in the manifest.", count(other, "message")));
        }
        Ok(Exit::Done)
    }

    /// The locales to export, which have a catalogue.
    fn locales(&self, workspace: &Workspace, table: &TranslationTable) -> Result<Vec<String>, Failure> {
        let folders = || table.messages.iter().filter_map(|message| message.folder.as_ref());
        let has_catalogue =
            |locale: &&String| folders().any(|folder| workspace.manifests.catalogue_file(folder, locale).is_some());
        let known: Vec<String> = table.locales.iter().filter(has_catalogue).cloned().collect();
        let names = || any_of(&known.iter().map(|locale| format!("`{locale}`")).collect::<Vec<_>>());
        if let Some(other) = self.locale.iter().find(|locale| !known.contains(locale)) {
            let failure = Failure::usage(format!("no message catalogue for `{}`", one_line(other)));
            return Err(match known.as_slice() {
                [] => failure,
                _ => failure
                    .help(format!("write {}; for a new locale, create an empty file such as locales/de.yaml", names())),
            });
        }
        let locales = if self.locale.is_empty() { known.clone() } else { self.locale.clone() };
        if self.format == Format::Xliff && locales.len() > 1 {
            let failure = Failure::usage("an XLIFF file has only one locale");
            return Err(failure.help(format!("add `--locale` with {}, or use `--format csv`", names())));
        }
        Ok(locales)
    }
}

impl ImportArgs {
    fn run(&self, context: &Context) -> Ended {
        let (workspace, table) = read(&self.place, context, false)?;
        let manifests = &workspace.manifests;
        let file = match ImportedFile::read(manifests, &table, &self.file, self.outdated) {
            Ok(file) => file,
            Err(NotImported::Failed(failure)) => return Err(failure),
            Err(NotImported::Problems(problems)) => {
                let name = one_line(&self.file.display().to_string());
                for problem in &problems {
                    let message = one_line(&problem.message);
                    context.out.print(&format!("{name}:{}: {message}\n  help: {}", problem.line, problem.help));
                }
                let failure =
                    Failure::new(format!("{name} has {}: nothing was imported", count(problems.len(), "problem")));
                return Err(failure.kind(FailureKind::Invalid));
            }
        };
        if !self.dry_run {
            file.write(manifests)?;
        }
        let view = ImportView { import: &file.import, sources: &manifests.sources, is_trial: self.dry_run };
        context.out.print(&imported(&view));
        Ok(Exit::Done)
    }
}

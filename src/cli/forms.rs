//! The output forms of a plan and their files: `--format markdown --out plan.md --format html --out report.html`.

use std::path::{PathBuf, is_separator};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};

use crate::render::Format;

/// Text for people and JSON for programs: the formats of most commands.
pub const PLAIN: &[Format] = &[Format::Text, Format::Json];
/// The formats of a plan.
const OF_PLANS: &[Format] = &[Format::Text, Format::Json, Format::Markdown, Format::Html];

/// Parses one of some formats.
pub fn among(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    parser(formats.iter().map(|format| PossibleValue::new(format.name())).collect())
}

/// Parses one of some formats. The help has a description of each.
pub fn described(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    parser(formats.iter().map(|format| PossibleValue::new(format.name()).help(format.about())).collect())
}

fn parser(values: Vec<PossibleValue>) -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(values).map(|name| Format::named(&name).unwrap_or(Format::Text))
}

/// The requested output: a file to save the plan in, and forms, each for a file or standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forms {
    pub saved: Option<PathBuf>,
    pub shown: Vec<(Format, Option<PathBuf>)>,
}

impl Forms {
    /// The form for standard output.
    pub fn printed(&self) -> Option<Format> {
        self.shown.iter().find(|(_, file)| file.is_none()).map(|(format, _)| *format)
    }

    /// Whether plans are saved in a folder, however many there are: its name ends with a separator.
    pub fn has_folder(&self) -> bool {
        self.saved.as_ref().is_some_and(|path| path.to_string_lossy().ends_with(is_separator))
    }

    /// One form on standard output.
    pub fn one(format: Format, saved: Option<PathBuf>) -> Self {
        Self { saved, shown: vec![(format, None)] }
    }
}

const FORMAT: &str = "format";
const OUT: &str = "out";

impl Args for Forms {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new(FORMAT)
                    .long(FORMAT)
                    .value_name("FORM")
                    .action(ArgAction::Append)
                    .value_parser(described(OF_PLANS))
                    .help("Form of the plan [default: text]; can be repeated if all but one have --out")
                    .hide_possible_values(false),
            )
            .arg(
                Arg::new(OUT)
                    .long(OUT)
                    .short('o')
                    .value_name("FILE")
                    .action(ArgAction::Append)
                    .value_parser(value_parser!(PathBuf))
                    .help(
                        "After a --format, write that form to FILE. Otherwise, save the plan for `pushplan apply FILE`; a name that ends with `/` is a folder",
                    ),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Forms {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        enum FormArgument {
            Form(Format),
            File(PathBuf),
        }
        let places = |name: &str| matches.indices_of(name).into_iter().flatten();
        let forms = matches.get_many::<Format>(FORMAT).into_iter().flatten().map(|form| FormArgument::Form(*form));
        let files = matches.get_many::<PathBuf>(OUT).into_iter().flatten().map(|file| FormArgument::File(file.clone()));
        let mut said: Vec<(usize, FormArgument)> = places(FORMAT).zip(forms).chain(places(OUT).zip(files)).collect();
        said.sort_by_key(|(place, _)| *place);
        let mut asked = Self { saved: None, shown: Vec::new() };
        for (_, said) in said {
            match said {
                FormArgument::Form(format) => asked.shown.push((format, None)),
                FormArgument::File(file) => {
                    let free = match asked.shown.last_mut() {
                        Some((_, of_form)) => of_form.replace(file).is_none(),
                        None => asked.saved.replace(file).is_none(),
                    };
                    if !free {
                        return Err(wrong(
                            "--out is used twice for the same form; write --format FORM before each file",
                        ));
                    }
                }
            }
        }
        if asked.shown.is_empty() {
            asked.shown.push((Format::Text, None));
        }
        if asked.shown.iter().filter(|(_, file)| file.is_none()).count() > 1 {
            return Err(wrong("only one form can go to standard output; write --out FILE after the other --format"));
        }
        let files = asked.shown.iter().filter_map(|(_, file)| file.as_ref()).chain(&asked.saved);
        let whole = |file: &PathBuf| std::path::absolute(file).unwrap_or_else(|_| file.clone());
        let mut files: Vec<PathBuf> = files.map(whole).collect();
        files.sort();
        let number = files.len();
        files.dedup();
        if files.len() < number {
            return Err(wrong("the same file is named twice"));
        }
        Ok(asked)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn wrong(message: &str) -> Error {
    Error::raw(ErrorKind::ArgumentConflict, format!("{message}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Forms, Error> {
        let command = Forms::augment_args(Command::new("plan"));
        Forms::from_arg_matches(&command.try_get_matches_from([&["plan"], arguments].concat())?)
    }

    #[test]
    fn a_file_belongs_to_the_form_before_it() {
        use Format::{Html, Json, Markdown, Text};
        let file = |name: &str| Some(PathBuf::from(name));
        for (arguments, saved, shown) in [
            (&[][..], None, vec![(Text, None)]),
            (&["--out", "p"], file("p"), vec![(Text, None)]),
            (&["--out", "p", "--format", "json"], file("p"), vec![(Json, None)]),
            (&["--format", "html", "--out", "r.html"], None, vec![(Html, file("r.html"))]),
            (
                &[
                    "--out", "p", "--format", "markdown", "--out", "p.md", "--format", "html", "--out", "r",
                    "--format", "text",
                ],
                file("p"),
                vec![(Markdown, file("p.md")), (Html, file("r")), (Text, None)],
            ),
        ] {
            assert_eq!(read(arguments).expect("forms"), Forms { saved, shown }, "{arguments:?}");
        }
    }

    #[test]
    fn what_would_be_lost_is_refused() {
        for (arguments, why) in [
            (&["--format", "text", "--format", "json"][..], "only one form can go to standard output"),
            (&["--out", "a", "--out", "b"], "--out is used twice"),
            (&["--format", "json", "--out", "a", "--out", "b"], "--out is used twice"),
            (&["--out", "a", "--format", "json", "--out", "./a"], "the same file is named twice"),
        ] {
            let told = read(arguments).expect_err("refused").to_string();
            assert!(told.contains(why), "{told}");
        }
    }
}

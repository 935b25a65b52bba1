use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::roff::{Roff, bold, roman};

use super::help::command_line;
use super::{Context, Ended};
use crate::exit::{EXITS, Exit};
use crate::failure::Failure;
use crate::files::describe;
use crate::render::help::GROUPS;
use crate::text;

/// Print the manual page, or write those of all commands.
#[derive(Debug, Args)]
pub struct Man {
    /// Folder to write a page per command to, such as /usr/local/share/man/man1 [default: print the main page]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const SECTION: &str = "1";

impl Man {
    pub fn run(&self, context: &Context) -> Ended {
        let mut command = command_line();
        command.build();
        let Some(folder) = &self.out else {
            context.out.exact(&page(&command, None).map_err(|error| Failure::new(error.to_string()))?);
            return Ok(Exit::Done);
        };
        let cannot = |path: &Path, error: &std::io::Error| {
            Failure::new(format!("{} cannot be written: {}", path.display(), describe(error)))
        };
        fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
        let mut pages = Vec::new();
        gather(&command, None, &mut pages).map_err(|error| Failure::new(error.to_string()))?;
        for (name, text) in &pages {
            let path = folder.join(format!("{name}.{SECTION}"));
            fs::write(&path, text).map_err(|error| cannot(&path, &error))?;
        }
        context.out.print(&format!("Wrote {} to {}", text::count(pages.len(), "page"), folder.display()));
        Ok(Exit::Done)
    }
}

/// The page of a command and those of its subcommands, by name.
fn gather(command: &Command, above: Option<&str>, into: &mut Vec<(String, Vec<u8>)>) -> std::io::Result<()> {
    let name = name(command);
    into.push((name.clone(), page(command, above)?));
    command.get_subcommands().try_for_each(|below| gather(below, Some(&name), into))
}

fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn page(command: &Command, above: Option<&str>) -> std::io::Result<Vec<u8>> {
    let source = concat!("pushplan ", env!("CARGO_PKG_VERSION"));
    let page = clap_mangen::Man::new(command.clone()).section(SECTION);
    // A page has no date, so that the same version gives the same page.
    let title = name(command).to_uppercase().replace('-', "\\-");
    let mut out = format!(".TH {title} {SECTION} \"\" \"{source}\" \"Manual of pushplan\"\n").into_bytes();
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut out)?;
    }
    let mut roff = Roff::default();
    let is_main = above.is_none();
    if let Some(examples) = command.get_after_help().filter(|_| !is_main) {
        roff.control("SH", ["EXAMPLES"]);
        roff.control("nf", []);
        examples.to_string().lines().skip(1).for_each(|example| {
            roff.text([roman(example.trim())]);
        });
        roff.control("fi", []);
    }
    roff.control("SH", ["EXIT STATUS"]);
    if is_main {
        for (exit, _, meaning) in EXITS {
            entry(&mut roff, &(exit as u8).to_string(), meaning);
        }
        roff.control("SH", ["ENVIRONMENT"]);
        for variable in GROUPS.iter().flat_map(|group| group.variables) {
            entry(&mut roff, variable.name, variable.what);
        }
    } else {
        roff.text([roman("0 if the command succeeded. See "), bold("pushplan"), roman("(1) for the other codes.")]);
    }
    roff.control("SH", ["SEE ALSO"]);
    let below = command.get_subcommands().map(name);
    let others: Vec<String> = above.map(str::to_owned).into_iter().chain(below).collect();
    let main = (above != Some("pushplan") && !is_main).then(|| "pushplan".to_owned());
    let mut line = Vec::new();
    for (at, other) in main.into_iter().chain(others).enumerate() {
        let before = if at == 0 { "" } else { ", " };
        line.extend([roman(before), bold(other), roman(format!("({SECTION})"))]);
    }
    roff.text(line);
    roff.to_writer(&mut out)?;
    Ok(out)
}

fn entry(roff: &mut Roff, label: &str, words: &str) {
    roff.control("TP", []);
    roff.text([bold(label)]);
    roff.text([roman(words)]);
}

//! Pages that are one table each: exit codes, variables, forms of output, times, schemas and the files of the service.

use std::fmt::Write;

use super::{Chapter, code, file_name, head, line, prose, titled};
use crate::exit::EXITS;
use crate::render::book::SampleFile;
use crate::render::help::{self, Forms, GROUPS, TIMES};
use crate::render::schema::SCHEMAS;

pub(super) fn chapters(forms: &[Forms]) -> Vec<Chapter> {
    let pages = [
        ("Exit codes", exit_codes()),
        ("Environment variables", environment()),
        ("Output formats", formats(forms)),
        ("JSON schemas", schemas()),
        ("Times and time zones", times()),
    ];
    let path = |title: &str| format!("reference/{}.md", file_name(title));
    pages.into_iter().map(|(title, text)| Chapter::new(0, title, path(title), titled(title) + &text)).collect()
}

/// A page for each configuration file of the built-in service.
pub(super) fn samples(samples: &[SampleFile]) -> Vec<Chapter> {
    let page = |sample: &SampleFile| {
        let text =
            format!("{}{}\n\n```toml\n{}\n```\n", titled(&code(sample.name)), sample.about, sample.text.trim_end());
        Chapter::new(0, sample.name, format!("reference/{}.md", file_name(sample.name)), text)
    };
    samples.iter().map(page).collect()
}

fn exit_codes() -> String {
    let mut out = String::from("`pushplan help exit-codes` prints the same.\n\n");
    head(&mut out, &["exit", "meaning"]);
    for (exit, _, meaning) in EXITS {
        line(&mut out, &[(exit as u8).to_string(), meaning.to_owned()]);
    }
    out + "\nIf a command cannot write its output, it fails. If it has already changed something, its exit code still shows \
        how that change ended.\n"
}

fn environment() -> String {
    let mut out = String::from(
        "`pushplan help environment` prints the same. An empty variable counts as not set. Secrets are never shown.\n",
    );
    for group in GROUPS {
        let _ = write!(out, "\n## {}\n\n", group.about);
        head(&mut out, &["variable", "purpose"]);
        for variable in group.variables {
            line(&mut out, &[code(variable.name), prose(variable.what)]);
        }
    }
    out
}

fn formats(forms: &[Forms]) -> String {
    let mut out =
        String::from("The first form of each command is its default. `pushplan help formats` prints the same.\n\n");
    head(&mut out, &["command", "`--format`"]);
    for Forms { command, values } in forms {
        let names: Vec<String> = values.iter().map(|(name, _)| code(name)).collect();
        line(&mut out, &[format!("`pushplan {command}`"), names.join(", ")]);
    }
    out.push_str("\n## Purpose of each form\n\n");
    head(&mut out, &["form", "purpose"]);
    let mut listed: Vec<&str> = Vec::new();
    for (name, said) in forms.iter().flat_map(|forms| &forms.values) {
        if !listed.contains(&name.as_str()) {
            listed.push(name);
            line(&mut out, &[code(name), prose(&help::purpose(name, said.as_deref()).unwrap_or_default())]);
        }
    }
    out
}

fn schemas() -> String {
    let mut out = String::from(
        "`pushplan schema --out DIR` writes JSON Schemas for all files that you write and for all JSON that pushplan \
            prints. In a project, `pushplan schema` writes `.pushplan/schema.json`, which also contains the \
            project's own names.\n\n",
    );
    head(&mut out, &["file", "description"]);
    for (name, schema) in SCHEMAS {
        line(&mut out, &[code(name), prose(schema()["description"].as_str().unwrap_or_default())]);
    }
    out
}

fn times() -> String {
    let mut out = String::from("`pushplan help time-zones` prints the same.\n\n");
    head(&mut out, &["", "rule"]);
    for (label, words) in TIMES {
        line(&mut out, &[(*label).to_owned(), prose(words)]);
    }
    out
}

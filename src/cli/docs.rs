use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use hyper::{Response, StatusCode};

use super::help::{command_line, forms};
use super::http_server::Server;
use super::init::example;
use super::signals::Signals;
use super::{Command, Context, Ended, runtime};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::files::describe;
use crate::render::book::html::{HtmlFile, files, policy};
use crate::render::book::{Book, CommandTables, SampleFile};
use crate::service::config::{SAMPLES, Sample};
use crate::text;

/// Read the book of this version in a browser, offline.
///
/// It has a tutorial, a page for each task, and a reference of all kinds, codes, commands and settings. Press Ctrl-C to
/// stop.
#[derive(Debug, Args)]
pub struct Docs {
    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))]
    listen: SocketAddr,

    /// Write the pages to this folder as HTML files and exit
    #[arg(long, value_name = "DIR", conflicts_with = "listen")]
    out: Option<PathBuf>,
}

/// The book, with the reference of this program's commands.
pub fn book() -> Book {
    let mut line = command_line();
    line.build();
    let sample = |sample: &Sample| SampleFile { name: sample.name, about: sample.about, text: sample.text };
    let samples = SAMPLES.iter().map(sample).collect();
    Book::new(&CommandTables { line: &line, groups: Command::GROUPS, forms: forms(), samples, example })
}

impl Docs {
    pub fn run(&self, context: &Context) -> Ended {
        let files = files(&book());
        match &self.out {
            Some(folder) => write(context, folder, &files),
            None => runtime()?.block_on(self.serve(context, files)),
        }
    }

    async fn serve(&self, context: &Context, files: Vec<HtmlFile>) -> Ended {
        let mut signals = Signals::new().map_err(|error| Failure::new(error.to_string()))?;
        let pages: BTreeMap<String, Bytes> =
            files.into_iter().map(|file| (format!("/{}", file.path), Bytes::from(file.text))).collect();
        let policy = policy();
        let server = Server::start(self.listen, Arc::new(move |path| answer(&pages, &policy, path))).await?;
        context.out.print(&format!("The book is at http://{}/\nPress Ctrl-C to stop.", server.address));
        signals.next().await;
        Ok(Exit::Done)
    }
}

fn answer(pages: &BTreeMap<String, Bytes>, policy: &str, path: &str) -> Response<Full<Bytes>> {
    let page = pages.get(if path == "/" { "/index.html" } else { path });
    let (status, kind, body) = match page {
        Some(page) => (StatusCode::OK, "text/html; charset=utf-8", page.clone()),
        None => (StatusCode::NOT_FOUND, "text/plain; charset=utf-8", Bytes::from_static(b"no such page\n")),
    };
    let response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, kind)
        .header(CACHE_CONTROL, "no-store")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .header(CONTENT_SECURITY_POLICY, format!("{policy}; frame-ancestors 'none'"));
    response.body(Full::from(body)).unwrap_or_default()
}

fn write(context: &Context, folder: &Path, files: &[HtmlFile]) -> Ended {
    for file in files {
        let path = folder.join(&file.path);
        let written = fs::create_dir_all(path.parent().unwrap_or(folder)).and_then(|()| fs::write(&path, &file.text));
        written.map_err(|error| Failure::new(format!("{} cannot be written: {}", path.display(), describe(&error))))?;
    }
    context.out.print(&format!("Wrote {} to {}", text::count(files.len(), "page"), folder.display()));
    Ok(Exit::Done)
}

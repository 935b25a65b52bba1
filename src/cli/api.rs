use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};

use super::planning::TargetArgs;
use super::{Context, Ended, asking};
use crate::client::{Whole, refusal};
use crate::engine::project;
use crate::engine::target::Opened;
use crate::exchange::{Loss, Meaning, Method, Request};
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::files;
use crate::render::{exchange, pretty, visible};
use crate::text;

/// The largest body that the service accepts.
const BODY_LIMIT: u64 = 5 * 1024 * 1024;

/// Send one request to the service and print the answer.
///
/// The request carries the target's credentials. A GET is sent at once, and retried while the service is busy. Any
/// other request is shown and needs confirmation or --yes, and is sent once. It is not recorded in the ledger: the next
/// plan shows the change as drift or cannot see it.
///
/// JSON is printed with one value per line; --raw prints the body unchanged. The exit code is 0 for a status of 200 to
/// 299, 4 for 401 and 403, and 1 for anything else.
#[derive(Debug, Args)]
pub struct Api {
    /// GET, POST, PUT or DELETE
    #[arg(value_name = "METHOD", value_parser = method)]
    method: Method,

    /// Path and query, such as /api/segments?limit=10
    #[arg(value_name = "PATH", value_parser = path)]
    path: String,

    /// File with the JSON to send; `-` for standard input
    #[arg(long, value_name = "FILE")]
    body: Option<String>,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,

    /// Print status and headers before the body
    #[arg(short, long)]
    include: bool,

    /// Print the body unchanged; a terminal gets invisible characters escaped
    #[arg(long)]
    raw: bool,

    /// Follow up to 1000 pages of a list on the same server and print one object with the whole list
    #[arg(long, conflicts_with_all = ["include", "raw"])]
    paginate: bool,

    #[command(flatten)]
    place: TargetArgs,
}

impl Api {
    pub fn run(&self, context: &Context) -> Ended {
        let is_read = self.method == Method::Get;
        if self.paginate && !is_read {
            return Err(Failure::usage("--paginate works only with GET"));
        }
        if is_read && self.body.is_some() {
            return Err(Failure::usage("a GET request has no body").help("use the query: PATH?name=value"));
        }
        let body = self.body.as_deref().map(body).transpose()?;
        let request = Request { method: self.method, path: self.path.clone(), body };
        asking::with(&self.place, context, async |opened| {
            if is_read {
                self.read(&request, opened, context).await
            } else {
                self.ask(&request, opened, context)?;
                self.write(&request, opened, context).await
            }
        })
    }

    async fn read(&self, request: &Request, opened: &Opened, context: &Context) -> Ended {
        let got = opened.reading().get_whole(&request.path).await;
        let whole = got.map_err(|(Loss::NotSent(why) | Loss::Unknown(why))| {
            Failure::new(format!("{request} failed: {why}")).help("nothing was changed; try again")
        })?;
        if self.paginate && whole.answer.meaning() == Meaning::Done {
            let first = whole.answer.body.unwrap_or_default();
            let pages = asking::rest_of(opened, &request.path, first).await?;
            context.out.json(&format!("{:#}\n", joined(pages)));
            return Ok(Exit::Done);
        }
        self.tell(request, &whole, opened, context)
    }

    async fn write(&self, request: &Request, opened: &Opened, context: &Context) -> Ended {
        let whole = opened.writing().send_whole(request).await.map_err(|loss| match loss {
            Loss::NotSent(why) => Failure::new(format!("{request} was not sent: {why}")).help("nothing was changed"),
            Loss::Unknown(why) => {
                Failure::new(format!("{request} got no answer, and may have taken effect: {why}")).help(LOOK)
            }
        })?;
        self.tell(request, &whole, opened, context)
    }

    /// Asks for confirmation before anything is changed.
    fn ask(&self, request: &Request, opened: &Opened, context: &Context) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        if self.body.as_deref() == Some("-") || !io::stdin().is_terminal() {
            let message =
                format!("{request} to {} needs a confirmation, but standard input is not a terminal", opened.name);
            return Err(Failure::new(message)
                .kind(FailureKind::Refused)
                .help("pass --yes; the request changes the service and is not recorded in the ledger"));
        }
        let origin = opened.origin().to_string();
        let place = if opened.place == origin { origin } else { format!("the {} service at {origin}", opened.place) };
        context.out.note(&exchange::about_to_send(request, &opened.name, &place, context.out.style()));
        context.out.note("It is not recorded in the ledger.");
        context.out.ask("Send it? Type `yes` to continue:");
        let mut answer = String::new();
        let _ = io::stdin().read_line(&mut answer);
        match answer.trim() {
            "yes" => Ok(()),
            _ => Err(Failure::new("not sent: nothing was changed")
                .kind(FailureKind::Refused)
                .help("type `yes` to continue")),
        }
    }

    /// Prints an answer, and explains an error.
    fn tell(&self, request: &Request, whole: &Whole, opened: &Opened, context: &Context) -> Ended {
        let Whole { answer, headers, bytes } = whole;
        if self.include {
            context.out.print(&exchange::head(answer.status, headers));
        }
        let text = String::from_utf8_lossy(bytes);
        match &answer.body {
            _ if bytes.is_empty() => {}
            _ if self.raw && !io::stdout().is_terminal() => context.out.exact(bytes),
            Some(_) if !self.raw => context.out.json(&pretty(&text)),
            // An HTML page, or any other format.
            _ => context.out.print(&visible(&text)),
        }
        if let Some(refused) = refusal(opened.origin(), answer) {
            return Err(refused);
        }
        let failure = |message: String| Failure::new(format!("{request} {message}: {}", answer.error()));
        match answer.meaning() {
            Meaning::Done => Ok(Exit::Done),
            Meaning::Missing => Err(failure("found nothing".to_owned())),
            Meaning::Refused => Err(failure("was refused".to_owned())),
            Meaning::Busy => Err(failure("was refused because the service is busy".to_owned()).help(
                "nothing was \
                changed; try again later",
            )),
            Meaning::Unknown if request.method == Method::Get => Err(failure("failed".to_owned())),
            Meaning::Unknown => Err(failure("failed, but may have taken effect".to_owned()).help(LOOK)),
        }
    }
}

/// The advice for a request with an unknown result.
const LOOK: &str = "check the service before you send it again: a second request may send a second message";

/// Merges the lists of all pages; other fields, which describe single pages, are dropped. An answer without a list is
/// not changed.
fn joined(pages: Vec<Value>) -> Value {
    let has_list = |page: &Value| page.as_object().is_some_and(|page| page.values().any(Value::is_array));
    if let [page] = &pages[..]
        && !has_list(page)
    {
        return page.clone();
    }
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for page in pages {
        let Value::Object(fields) = page else { continue };
        for (name, value) in fields {
            if let Value::Array(items) = value {
                all.entry(name).or_default().extend(items);
            }
        }
    }
    json!(all)
}

/// The text of a JSON body.
fn body(from: &str) -> Result<String, Failure> {
    let (bytes, name) = match from {
        "-" => (files::read_to_limit(io::stdin().lock(), BODY_LIMIT), "standard input".to_owned()),
        file => {
            let path = project::here()?.join(file);
            // A pipe is read like standard input, because a shell creates one for `<(command)`.
            let read = match is_pipe(&path).then(|| File::open(&path)) {
                Some(Ok(pipe)) => files::read_to_limit(pipe, BODY_LIMIT),
                Some(Err(_)) | None => files::read(&path, BODY_LIMIT),
            };
            (read, file.to_owned())
        }
    };
    let bytes = bytes.map_err(|why| Failure::new(format!("the body in {name} cannot be read: {why}")))?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::new(format!("the body in {name} is not UTF-8")))?;
    match serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::new(format!("the body in {name} is not JSON: {error}"))
            .help("nothing was sent; the service accepts only JSON")),
    }
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

fn method(written: &str) -> anyhow::Result<Method> {
    let known = Method::ALL.into_iter().find(|method| method.word().eq_ignore_ascii_case(written));
    known.with_context(|| format!("write {}", text::any_of(&Method::ALL.map(Method::word))))
}

/// A path on the target's own server, without another host or relative parts.
fn path(written: &str) -> anyhow::Result<String> {
    const START: &str = "/api/";
    let is_plain = |c: char| c.is_ascii_graphic() && c != '\\';
    if written.contains("://") && !written.starts_with('/') {
        bail!("write only the path, such as /api/segments: the server comes from the target");
    }
    if let Some(wrong) = written.chars().find(|c| !is_plain(*c)) {
        let code: String = wrong.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
        bail!("a path cannot contain {}: write {code}", text::quoted(&wrong.to_string()));
    }
    if !written.starts_with(START) || written == START {
        let rest = written.trim_start_matches('/').trim_start_matches("api/");
        // The built-in service's own paths are not part of the API.
        let is_other = rest.is_empty() || rest.starts_with("local/") || written.starts_with("//");
        let near = if is_other { "segments" } else { rest };
        bail!("a path begins with {START}, such as {START}{near}");
    }
    let (alone, _) = written.split_once('?').unwrap_or((written, ""));
    if written.contains('#') {
        bail!("a path cannot contain `#`: write %23");
    }
    let is_dots = |part: &str| {
        let part = part.to_ascii_lowercase().replace("%2e", ".");
        matches!(part.as_str(), "." | "..")
    };
    if alone.split('/').any(is_dots) {
        bail!("a path cannot contain `.` or `..`");
    }
    Ok(written.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_on_its_server() {
        for good in ["/api/segments", "/api/tags/a%20b?limit=1", "/api/location/1,2", "/api/reports/sends/?start=a..b"]
        {
            assert_eq!(path(good).expect(good), good);
        }
        for (wrong, says) in [
            ("https://evil.example/api/segments", "only the path"),
            ("//evil.example/api", "begins with /api/"),
            ("/\\evil.example/api", "%5C"),
            ("/api/../x", "cannot contain `.` or `..`"),
            ("/api/segments/%2e%2E", "cannot contain `.` or `..`"),
            ("/api/./x", "cannot contain `.` or `..`"),
            ("segments", "such as /api/segments"),
            ("/local/clock", "such as /api/segments"),
            ("/api/", "begins with /api/"),
            ("", "begins with /api/"),
            ("/api/a b", "write %20"),
            ("/api/a\nb", "write %0A"),
            ("/api/é", "write %C3%A9"),
            ("/api/a#b", "write %23"),
            ("@evil.example/api/", "begins with /api/"),
        ] {
            let why = path(wrong).expect_err(wrong).to_string();
            assert!(why.contains(says), "{wrong}: {why}");
            assert!(!why.contains('\n'), "{why:?}");
        }
    }

    #[test]
    fn pages_are_joined_by_their_lists() {
        let pages = vec![
            json!({"ok": true, "count": 2, "templates": [1, 2], "next_page": "x"}),
            json!({"ok": true, "count": 1, "templates": [3], "next_page": null}),
        ];
        assert_eq!(joined(pages), json!({"templates": [1, 2, 3]}));
        assert_eq!(joined(vec![json!({"segments": []})]), json!({"segments": []}));
        assert_eq!(joined(vec![json!({"ok": true, "channel": {}})]), json!({"ok": true, "channel": {}}));
        assert_eq!(joined(vec![json!([1])]), json!([1]));
    }
}

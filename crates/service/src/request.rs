//! A request, taken apart.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::node::{Decode, Node, Reader, Tree, from_json};
use pushplan_model::nouns::level::Level;
use pushplan_model::source::{FileId, Source};

use crate::answer::Refusal;
use crate::faults::Lag;

/// What a handler is given beside the application.
#[derive(Debug)]
pub struct Call<'r> {
    pub request: &'r Request,
    pub now: Timestamp,
    pub level: Level,
}

/// All that a handler may know of a request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    /// The path as it was sent, without the query.
    pub path: String,
    pub query: BTreeMap<String, String>,
    /// Empty once it is decoded: the holder of the state's lock has no body left to read.
    pub body: Vec<u8>,
    /// `http://host:port`, as the client called it: the URLs of answers use it.
    pub origin: String,
    /// What the route's `{name}`s stand for.
    pub params: Vec<String>,
    /// How far behind the state is that it sees, where that is to be rehearsed.
    pub lag: Option<Lag>,
}

impl Request {
    /// The n-th variable part of the path.
    pub(crate) fn param(&self, n: usize) -> &str {
        self.params.get(n).map_or("", String::as_str)
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// A whole number of the query within bounds; `usual` where it is left out.
    pub fn number(&self, name: &str, usual: usize, most: usize) -> Result<usize, Refusal> {
        let Some(text) = self.query(name) else { return Ok(usual) };
        match text.parse::<usize>() {
            Ok(number) => Ok(number.min(most)),
            Err(_) => Err(Refusal::invalid(format!("`{name}` is not a whole number"))),
        }
    }

    /// The URL of this request with some of its query changed: the page before or after.
    pub fn page(&self, changed: &[(&str, String)]) -> String {
        let mut query = self.query.clone();
        query.extend(changed.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&query).finish();
        format!("{}{}?{query}", self.origin, self.path)
    }
}

/// The body of a request as it was sent. It is decoded before the state is locked.
#[derive(Clone, Debug, Default)]
pub struct RequestBody(pub Vec<u8>);

/// How many keys one object of a body may have: what is wrong with each costs time.
const KEYS: usize = 1_000;

impl RequestBody {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The body as a tree.
    pub fn json(&self) -> Result<Body, Refusal> {
        let text = std::str::from_utf8(&self.0).map_err(|error| {
            let good = String::from_utf8_lossy(&self.0[..error.valid_up_to()]).into_owned();
            let at = good.len();
            Refusal::unparsable("not UTF-8", &Source::new("body", good), at)
        })?;
        let source = Source::new("body", text);
        match from_json(FileId::ONLY, text) {
            Ok(node) => bounded(&node).map(|()| Body { source, node }),
            Err(error) => Err(Refusal::unparsable(error.why, &source, error.at)),
        }
    }

    /// The body as a type.
    pub fn read<T: Decode>(&self) -> Result<T, Refusal> {
        let body = self.json()?;
        body.read(&body.node)
    }
}

/// Whether no object has too many keys.
fn bounded(node: &Node) -> Result<(), Refusal> {
    match &node.tree {
        Tree::Map(entries) if entries.len() > KEYS => {
            Err(Refusal::too_many(format!("{} keys in one object; {KEYS} are possible", entries.len())))
        }
        Tree::Map(entries) => entries.iter().try_for_each(|entry| bounded(&entry.value)),
        Tree::List(items) => items.iter().try_for_each(bounded),
        Tree::Scalar(_) => Ok(()),
    }
}

/// A body that is JSON, with the places of its values.
#[derive(Debug)]
pub struct Body {
    pub source: Source,
    pub node: Node,
}

impl Body {
    /// A part of the body as it was sent.
    pub fn text(&self, node: &Node) -> &str {
        &self.source.text[node.span.range()]
    }

    /// A part of the body as a type. The first thing wrong in it is the refusal.
    pub fn read<T: Decode>(&self, node: &Node) -> Result<T, Refusal> {
        let mut reader = Reader::of_wire();
        let value = T::decode(node, &mut reader);
        let findings = reader.findings.into_vec();
        if let Some(refusal) = Refusal::findings(&findings, &self.source, &self.node) {
            return Err(refusal);
        }
        value.ok_or_else(|| Refusal::invalid(format!("expected {}", T::WHAT)))
    }

    /// One object or an array of them, each with how the path of what stands in it begins.
    pub fn each(&self) -> Vec<(String, &Node)> {
        match &self.node.tree {
            Tree::List(items) => items.iter().enumerate().map(|(at, item)| (format!("[{at}]."), item)).collect(),
            _ => vec![(String::new(), &self.node)],
        }
    }
}

/// A value that was understood before, as its type.
pub fn understood<T: Decode>(value: &serde_json::Value) -> Option<T> {
    meaning(&value.to_string())
}

/// Decodes JSON as it was sent; `None` if it does not fit the type.
pub fn meaning<T: Decode>(text: &str) -> Option<T> {
    let node = from_json(FileId::ONLY, text).ok()?;
    T::decode(&node, &mut Reader::of_wire())
}

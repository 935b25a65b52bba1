//! A parsed request.

use std::collections::BTreeMap;

use jiff::Timestamp;
use pushplan_model::node::{Decode, Node, Reader, Tree, from_json};
use pushplan_model::nouns::level::Level;
use pushplan_model::source::{FileId, Source};

use crate::answer::Refusal;
use crate::faults::Lag;

/// The arguments of a handler, in addition to the application.
#[derive(Debug)]
pub struct Call<'r> {
    pub request: &'r Request,
    pub now: Timestamp,
    pub level: Level,
}

/// The parts of a request that a handler may use.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub method: String,
    /// The path as sent, without the query.
    pub path: String,
    pub query: BTreeMap<String, String>,
    /// Empty once it is decoded, so that no body is read while the lock of the state is held.
    pub body: Vec<u8>,
    /// `http://host:port` as the client called it, for the URLs in answers.
    pub origin: String,
    /// The values of the route's `{name}`s.
    pub params: Vec<String>,
    /// How far the visible state lags behind, if a fault requests that.
    pub lag: Option<Lag>,
}

impl Request {
    /// Returns the n-th variable part of the path.
    pub(crate) fn param(&self, n: usize) -> &str {
        self.params.get(n).map_or("", String::as_str)
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Returns a whole number of the query, up to a maximum; `usual` if it is omitted.
    pub fn number(&self, name: &str, usual: usize, most: usize) -> Result<usize, Refusal> {
        let Some(text) = self.query(name) else { return Ok(usual) };
        match text.parse::<usize>() {
            Ok(number) => Ok(number.min(most)),
            Err(_) => Err(Refusal::invalid(format!("`{name}` is not a whole number"))),
        }
    }

    /// Returns the URL of this request with a changed query, for the previous or the next page.
    pub fn page(&self, changed: &[(&str, String)]) -> String {
        let mut query = self.query.clone();
        query.extend(changed.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&query).finish();
        format!("{}{}?{query}", self.origin, self.path)
    }
}

/// The body of a request as sent. It is decoded before the state is locked.
#[derive(Clone, Debug, Default)]
pub struct RequestBody(pub Vec<u8>);

/// The maximum number of keys in one object of a body, because reporting an error for each costs time.
const KEYS: usize = 1_000;

impl RequestBody {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Parses the body as a tree.
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

    /// Decodes the body.
    pub fn read<T: Decode>(&self) -> Result<T, Refusal> {
        let body = self.json()?;
        body.read(&body.node)
    }
}

/// Checks that no object has too many keys.
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

/// A JSON body, with the positions of its values.
#[derive(Debug)]
pub struct Body {
    pub source: Source,
    pub node: Node,
}

impl Body {
    /// Returns a part of the body as sent.
    pub fn text(&self, node: &Node) -> &str {
        &self.source.text[node.span.range()]
    }

    /// Decodes a part of the body. The first problem is the refusal.
    pub fn read<T: Decode>(&self, node: &Node) -> Result<T, Refusal> {
        let mut reader = Reader::of_wire();
        let value = T::decode(node, &mut reader);
        let findings = reader.findings.into_vec();
        if let Some(refusal) = Refusal::findings(&findings, &self.source, &self.node) {
            return Err(refusal);
        }
        value.ok_or_else(|| Refusal::invalid(format!("expected {}", T::WHAT)))
    }

    /// Returns one object, or those in an array, each with the beginning of the paths of its values.
    pub fn each(&self) -> Vec<(String, &Node)> {
        match &self.node.tree {
            Tree::List(items) => items.iter().enumerate().map(|(at, item)| (format!("[{at}]."), item)).collect(),
            _ => vec![(String::new(), &self.node)],
        }
    }
}

/// Decodes a value that was decoded successfully before.
pub fn understood<T: Decode>(value: &serde_json::Value) -> Option<T> {
    meaning(&value.to_string())
}

/// Decodes JSON as it was sent; `None` if it does not fit the type.
pub fn meaning<T: Decode>(text: &str) -> Option<T> {
    let node = from_json(FileId::ONLY, text).ok()?;
    T::decode(&node, &mut Reader::of_wire())
}

//! Schemas that a provider enforces: the subsets that are accepted, and how a schema is made to fit one without a
//! change of meaning.
//!
//! A schema outside the subset gets the whole request refused, so the checks err on the safe side: a keyword counts as
//! refused until it has been seen accepted.

mod complete;
mod plain;
mod tree;

use std::borrow::Cow;

use crate::{Error, Json, Limits};

pub(crate) use plain::Count;
pub(crate) use tree::{Tree, Unread};

/// The maximum nesting of schemas.
const MAX_DEPTH: usize = 64;

/// The schemas that can be enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subset {
    /// All schemas.
    Any,
    /// Closed objects in which every property is required (OpenAI).
    Complete,
    /// Closed objects, and values without bounds (Anthropic).
    Plain,
}

impl Subset {
    /// Returns whether a schema is in this subset unchanged. One that is too large to be checked is not.
    pub(crate) fn takes(self, schema: &Json) -> bool {
        let limits = Limits::client();
        let parsed = Parsed::new(schema, &limits);
        parsed.is_ok_and(|parsed| parsed.tree().is_ok_and(|tree| check(tree, self).is_ok()))
    }
}

/// A schema, parsed if that was possible.
#[derive(Debug)]
pub(crate) struct Parsed<'a> {
    json: &'a Json,
    tree: Option<Tree<'a>>,
}

/// A schema that fits a subset.
#[derive(Debug)]
pub(crate) struct Closed<'a> {
    pub(crate) schema: Cow<'a, Json>,
    /// Its share of a request's limits.
    pub(crate) count: Count,
}

impl<'a> Parsed<'a> {
    /// Reads a schema.
    ///
    /// # Errors
    /// Returns an error if it has more nodes than the limit.
    pub(crate) fn new(json: &'a Json, limits: &'a Limits) -> Result<Self, Error> {
        match Tree::parse(json, limits) {
            Ok(tree) => Ok(Parsed { json, tree: Some(tree) }),
            Err(Unread::Deep) => Ok(Parsed { json, tree: None }),
            Err(Unread::Limit(error)) => Err(error),
        }
    }

    /// Returns the schema as it was given.
    pub(crate) fn schema(&self) -> Cow<'a, Json> {
        Cow::Borrowed(self.json)
    }

    /// Returns the kind of the root, for a tool's parameters.
    pub(crate) fn root(&self) -> Root {
        let Some(tree) = &self.tree else {
            return if self.json.is_object() { Root::Object } else { Root::Other };
        };
        match (tree.as_object(), tree.get("type")) {
            (None, _) => Root::Other,
            (Some(_), None) => Root::Untyped,
            (Some(_), Some(kind)) if kind.says("object") => Root::Object,
            (Some(_), Some(_)) => Root::Other,
        }
    }

    /// Returns the schema with `type: object` at its root.
    pub(crate) fn typed(mut self) -> Cow<'a, Json> {
        match &mut self.tree {
            Some(tree) => {
                tree.lead("\"type\"", Tree::Leaf("\"object\""));
                Cow::Owned(tree.to_json())
            }
            None => Cow::Borrowed(self.json),
        }
    }

    /// Returns the schema in a form that can be sent with `strict: true`: unchanged, or closed wherever it does not
    /// mention other properties (with `additionalProperties: false`). That does not change what the model reads.
    ///
    /// An inner object that names no properties accepts any, so closing it would change its meaning: it stays open, and
    /// the check reports it. Only the root is closed even then, because a tool without properties takes no arguments.
    ///
    /// # Errors
    /// Returns why the schema cannot be strict without a change of meaning.
    pub(crate) fn strict(&self, subset: Subset) -> Result<Closed<'a>, String> {
        let tree = self.tree()?;
        if let Ok(count) = check(tree, subset) {
            return Ok(Closed { schema: Cow::Borrowed(self.json), count });
        }
        let mut closed = tree.clone();
        close_root(&mut closed);
        let count = check(&closed, subset)?;
        Ok(Closed { schema: Cow::Owned(closed.to_json()), count })
    }

    /// Returns the schema of an answer, made to fit: with closed objects, and without keywords that only restrict a
    /// value. The second part names the removed keywords; the model may then write what the schema forbids.
    ///
    /// # Errors
    /// Returns why it cannot be made to fit.
    pub(crate) fn trimmed(&self, subset: Subset) -> Result<(Closed<'a>, Vec<String>), String> {
        let fault = match self.strict(subset) {
            Ok(fitting) => return Ok((fitting, Vec::new())),
            Err(fault) => fault,
        };
        if subset != Subset::Plain {
            return Err(fault);
        }
        let mut whole = self.tree()?.clone();
        close_root(&mut whole);
        let removed = plain::trim(&mut whole);
        let count = check(&whole, subset)?;
        Ok((Closed { schema: Cow::Owned(whole.to_json()), count }, removed))
    }

    /// Returns the schema without `additionalProperties: false` at any depth; `None` if there is none.
    pub(crate) fn opened(json: &'a Json, limits: &'a Limits) -> Option<Json> {
        let mut tree = Tree::parse(json, limits).ok()?;
        open(&mut tree).then(|| tree.to_json())
    }

    fn tree(&self) -> Result<&Tree<'a>, String> {
        self.tree.as_ref().ok_or_else(|| "the schema is nested too deep".to_owned())
    }
}

/// The kind of a schema's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    Object,
    /// An object without a `type`.
    Untyped,
    /// Not the schema of an object.
    Other,
}

/// Checks whether the schema fits unchanged.
fn check(tree: &Tree<'_>, subset: Subset) -> Result<Count, String> {
    match subset {
        Subset::Any => Ok(Count::default()),
        Subset::Complete => complete::check(tree).map(|()| Count::default()),
        Subset::Plain => plain::check(tree),
    }
}

fn close_root(root: &mut Tree<'_>) {
    if root.has_type("object") {
        root.add("\"properties\"", Tree::Object(Vec::new()));
        root.add("\"additionalProperties\"", Tree::Leaf("false"));
    }
    close(root, 0);
}

/// Adds `additionalProperties: false` to every object schema that names properties and does not mention others.
fn close(schema: &mut Tree<'_>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    let names_properties =
        schema.get("properties").and_then(Tree::as_object).is_some_and(|properties| !properties.is_empty());
    if names_properties && schema.has_type("object") {
        schema.add("\"additionalProperties\"", Tree::Leaf("false"));
    }
    // Each part of an `allOf` sees only some of the properties, so none can be closed.
    for_each_schema(schema, &["anyOf"], |inner| close(inner, depth + 1));
}

/// Visits the schemas directly inside a schema; `choices` names the lists of alternatives that are also visited.
fn for_each_schema<'a>(schema: &mut Tree<'a>, choices: &[&str], mut visit: impl FnMut(&mut Tree<'a>)) {
    let Tree::Object(entries) = schema else { return };
    for entry in entries {
        match (entry.name.as_ref(), &mut entry.value) {
            ("properties" | "$defs" | "definitions", Tree::Object(named)) => {
                named.iter_mut().for_each(|entry| visit(&mut entry.value));
            }
            ("items", items @ Tree::Object(_)) => visit(items),
            (name, Tree::Array(alternatives)) if choices.contains(&name) => {
                alternatives.iter_mut().for_each(&mut visit)
            }
            _ => {}
        }
    }
}

/// Removes `additionalProperties: false` at every depth. Returns whether there was any.
fn open(tree: &mut Tree<'_>) -> bool {
    match tree {
        Tree::Object(entries) => {
            let before = entries.len();
            entries.retain(|entry| !(entry.name == "additionalProperties" && entry.value.is_false()));
            let found = entries.len() < before;
            entries.iter_mut().fold(found, |found, entry| open(&mut entry.value) | found)
        }
        Tree::Array(items) => items.iter_mut().fold(false, |found, item| open(item) | found),
        Tree::Leaf(_) => false,
    }
}

/// The path to a schema, written out only to report a fault there.
enum Path<'a> {
    Root,
    In(&'a Path<'a>, &'a str),
}

impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Path::Root => f.write_str("the root"),
            Path::In(Path::Root, name) => write!(f, "`{name}`"),
            Path::In(parent, name) => write!(f, "`{name}` in {parent}"),
        }
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;

//! Schemas that a provider holds a model to: the subsets that are taken, and how a schema is made to fit one without a
//! change of meaning.
//!
//! A schema outside the subset is refused together with the whole request, so the checks err on the safe side: a keyword
//! that nobody has seen accepted counts as refused.

mod complete;
mod plain;
mod tree;

use std::borrow::Cow;

use crate::{Error, Json, Limits};

pub(crate) use plain::Count;
pub(crate) use tree::{Tree, Unread};

/// Schemas inside schemas; deeper ones are refused.
const MAX_DEPTH: usize = 64;

/// The schemas that a model can be held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subset {
    /// All.
    Any,
    /// Closed objects, of which every property is required (OpenAI).
    Complete,
    /// Closed objects, and values without bounds (Anthropic).
    Plain,
}

/// A schema that was read, if it could be.
#[derive(Debug)]
pub(crate) struct Parsed<'a> {
    json: &'a Json,
    tree: Option<Tree<'a>>,
}

/// A schema that fits a subset.
#[derive(Debug)]
pub(crate) struct Closed<'a> {
    pub(crate) schema: Cow<'a, Json>,
    /// What it takes of a request's limits.
    pub(crate) count: Count,
}

impl<'a> Parsed<'a> {
    /// Reads a schema.
    ///
    /// # Errors
    /// If it has more parts than the limit.
    pub(crate) fn new(json: &'a Json, limits: &'a Limits) -> Result<Self, Error> {
        match Tree::parse(json, limits) {
            Ok(tree) => Ok(Parsed { json, tree: Some(tree) }),
            Err(Unread::Deep) => Ok(Parsed { json, tree: None }),
            Err(Unread::Limit(error)) => Err(error),
        }
    }

    /// The schema as it was given.
    pub(crate) fn schema(&self) -> Cow<'a, Json> {
        Cow::Borrowed(self.json)
    }

    /// What kind of schema the root is, for a tool's parameters.
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

    /// The schema with `type: object` at its root.
    pub(crate) fn typed(mut self) -> Cow<'a, Json> {
        match &mut self.tree {
            Some(tree) => {
                tree.lead("\"type\"", Tree::Leaf("\"object\""));
                Cow::Owned(tree.to_json())
            }
            None => Cow::Borrowed(self.json),
        }
    }

    /// The schema as it can go with `strict: true`: as it is, or closed with `additionalProperties: false` where it says
    /// nothing about further properties. That does not change what the model reads.
    ///
    /// An object inside that names no properties takes any, so closing it would change its meaning: it is left open, and
    /// the check reports it. The root alone is closed also then, because a tool without properties takes no arguments.
    ///
    /// # Errors
    /// Why the schema cannot be strict without a change of meaning.
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

    /// Whether the schema is of a subset as it is.
    pub(crate) fn fits(&self, subset: Subset) -> bool {
        self.tree.as_ref().is_some_and(|tree| check(tree, subset).is_ok())
    }

    /// The schema of an answer, made to fit: closed objects, and without the keywords that only narrow a value. The
    /// second part names what was taken out; the model may then write what the schema forbids.
    ///
    /// # Errors
    /// Why it cannot be made to fit.
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

    /// The schema without `additionalProperties: false` at any depth; `None` if there is none.
    pub(crate) fn opened(json: &'a Json, limits: &'a Limits) -> Option<Json> {
        let mut tree = Tree::parse(json, limits).ok()?;
        open(&mut tree).then(|| tree.to_json())
    }

    fn tree(&self) -> Result<&Tree<'a>, String> {
        self.tree.as_ref().ok_or_else(|| "the schema is nested too deep".to_owned())
    }
}

/// What kind of schema the root is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    Object,
    /// An object without a `type`.
    Untyped,
    /// Not the schema of an object.
    Other,
}

/// Does the schema fit as it is?
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

/// Adds `additionalProperties: false` to every object schema that names properties and says nothing about others.
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

/// Visits the schemas directly inside a schema; `choices` names the lists of alternatives that are visited too.
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

/// Takes `additionalProperties: false` out, at every depth. Was there any?
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

/// The way to a schema, written out only when something is wrong there.
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

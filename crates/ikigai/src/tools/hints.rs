//! What a tool is said to do.

/// What is said about what a tool's calls do. Hints, not promises: a server that lies can say what it likes.
///
/// ```
/// use std::collections::HashSet;
/// use ikigai::{Approval, Callable, Model};
///
/// /// Tools that only read are run at once; a person is asked about the others.
/// fn careful(model: Model, tools: Vec<Callable>) -> Model {
///     let harmless: HashSet<String> = tools
///         .iter()
///         .filter(|tool| !tool.hints().may_change())
///         .filter_map(|tool| tool.definition().name().map(str::to_owned))
///         .collect();
///     model.tools(tools).approve(move |call| {
///         let harmless = harmless.contains(&call.name);
///         async move { if harmless { Approval::Allow } else { Approval::Deny("not today".to_owned()) } }
///     })
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hints {
    /// A name for people.
    pub title: Option<String>,
    /// Does it leave everything as it is?
    pub read_only: Option<bool>,
    /// May it destroy something, and not only add?
    pub destructive: Option<bool>,
    /// Does a second call with the same arguments change nothing more?
    pub idempotent: Option<bool>,
    /// Does it reach beyond a closed world, such as the web?
    pub open_world: Option<bool>,
}

impl Hints {
    /// May a call change something? Yes, unless it is said to only read.
    pub fn may_change(&self) -> bool {
        self.read_only != Some(true)
    }

    /// May a call destroy something? Yes, unless it is said to only read or only add.
    pub fn may_destroy(&self) -> bool {
        self.may_change() && self.destructive != Some(false)
    }
}

//! Hints about what a tool does.

/// Hints about what a tool's calls do. They are not promises: a dishonest server can claim anything.
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
    /// A display name.
    pub title: Option<String>,
    /// Whether it changes nothing.
    pub read_only: Option<bool>,
    /// Whether it may destroy something, rather than only add.
    pub destructive: Option<bool>,
    /// Whether a second call with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// Whether it interacts with the outside world, such as the web.
    pub open_world: Option<bool>,
}

impl Hints {
    /// Returns whether a call may change something: `true`, unless the hints say that it only reads.
    pub fn may_change(&self) -> bool {
        self.read_only != Some(true)
    }

    /// Returns whether a call may destroy something: `true`, unless the hints say that it only reads or only adds.
    pub fn may_destroy(&self) -> bool {
        self.may_change() && self.destructive != Some(false)
    }
}

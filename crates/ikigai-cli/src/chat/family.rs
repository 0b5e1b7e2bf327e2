//! The branches of a conversation as a tree, for the picker.

use ikigai::Role;
use ikigai_store::{Conversation, ConversationId, Store};

use super::picker;
use crate::exit::Failure;
use crate::history::when;
use crate::screen::notice;

/// Returns the branches of a conversation, each after its parent: its id and its row.
pub(super) async fn rows(
    store: &dyn Store,
    here: ConversationId,
) -> Result<Vec<(ConversationId, picker::Choice)>, Failure> {
    let family = store.family(here).await?;
    let mut rows = Vec::with_capacity(family.len());
    for (depth, branch) in tree(&family) {
        let said = first_own(store, branch).await?;
        let sign = if depth == 0 { String::new() } else { format!("{}└ ", "  ".repeat(depth - 1)) };
        let mark = if branch.id == here { "here" } else { "" };
        let columns = vec![
            format!("{sign}{said}"),
            branch.model.model.clone().unwrap_or_default(),
            notice::several(branch.messages, "message"),
            when::ago(branch.updated),
            mark.to_owned(),
        ];
        rows.push((branch.id, picker::Choice { words: columns.join(" "), columns, is_dim: false }));
    }
    Ok(rows)
}

/// Returns the family from its roots on, each member with its depth.
fn tree(family: &[Conversation]) -> Vec<(usize, &Conversation)> {
    let is_member = |id: ConversationId| family.iter().any(|member| member.id == id);
    let mut open: Vec<(usize, &Conversation)> = family
        .iter()
        .rev()
        .filter(|member| !member.parent.as_ref().is_some_and(|parent| is_member(parent.conversation)))
        .map(|root| (0, root))
        .collect();
    let mut tree = Vec::with_capacity(family.len());
    while let Some((depth, member)) = open.pop() {
        tree.push((depth, member));
        let children = family
            .iter()
            .rev()
            .filter(|child| child.parent.as_ref().is_some_and(|parent| parent.conversation == member.id));
        open.extend(children.map(|child| (depth + 1, child)));
    }
    tree
}

/// Returns what a branch begins with that its parent does not have.
async fn first_own(store: &dyn Store, branch: &Conversation) -> Result<String, Failure> {
    let thread = store.thread(branch.id).await?;
    let shared = branch.parent.as_ref().and_then(|parent| parent.message);
    let from = shared.and_then(|last| thread.iter().position(|stored| stored.id == last)).map_or(0, |place| place + 1);
    let own = || thread.iter().skip(from);
    let said = own().find(|stored| stored.entry.message.role == Role::User).or_else(|| own().next());
    let text = said.map(|stored| stored.entry.message.text()).unwrap_or_default();
    let line = text.lines().find(|line| !line.trim().is_empty());
    Ok(line.map_or_else(|| branch.title.clone().unwrap_or_else(|| "(nothing yet)".to_owned()), str::to_owned))
}

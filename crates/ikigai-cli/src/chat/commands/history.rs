//! `/new`, `/resume`, `/search`, `/history`, `/title`, `/export`, `/delete`: whole conversations.

use ikigai::{Block, Role};
use ikigai_store::{Conversation, ConversationId, Details, Hit, Listing, Search, Selection, State, Store};

use super::super::Talk;
use super::super::editor::REMEMBERED;
use super::super::picker::{self, Picker};
use super::super::session::Session;
use super::super::transcript;
use crate::conversations;
use crate::exit::Failure;
use crate::files;
use crate::history::when;
use crate::places;
use crate::record;
use crate::screen::{Region, notice};

/// How many conversations are listed.
const LISTED: u32 = 15;
/// How many can be chosen from.
const PICKED: u32 = 1000;
/// How many lines of each message `/history` shows.
const SHOWN: notice::Lines = notice::Lines(8);

/// Returns the list row of a conversation.
fn row(conversation: &Conversation) -> picker::Choice {
    let fork = if conversation.parent.is_some() { "↳ " } else { "" };
    let columns = vec![
        format!("{fork}{}", conversation.title.as_deref().unwrap_or("untitled")),
        conversation.model.model.clone().unwrap_or_default(),
        notice::several(conversation.messages, "message"),
        when::ago(conversation.updated),
    ];
    picker::Choice { words: columns.join(" "), columns, is_dim: false }
}

/// Returns the first line of a conversation's last answer, or why there is none.
fn last_answer(store: &dyn Store, id: ConversationId) -> Vec<String> {
    let reading = store.thread(id);
    let thread = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(reading));
    let thread = match thread {
        Ok(thread) => thread,
        Err(error) => return vec![format!("⚠{error}")],
    };
    let answers = thread.iter().rev().filter(|stored| stored.entry.message.role == Role::Assistant);
    let line = answers.map(|stored| stored.entry.message.text()).find(|text| !text.trim().is_empty());
    line.iter()
        .flat_map(|text| text.lines())
        .find(|line| !line.trim().is_empty())
        .map(|line| format!("Last answer: {line}"))
        .into_iter()
        .collect()
}

/// Returns the list row of a search result.
fn found(hit: &Hit) -> picker::Choice {
    let columns = vec![
        when::ago(hit.created),
        hit.title.clone().unwrap_or_else(|| "untitled".to_owned()),
        hit.snippet.text.clone(),
    ];
    picker::Choice { words: columns.join(" "), columns, is_dim: false }
}

impl Talk {
    pub(super) fn fresh(&mut self) -> Result<(), Failure> {
        self.session.fresh();
        self.print(&notice::success("New conversation.", &[], self.look))
    }

    pub(super) fn clear(&mut self) -> Result<(), Failure> {
        self.session.fresh();
        // The screen and the scrollback.
        self.print("\x1b[2J\x1b[3J\x1b[H")
    }

    /// Starts a conversation that is not saved.
    pub(super) async fn incognito(&mut self) -> Result<(), Failure> {
        self.session.go_incognito().await?;
        let more = ["/new ends it and starts one that is saved."];
        self.print(&notice::success("New conversation. It is not saved.", &more, self.look))
    }

    /// Continues an earlier conversation; without a word, lists them.
    pub(super) async fn resume(&mut self, which: &str) -> Result<(), Failure> {
        if self.session.is_incognito() {
            return Err(
                Failure::new("this conversation is not saved and would be lost").hint("Leave it first with /new.")
            );
        }
        if which.is_empty() {
            let most = if self.region == Region::Live { PICKED } else { LISTED };
            let page = self.session.store.list(Listing::newest(most)).await?;
            if page.conversations.is_empty() {
                return Err(Failure::new("there are no conversations yet"));
            }
            if self.region == Region::Live {
                let ids = page.conversations.iter().map(|conversation| conversation.id).collect();
                return self.open_picked("Conversation", page.conversations.iter().map(row).collect(), ids).await;
            }
            self.listed = page.conversations.iter().map(|conversation| conversation.id).collect();
            let mut text = String::new();
            for (place, conversation) in page.conversations.iter().enumerate() {
                let words = format!("{}. {}", place + 1, conversations::line(conversation));
                text.push_str(&notice::info(&words, self.look));
            }
            self.session.prefill = Some("/resume ".to_owned());
            return self.print(&text);
        }
        let listed = which.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let listed = listed.and_then(|place| self.listed.get(place)).copied();
        let id = match listed {
            Some(id) => id,
            None => conversations::find(&*self.session.store, which).await?,
        };
        self.session.open(id).await?;
        self.show_transcript()
    }

    /// Lets the user choose a conversation and opens it.
    pub(super) async fn open_picked(
        &mut self,
        title: &'static str,
        choices: Vec<picker::Choice>,
        ids: Vec<ConversationId>,
    ) -> Result<(), Failure> {
        let picker = Picker::new(title, choices, "");
        let answer = |session: &Session, place: usize, _: &str| match ids.get(place) {
            Some(id) => last_answer(&*session.store, *id),
            None => Vec::new(),
        };
        let Some(picked) = self.pick(picker, answer).await? else { return Ok(()) };
        let Some(id) = ids.get(picked.place) else { return Ok(()) };
        self.session.open(*id).await?;
        self.show_transcript()
    }

    /// Searches all conversations for words.
    pub(super) async fn search(&mut self, words: &str) -> Result<(), Failure> {
        if words.is_empty() {
            return Err(Failure::new("nothing to search for").hint("/search WORDS"));
        }
        let most = if self.region == Region::Live { PICKED } else { LISTED };
        let hits = self.session.store.search(Search::new(words).limit(most)).await?;
        if hits.is_empty() {
            return self.print(&notice::info("No matches.", self.look));
        }
        if self.region == Region::Live {
            let ids = hits.iter().map(|hit| hit.conversation).collect();
            return self.open_picked("Found", hits.iter().map(found).collect(), ids).await;
        }
        self.listed = hits.iter().map(|hit| hit.conversation).collect();
        let mut text = String::new();
        for (place, hit) in hits.iter().enumerate() {
            let title = hit.title.as_deref().unwrap_or("untitled");
            let words = format!("{}. {title} · {}", place + 1, hit.snippet.text);
            text.push_str(&notice::info(&words, self.look));
        }
        text.push_str(&notice::info("/resume NUMBER opens one.", self.look));
        self.print(&text)
    }

    /// Shows all messages of this conversation; only the beginning of long ones.
    pub(super) fn messages(&mut self) -> Result<(), Failure> {
        if self.session.thread.is_empty() {
            return Err(Failure::new("there are no messages yet"));
        }
        let mut text = String::new();
        let thread = &self.session.thread;
        for (place, stored) in thread.iter().enumerate() {
            let message = &stored.entry.message;
            let who = match message.role {
                Role::User => "you".to_owned(),
                Role::Assistant => message.model.clone().unwrap_or_else(|| "assistant".to_owned()),
                Role::Tool => "tools".to_owned(),
                other => other.to_string(),
            };
            let calls = message.content.iter().filter_map(Block::as_tool_call).map(|call| format!("● {}", call.name));
            let results = message.content.iter().filter_map(|block| match block {
                Block::ToolResult(result) => Some(result.content.iter().filter_map(Block::as_text).collect::<String>()),
                _ => None,
            });
            let said: Vec<String> = std::iter::once(message.text()).chain(results).chain(calls).collect();
            let said =
                said.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
            text.push_str(&notice::info(&format!("{}. {who}", stored.position), self.look));
            text.push_str(&notice::wrapped(if said.is_empty() { "…" } else { &said }, SHOWN, self.look));
            if let Some(why) = record::failure(stored, thread.get(place + 1)) {
                text.push_str(&notice::warning(&transcript::not_answered(why), self.look));
            }
            if stored.entry.state != State::Complete {
                text.push_str(&notice::warning("This answer was cut off.", self.look));
            }
        }
        self.print(&text)
    }

    pub(super) async fn title(&mut self, title: &str) -> Result<(), Failure> {
        if title.is_empty() {
            let title = self.session.conversation.as_ref().and_then(|conversation| conversation.title.clone());
            return self.print(&notice::info(title.as_deref().unwrap_or("untitled"), self.look));
        }
        let id = self.session.conversation().await?;
        self.session.store.update(id, Details::default().title(title)).await?;
        self.session.refresh().await?;
        self.print(&notice::success("Titled.", &[], self.look))
    }

    /// Writes the conversation to a file: Markdown to read, JSON Lines to import again.
    pub(super) async fn export(&mut self, words: &[String]) -> Result<(), Failure> {
        let Some(conversation) = self.session.conversation.clone() else {
            return Err(Failure::new("there are no messages yet"));
        };
        let short = conversations::short(conversation.id);
        let name = words.first().cloned().unwrap_or_else(|| format!("ikigai-{short}.md"));
        let path = self.session.folder.join(&name);
        if path.exists() {
            return Err(Failure::new(format!("{name} already exists")).hint("Choose another name: /export FILE"));
        }
        let text = if name.ends_with(".jsonl") {
            let mut lines = Vec::new();
            ikigai_store::export(&*self.session.store, Selection::One(conversation.id), &mut lines).await?;
            String::from_utf8_lossy(&lines).into_owned()
        } else {
            ikigai_store::markdown(&conversation, &self.session.thread)
        };
        places::write(&path, &text, files::Mode::Kept)?;
        self.print(&notice::success(&format!("Written to {name}."), &[], self.look))
    }

    /// Deletes this conversation permanently, once the user has confirmed it.
    pub(super) async fn delete(&mut self, word: &str) -> Result<(), Failure> {
        let Some(conversation) = &self.session.conversation else {
            return Err(Failure::new("there are no messages yet"));
        };
        if word != "yes" {
            let words =
                format!("Delete “{}” permanently? Type /delete yes to confirm.", conversations::line(conversation));
            self.session.prefill = Some("/delete ".to_owned());
            return self.print(&notice::warning(&words, self.look));
        }
        self.session.store.delete(conversation.id).await?;
        self.editor.remember(self.session.store.prompts(REMEMBERED).await?)?;
        self.session.fresh();
        self.print(&notice::success("Deleted. This is a new conversation.", &[], self.look))
    }
}

//! `/new`, `/resume`, `/search`, `/history`, `/title`, `/export`, `/delete`: conversations as wholes.

use ikigai::Role;
use ikigai_store::{Details, Listing, Search, Selection};

use super::super::Talk;
use super::super::editor::REMEMBERED;
use crate::conversations;
use crate::exit::Failure;
use crate::files;
use crate::places;
use crate::screen::notice;

/// So many conversations are listed.
const LISTED: u32 = 15;

impl Talk {
    pub(super) fn fresh(&mut self) -> Result<(), Failure> {
        self.session.fresh();
        self.print(&notice::success("A new conversation.", &[], self.look))
    }

    pub(super) fn clear(&mut self) -> Result<(), Failure> {
        self.session.fresh();
        // The screen and what was scrolled out of it.
        self.print("\x1b[2J\x1b[3J\x1b[H")
    }

    /// A conversation that is gone when the program is.
    pub(super) async fn incognito(&mut self) -> Result<(), Failure> {
        self.session.fresh();
        self.session.store = ikigai_store::open(":memory:").await?;
        self.print(&notice::success("A new conversation that is not kept.", &[], self.look))
    }

    /// Goes on with an earlier conversation; without a word, lists them.
    pub(super) async fn resume(&mut self, which: &str) -> Result<(), Failure> {
        if which.is_empty() {
            let page = self.session.store.list(Listing::newest(LISTED)).await?;
            if page.conversations.is_empty() {
                return Err(Failure::new("there is no conversation yet"));
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

    /// Finds words in all conversations.
    pub(super) async fn search(&mut self, words: &str) -> Result<(), Failure> {
        if words.is_empty() {
            return Err(Failure::new("what shall be searched for?").hint("/search WORDS"));
        }
        let hits = self.session.store.search(Search::new(words).limit(LISTED)).await?;
        if hits.is_empty() {
            return self.print(&notice::info("Nothing was found.", self.look));
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

    /// All messages of this conversation, a line each.
    pub(super) fn messages(&mut self) -> Result<(), Failure> {
        if self.session.thread.is_empty() {
            return Err(Failure::new("nothing was said yet"));
        }
        let mut text = String::new();
        for stored in &self.session.thread {
            let message = &stored.entry.message;
            let who = match message.role {
                Role::User => "you".to_owned(),
                Role::Assistant => message.model.clone().unwrap_or_else(|| "assistant".to_owned()),
                Role::Tool => "tools".to_owned(),
                Role::System => "system".to_owned(),
            };
            let said = message.text();
            let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("…");
            text.push_str(&notice::info(&format!("{}. {who}: {said}", stored.position), self.look));
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

    /// Writes the conversation to a file: Markdown to read, JSON Lines to be imported again.
    pub(super) async fn export(&mut self, words: &[String]) -> Result<(), Failure> {
        let Some(conversation) = self.session.conversation.clone() else {
            return Err(Failure::new("nothing was said yet"));
        };
        let short = conversations::short(conversation.id);
        let name = words.first().cloned().unwrap_or_else(|| format!("ikigai-{short}.md"));
        let path = self.session.folder.join(&name);
        if path.exists() {
            return Err(Failure::new(format!("{name} is there already")).hint("Give another name: /export FILE"));
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

    /// Deletes this conversation for good, once the user has said so twice.
    pub(super) async fn delete(&mut self, word: &str) -> Result<(), Failure> {
        let Some(conversation) = &self.session.conversation else {
            return Err(Failure::new("nothing was said yet"));
        };
        if word != "yes" {
            let words = format!("Delete “{}” for good? /delete yes deletes it.", conversations::line(conversation));
            self.session.prefill = Some("/delete ".to_owned());
            return self.print(&notice::warning(&words, self.look));
        }
        self.session.store.delete(conversation.id).await?;
        self.editor.remember(self.session.store.prompts(REMEMBERED).await?)?;
        self.session.fresh();
        self.print(&notice::success("Deleted. This is a new conversation.", &[], self.look))
    }
}

//! `/retry`, `/undo`, `/edit`, `/fork`, `/branch`, `/compact`: other ways to continue from an earlier point.

use std::sync::Arc;

use ikigai::{Message, Role};
use ikigai_store::{Details, Entry, Point, Stored};

use super::super::Talk;
use super::super::agents::Task;
use super::super::family;
use super::super::picker::{self, Picker};
use super::super::transcript;
use super::Next;
use crate::exit::Failure;
use crate::history::when;
use crate::record;
use crate::screen::{Region, notice};

/// The request for a summary when the conversation is to become shorter.
const SUMMARISE: &str = "Summarise our conversation so far, so that it can be continued from your summary alone. Keep every \
                         fact, name, number, decision, open question and piece of code that may still be needed. Write \
                         only the summary.";

impl Talk {
    /// Asks the last question again, with several names to several models at the same time.
    pub(super) async fn retry(&mut self, names: &[String]) -> Result<Next, Failure> {
        let name = match names {
            [] => "",
            [name] => name,
            several => return self.compare(several).await.map(|()| Next::Prompt),
        };
        let Some(question) = self.session.last(Role::User).cloned() else {
            return Err(Failure::new("there is no question yet"));
        };
        // Before anything is changed, because the model may be unknown.
        let choice = if name.is_empty() { None } else { Some(self.session.parse(name)?) };
        if self.session.thread.last().is_some_and(|last| last.id != question.id) {
            self.session.branch(Point::After(question.id), choice.as_ref()).await?;
        }
        if choice.is_some() {
            self.model(&[name.to_owned()]).await?;
        }
        Ok(Next::Ask)
    }

    /// Removes the last question and everything after it, and puts its text back on the line.
    pub(super) async fn undo(&mut self) -> Result<(), Failure> {
        let Some(question) = self.session.last(Role::User).cloned() else {
            return Err(Failure::new("there is nothing to undo"));
        };
        let id = self.session.conversation().await?;
        let gone = self.session.store.truncate(id, Point::Before(question.id)).await?;
        self.session.thread = self.session.store.thread(id).await?;
        self.session.refresh().await?;
        self.session.prefill = Some(question.entry.message.text());
        self.print(&notice::success(&format!("{} removed.", notice::several(gone, "message")), &[], self.look))
    }

    /// Puts a question back on the line, the last one or one the user chooses; sending it begins a branch.
    pub(super) async fn edit(&mut self) -> Result<(), Failure> {
        let questions = self.session.thread.iter().rev().filter(|stored| stored.entry.message.role == Role::User);
        let questions: Vec<Stored> = questions.cloned().collect();
        let place = match questions.as_slice() {
            [] => return Err(Failure::new("there is no question yet")),
            [_, _, ..] if self.region == Region::Live => {
                let row = |stored: &Stored| {
                    let text = stored.entry.message.text();
                    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("…").to_owned();
                    picker::Choice { columns: vec![line, when::ago(stored.created)], words: text, is_dim: false }
                };
                let picker = Picker::new("Edit", questions.iter().map(row).collect(), "");
                match self.pick(picker, |_, _, _| Vec::new()).await? {
                    Some(picked) => picked.place,
                    None => return Ok(()),
                }
            }
            _ => 0,
        };
        let Some(question) = questions.into_iter().nth(place) else { return Ok(()) };
        self.session.prefill = Some(question.entry.message.text());
        self.session.editing = Some(question);
        self.print(&notice::info("Edit and press Enter to ask in a new branch. Clear the line to cancel.", self.look))
    }

    /// Begins a branch here; with a prompt, a sub-agent works in it.
    pub(super) async fn fork(&mut self, words: &[String]) -> Result<(), Failure> {
        let (model, prompt) = fork_arguments(words)?;
        let choice = match (&model, &self.session.choice) {
            (Some(name), _) => self.session.parse(name)?,
            (None, Some(choice)) => choice.clone(),
            (None, None) => return Err(self.session.no_model()),
        };
        let Some(prompt) = prompt else {
            self.session.branch(Point::End, Some(&choice)).await?;
            let lines = [format!("{} answers from here on. /branch switches back.", choice.short())];
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            return self.print(&notice::success("New branch.", &lines, self.look));
        };
        let history = self.session.history_with(Message::new(Role::User, prompt.as_str()));
        self.session.check_cost_of(std::slice::from_ref(&choice), &history, &self.session.tooling.callables())?;
        let parent = self.session.conversation().await?;
        let title = format!("Agent: {}", prompt.lines().next().unwrap_or_default());
        let details = Details::default().model(choice.kept()).title(title);
        let child = self.session.store.fork(parent, Point::End, details).await?;
        self.session.store.append(child.id, Message::new(Role::User, prompt.as_str()).into()).await?;
        let task = Task {
            choice: choice.clone(),
            prompt,
            store: Arc::clone(&self.session.store),
            conversation: child.id,
            thread: self.session.store.thread(child.id).await?,
            system: self.session.system.clone(),
            tooling: self.session.tooling.clone(),
            options: self.session.settings.options(&choice.name),
        };
        let number = self.agents.begin(task)?;
        let words = format!("Agent {number} started with {}. /agents shows its progress.", choice.short());
        self.print(&notice::success(&words, &[], self.look))
    }

    /// Lists the branches, or switches to one.
    pub(super) async fn branch(&mut self, number: &str) -> Result<(), Failure> {
        let Some(conversation) = &self.session.conversation else {
            return Err(Failure::new("there are no branches yet"));
        };
        let here = conversation.id;
        if number.is_empty() && self.region == Region::Live {
            let (ids, choices) = family::rows(&*self.session.store, here).await?.into_iter().unzip();
            return self.open_picked("Branch", choices, ids).await;
        }
        let family = self.session.store.family(here).await?;
        if number.is_empty() {
            let mut text = String::new();
            for (place, branch) in family.iter().enumerate() {
                let mark = if branch.id == here { " · here" } else { "" };
                let title = branch.title.as_deref().unwrap_or("untitled");
                let model = branch.model.model.as_deref().unwrap_or("no model");
                let words =
                    format!("{}. {title} · {model} · {}{mark}", place + 1, notice::several(branch.messages, "message"));
                text.push_str(&notice::info(&words, self.look));
            }
            text.push_str(&notice::info("/branch NUMBER switches to it.", self.look));
            return self.print(&text);
        }
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let Some(branch) = place.and_then(|place| family.get(place)) else {
            return Err(Failure::new(format!("there is no branch {number}")).hint("/branch lists them."));
        };
        let id = branch.id;
        self.session.open(id).await?;
        self.show_transcript()
    }

    /// Continues in a new branch, with a summary instead of the whole conversation.
    pub(super) async fn compact(&mut self) -> Result<(), Failure> {
        if self.session.thread.len() < 2 {
            return Err(Failure::new("there is nothing to summarise yet"));
        }
        let model = self.session.plain_model()?;
        let history = self.session.history_with(Message::new(Role::User, SUMMARISE));
        self.session.check_cost_of(self.session.choice.as_slice(), &history, &[])?;
        self.print(&notice::info("Summarising …", self.look))?;
        let answer = tokio::select! {
            answer = model.ask(history) => answer?,
            _ = tokio::signal::ctrl_c() => return Err(Failure::new("stopped; the conversation is unchanged")),
        };
        let summary = answer.text();
        let cost = answer.cost().map(|cost| cost.total()).filter(|_| !self.session.access.is_simulated());
        if summary.trim().is_empty() {
            return Err(Failure::new("the model gave no summary; the conversation is unchanged"));
        }
        let before = self.session.thread.len();
        self.session.branch(Point::Start, None).await?;
        let id = self.session.conversation().await?;
        let said = format!("This is a summary of our conversation so far:\n\n{summary}");
        // The summary had to be paid for, so this message has its cost; its tokens are not part of this conversation.
        let mut reply = Entry::new(Message::new(Role::Assistant, "Understood. Let us continue."));
        reply.cost = cost;
        if let Some(choice) = &self.session.choice {
            reply.message.provider = Some(choice.name.provider.clone());
            reply.message.model = Some(choice.name.id.clone());
        }
        if self.session.access.is_simulated() {
            reply = record::as_simulated(reply);
        }
        let entries = vec![Message::new(Role::User, said).into(), reply];
        self.session.store.append_all(id, entries).await?;
        self.session.thread = self.session.store.thread(id).await?;
        let before = notice::several(before as u64, "message");
        let words = format!("{before} became a summary. The whole conversation is a branch: /branch.");
        self.print(&notice::success(&words, &[], self.look))?;
        let shown: String = transcript::show_all(&self.session.thread, self.look).collect();
        self.print(&shown)
    }
}

/// Parses the model and the prompt of `/fork [--model MODEL] ["prompt"]`.
fn fork_arguments(words: &[String]) -> Result<(Option<String>, Option<String>), Failure> {
    let mut model = None;
    let mut prompt = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--model" || word == "-m" {
            let name = words.next().ok_or_else(|| Failure::new("--model needs a name").hint("--model o3/high"))?;
            model = Some(name.clone());
        } else if let Some(name) = word.strip_prefix("--model=") {
            model = Some(name.to_owned());
        } else {
            prompt.push(word.as_str());
        }
    }
    let prompt = prompt.join(" ");
    Ok((model, (!prompt.trim().is_empty()).then_some(prompt)))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_fork_takes_a_model_and_a_prompt() {
        let read = |line: &str| fork_arguments(&super::super::words(line).unwrap()).unwrap();
        assert_eq!(read(""), (None, None));
        assert_eq!(read("--model o3/high"), (Some("o3/high".to_owned()), None));
        assert_eq!(read("\"count them\""), (None, Some("count them".to_owned())));
        assert_eq!(read("--model=o3 count them"), (Some("o3".to_owned()), Some("count them".to_owned())));
        assert!(fork_arguments(&["--model".to_owned()]).is_err());
    }
}

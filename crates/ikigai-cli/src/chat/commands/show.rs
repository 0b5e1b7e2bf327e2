//! `/help`, `/cost`, `/sources`, `/usage`, `/tokens`, `/status`, `/raw`, `/copy`, `/keys`, `/config`: information.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ikigai::{Money, Role, Usage};
use serde_json::{Map, Value, json};

use super::super::{Talk, painted};
use super::{GROUPS, Known, find, unknown};
use crate::access::SIMULATOR;
use crate::exit::Failure;
use crate::output::HEADING;
use crate::places::Places;
use crate::redact;
use crate::screen::{notice, sources, width};

/// The column where the descriptions in the help begin.
const ALIGNED: usize = 32;

const KEYS: [(&str, &str); 9] = [
    ("Enter", "send"),
    ("Alt-Enter, Ctrl-J", "new line"),
    ("Tab", "complete commands, models and files after @"),
    ("Up, Ctrl-R", "earlier lines"),
    ("Ctrl-T", "the last thinking"),
    ("Ctrl-G", "your own editor"),
    ("Ctrl-V", "attach the picture in the clipboard"),
    ("Esc", "stop the answer"),
    ("Ctrl-D", "leave"),
];

impl Talk {
    pub(super) fn help(&mut self, name: &str) -> Result<(), Failure> {
        let line = |known: &Known| {
            let left = format!("  /{} {}", known.name, known.takes);
            // A command too long for its column gets a separate line.
            match width(left.trim_end()) < ALIGNED {
                true => format!("{left:<ALIGNED$}{}\n", known.help),
                false => format!("{}\n{:ALIGNED$}{}\n", left.trim_end(), "", known.help),
            }
        };
        if !name.is_empty() {
            let name = name.trim_start_matches('/');
            let known = find(name).ok_or_else(|| unknown(name))?;
            return self.print(&line(known));
        }
        let mut text = String::new();
        for (group, names) in GROUPS {
            text.push_str(&format!("{}\n", painted(self.look, HEADING, group)));
            text.extend(names.iter().filter_map(|name| find(name)).map(line));
        }
        text.push_str(&format!("{}\n", painted(self.look, HEADING, "Keys")));
        for (key, help) in KEYS {
            text.push_str(&format!("  {key:<width$}{help}\n", width = ALIGNED - 2));
        }
        self.print(&text)
    }

    /// Shows what the conversation cost, by model.
    pub(super) async fn cost(&mut self) -> Result<(), Failure> {
        let Some(conversation) = &self.session.conversation else {
            return self.print(&notice::info("Nothing yet.", self.look));
        };
        let spent = self.session.store.spent_by_family(conversation.id).await?;
        let mut text = String::new();
        for model in &spent.models {
            let name = model.model.as_deref().unwrap_or("unknown model");
            let cost = match model.provider.as_deref() {
                Some(SIMULATOR) => "simulated, free".to_owned(),
                _ => cost(model.cost, model.estimated, model.answers, model.unpriced),
            };
            let words = format!("{name} · {} · {cost}", notice::several(model.answers, "answer"));
            text.push_str(&notice::info(&words, self.look));
        }
        let paid = || spent.models.iter().filter(|model| model.provider.as_deref() != Some(SIMULATOR));
        let (answers, unpriced) =
            paid().fold((0, 0), |(answers, unpriced), model| (answers + model.answers, unpriced + model.unpriced));
        if answers > 0 {
            let words =
                format!("In all, with every branch: {}", cost(spent.cost(), spent.estimated(), answers, unpriced));
            text.push_str(&notice::info(&words, self.look));
        }
        let usages = self.session.thread.iter().filter_map(|stored| stored.entry.usage.as_ref());
        let unpriced = usages.fold(Usage::default(), |all, usage| all.and(usage));
        for words in notice::unpriced(&unpriced) {
            text.push_str(&notice::info(&format!("In this branch: {words}"), self.look));
        }
        self.print(&text)
    }

    /// Shows the sources of the last answer, or of every answer.
    pub(super) fn sources(&mut self, which: &str) -> Result<(), Failure> {
        let answers = self.session.thread.iter().filter(|stored| stored.entry.message.role == Role::Assistant);
        let first = match which {
            "" => answers.clone().count().saturating_sub(1),
            "all" => 0,
            other => return Err(Failure::new(format!("/sources takes `all` or nothing, not `{other}`"))),
        };
        let mut text = String::new();
        for stored in answers.skip(first) {
            let message = &stored.entry.message;
            let details = sources::details(&message.content, &message.sources, self.look);
            if which == "all" && !details.is_empty() {
                let model = message.model.as_deref().unwrap_or("unknown model");
                text.push_str(&notice::info(&format!("{}. {model}", stored.position), self.look));
            }
            text.push_str(&details);
        }
        if text.is_empty() {
            text = notice::info("There are no sources.", self.look);
        }
        self.print(&text)
    }

    /// Shows the tokens of each answer.
    pub(super) fn usage(&mut self) -> Result<(), Failure> {
        let mut text = String::new();
        for stored in &self.session.thread {
            let Some(usage) = &stored.entry.usage else { continue };
            let model = stored.entry.message.model.as_deref().unwrap_or("unknown model");
            let words = format!(
                "{}. {model} · {} in · {} cached · {} out · {} thinking",
                stored.position,
                notice::count(usage.input_tokens),
                notice::count(usage.cached_tokens()),
                notice::count(usage.output_tokens),
                notice::count(usage.thinking_tokens)
            );
            text.push_str(&notice::info(&words, self.look));
        }
        if text.is_empty() {
            text = notice::info("Nothing yet.", self.look);
        }
        self.print(&text)
    }

    /// Shows how long the conversation is, as counted by the provider.
    pub(super) async fn tokens(&mut self) -> Result<(), Failure> {
        let history = self.session.history();
        if history.is_empty() {
            return self.print(&notice::info("Nothing yet.", self.look));
        }
        let count = self.session.model()?.count_tokens(history).await?;
        let about = if count.exact { "" } else { "about " };
        let mut words = format!("{about}{}", notice::tokens(count.tokens));
        if let Some((_, window)) = self.session.context_used() {
            words.push_str(&format!(" of {}", notice::count(window)));
        }
        self.print(&notice::info(&words, self.look))
    }

    pub(super) fn status(&mut self) -> Result<(), Failure> {
        let session = &self.session;
        let mut lines = Vec::new();
        lines.push(match &session.choice {
            Some(choice) => format!("model: {}:{}", choice.name.provider, choice.short()),
            None => "model: none".to_owned(),
        });
        if let Some((used, window)) = session.context_used() {
            lines.push(format!("window: {} of {} tokens", notice::count(used), notice::count(window)));
        }
        lines.extend(session.cost_in_words().map(|cost| format!("cost: {cost}")));
        match &session.conversation {
            Some(conversation) => {
                let title = conversation.title.as_deref().unwrap_or("untitled");
                lines.push(format!("conversation: {title} ({})", crate::conversations::short(conversation.id)));
            }
            None => lines.push("conversation: there are no messages yet".to_owned()),
        }
        lines.push(format!("kept in: {}", session.store.place()));
        lines.push(format!("tools: {}", if session.tooling.is_on() { "on" } else { "off" }));
        if session.access.is_simulated() {
            lines.push("the built-in simulator answers".to_owned());
        }
        let text: String = lines.iter().map(|line| notice::info(line, self.look)).collect();
        self.print(&text)
    }

    /// Shows the last request as sent, and its answer, as one JSON document.
    pub(super) fn raw(&mut self) -> Result<(), Failure> {
        let Some(sent) = &self.session.sent else { return Err(Failure::new("nothing was sent yet")) };
        let preview = sent.model.preview(sent.messages.clone())?;
        let headers: Map<String, Value> =
            preview.headers.iter().map(|(name, value)| (name.clone(), redact::header(name, value).into())).collect();
        let document = json!({
            "request": preview.request,
            "wire": {
                "dialect": preview.dialect.to_string(),
                "method": preview.method,
                "url": redact::address(&preview.url),
                "headers": headers,
                "body": preview.body,
            },
            "losses": preview.losses,
            "answer": sent.answer,
        });
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| Failure::new(format!("cannot print it: {error}")))?;
        self.print(&format!("{}\n", crate::screen::clean(&text)))
    }

    /// Copies the last answer to the clipboard, through the terminal: this works over ssh too.
    pub(super) fn copy(&mut self, what: &str) -> Result<(), Failure> {
        let Some(answer) = self.session.last(Role::Assistant) else {
            return Err(Failure::new("there is no answer yet"));
        };
        let text = answer.entry.message.text();
        let text = match what {
            "" => text,
            "code" => {
                crate::screen::blocks(&text).pop().ok_or_else(|| Failure::new("the last answer has no code block"))?
            }
            other => return Err(Failure::new(format!("/copy takes `code` or nothing, not `{other}`"))),
        };
        self.print(&format!("\x1b]52;c;{}\x07", STANDARD.encode(&text)))?;
        let words =
            format!("{} characters copied, if your terminal allows it.", notice::count(text.chars().count() as u64));
        self.print(&notice::success(&words, &[], self.look))
    }

    pub(super) fn keys(&mut self) -> Result<(), Failure> {
        let mut text = String::new();
        for provider in self.session.access.registry().providers.iter().filter(|provider| provider.needs_key()) {
            if let Some(found) = self.session.client.key_of(&provider.id)? {
                let words = format!("{} · {} · {}", provider.id, found.key.hint(), found.from);
                text.push_str(&notice::info(&words, self.look));
            }
        }
        if self.session.access.is_simulated() {
            text = notice::info(&self.session.access.notice().unwrap_or_default(), self.look);
        }
        self.print(&text)
    }

    pub(super) fn config(&mut self) -> Result<(), Failure> {
        let places = Places::required()?;
        let words = format!("{} · `ikigai config edit` opens it", places.settings().display());
        self.print(&notice::info(&words, self.look))
    }
}

/// Describes the cost of answers, some of which may be estimates or have an unknown price.
fn cost(cost: Money, estimated: u64, answers: u64, unpriced: u64) -> String {
    let known = notice::about(cost, estimated > 0);
    match unpriced {
        0 => known,
        _ if unpriced == answers => "price unknown".to_owned(),
        _ => format!("{known}, and {} of unknown price", notice::several(unpriced, "answer")),
    }
}

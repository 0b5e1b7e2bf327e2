//! `/tools`, `/mcp`, `/attach`.

use ikigai::{Attach as _, Loss, Message, ProviderTool, Role};

use super::super::{Talk, say};
use crate::chat::tooling::PROVIDED;
use crate::exit::Failure;
use crate::flow::lost as lost_words;
use crate::screen::notice;

impl Talk {
    /// Shows the tools and what is allowed, or changes that.
    pub(super) async fn tools(&mut self, words: &[String]) -> Result<(), Failure> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] => {}
            ["on"] => self.session.tooling.turn(true),
            ["off"] => self.session.tooling.turn(false),
            [what @ ("allow" | "ask" | "never"), name] => {
                if !self.session.tooling.list().iter().any(|(known, _)| known == name) {
                    return Err(Failure::new(format!("there is no tool `{name}`")).hint("/tools lists them."));
                }
                match *what {
                    "allow" => self.session.tooling.always_tool(name)?,
                    "never" => self.session.tooling.never(name)?,
                    _ => self.session.tooling.ask_again(name)?,
                }
            }
            [name, to @ ("on" | "off")] => return self.provided_tool(name, to).await,
            _ => {
                let words = "/tools takes on, off, one of allow, ask and never with a tool's name, or a provider's tool with on or off";
                return Err(Failure::new(words));
            }
        }
        let mut text = String::new();
        if self.session.tooling.is_on() {
            self.session.tooling.borrow(self.servers.tools());
            for (name, words) in self.session.tooling.list() {
                text.push_str(&notice::info(&format!("{name} · {words}"), self.look));
            }
            let root = self.session.tooling.scope().root().display().to_string();
            text.push_str(&notice::info(&format!("Working folder: {root}"), self.look));
        } else {
            text.push_str(&notice::info("Tools are off. /tools on", self.look));
        }
        let provided = self.session.tooling.provided();
        let line = |tool: ProviderTool| match provided.contains(&tool) {
            true => format!("{tool} · on, run by the provider"),
            false => format!("{tool} · off; the provider can run it: /tools {tool} on"),
        };
        text.extend(PROVIDED.map(line).iter().map(|line| notice::info(line, self.look)));
        self.print(&text)
    }

    /// Turns one of the provider's own tools on or off in this conversation.
    async fn provided_tool(&mut self, name: &str, to: &str) -> Result<(), Failure> {
        let Some(tool) = PROVIDED.into_iter().find(|tool| tool.as_str() == name) else {
            let names = PROVIDED.map(ProviderTool::as_str).join(", ");
            return Err(Failure::new(format!("no provider runs `{name}`")).hint(format!("The tools are {names}.")));
        };
        let mut tools = self.session.tooling.provided().clone();
        let is_on = to == "on";
        if is_on {
            tools.insert(tool)
        } else {
            tools.remove(&tool)
        };
        self.session.provide(tools).await?;
        self.print(&notice::success(&format!("{tool} is {to} in this conversation."), &[], self.look))?;
        // As it would be sent; this needs no key.
        let question = Message::new(Role::User, "?");
        let Some(preview) = self.session.model().ok().and_then(|model| model.preview(vec![question]).ok()) else {
            return Ok(());
        };
        let lost: Vec<Loss> = preview.losses.into_iter().filter(|loss| is_on && loss.what == name).collect();
        for words in lost_words(&lost) {
            self.print(&notice::warning(&words, self.look))?;
        }
        Ok(())
    }

    /// Shows the MCP servers and their status.
    pub(super) fn mcp(&mut self) -> Result<(), Failure> {
        let servers = self.servers.list();
        if servers.is_empty() {
            let words =
                "No MCP servers are configured. In config.toml: [mcp.NAME] command = [\"program\", \"argument\"]";
            return self.print(&notice::info(words, self.look));
        }
        let mut text = String::new();
        for (name, state) in servers {
            text.push_str(&match state {
                Ok(words) => notice::info(&format!("{name} · {words}"), self.look),
                Err(words) => notice::error(&format!("{name}: {words}"), None, self.look),
            });
        }
        self.print(&text)
    }

    /// Attaches files to the next message.
    pub(super) async fn attach(&mut self, files: &[String]) -> Result<(), Failure> {
        if files.is_empty() {
            let count = self.session.attached.len();
            return self.print(&notice::info(&format!("{count} attached. /attach FILE adds one."), self.look));
        }
        let mut message = Message::new(Role::User, Vec::<ikigai::Block>::new());
        for file in files {
            let is_address = file.starts_with("https://") || file.starts_with("http://");
            message = match is_address {
                true => message.attach_url(file),
                false => message.attach_file(self.session.folder.join(file)).await?,
            };
        }
        let added = message.content.len();
        let pictures = files.iter().filter(|file| say::is_picture(&self.session.folder.join(file))).cloned();
        self.session.pictures.extend(pictures);
        self.session.attached.extend(message.content);
        self.print(&notice::success(&format!("{added} attached to the next message."), &[], self.look))
    }
}

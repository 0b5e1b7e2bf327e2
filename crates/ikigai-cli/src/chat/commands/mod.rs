//! The commands, which begin with a slash.

mod agents;
mod branches;
mod compare;
mod history;
mod model;
mod roles;
mod show;
mod tools;

use super::Talk;
use crate::exit::Failure;

/// A command: its name, its arguments, its purpose.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) takes: &'static str,
    pub(crate) help: &'static str,
}

const fn known(name: &'static str, aliases: &'static [&'static str], takes: &'static str, help: &'static str) -> Known {
    Known { name, aliases, takes, help }
}

/// All commands, most used first.
pub(crate) const COMMANDS: [Known; 38] = [
    known("help", &["?"], "[COMMAND]", "list the commands"),
    known(
        "model",
        &["m"],
        "[NAME[/LEVEL]] [--thinking-budget=N] [--default]",
        "choose another model for this conversation",
    ),
    known("thinking", &[], "show|hide|last", "show thinking in full, fold it, or show the last one"),
    known("retry", &["r"], "[MODEL …]", "ask again; the old answer stays as a branch; 2 to 4 models are compared"),
    known("new", &[], "", "start a new conversation"),
    known("resume", &[], "[ID]", "choose an earlier conversation"),
    known("search", &[], "WORDS", "find words in all conversations"),
    known("attach", &[], "FILE…", "send files with the next message, as @FILE does"),
    known("system", &[], "[TEXT|clear]", "the system prompt"),
    known("role", &[], "[NAME]", "use a role from the settings: its prompt, model and tools"),
    known("template", &["t"], "[NAME [KEY=VALUE …] [TEXT]]", "ask a question from a template in the settings"),
    known("undo", &[], "", "remove the last question and its answer"),
    known("edit", &["e"], "", "edit an earlier question and ask it in a new branch"),
    known("fork", &[], "[--model MODEL/LEVEL] [\"prompt\"]", "start a branch; with a prompt, a sub-agent"),
    known("branch", &["branches"], "[NUMBER]", "choose another branch of this conversation"),
    known("agents", &[], "[show|bring|stop NUMBER]", "sub-agents and their answers"),
    known("compact", &[], "", "replace the conversation with a summary"),
    known(
        "tools",
        &[],
        "[on|off | allow|ask|never NAME | NAME on|off]",
        "tools and what they may do; NAME on|off for those that the provider runs",
    ),
    known("sources", &[], "[all]", "the sources of the last answer, or all answers"),
    known("mcp", &[], "", "MCP servers and their status"),
    known("cost", &[], "", "the cost of this conversation, by model"),
    known("usage", &[], "", "the tokens of each answer"),
    known("tokens", &[], "", "the length of this conversation, counted by the provider"),
    known("status", &[], "", "the model, the conversation and where it is kept"),
    known("history", &[], "", "list all messages of this conversation"),
    known("title", &[], "TEXT", "rename this conversation"),
    known("export", &[], "[FILE.md|FILE.jsonl]", "write the conversation to a file"),
    known("copy", &[], "[code]", "copy the last answer or its last code block"),
    known("raw", &[], "", "the last request as it was sent, and the answer, as JSON"),
    known("clear", &[], "", "clear the screen and start a new conversation"),
    known("save", &[], "", "where the conversation is kept"),
    known("delete", &[], "[yes]", "delete this conversation for good"),
    known("keys", &[], "", "keys and where they come from"),
    known("config", &[], "", "where the settings are"),
    known("incognito", &[], "", "start a conversation that is not saved"),
    known("shell", &[], "COMMAND", "run a command; !COMMAND does the same"),
    known("models", &[], "[WORD]", "search models by name"),
    known("quit", &["exit", "q"], "", "leave"),
];

/// The commands as grouped in the help.
pub(crate) const GROUPS: [(&str, &[&str]); 5] = [
    ("Model", &["model", "thinking", "role", "system", "models"]),
    ("Answer", &["retry", "edit", "undo", "template", "sources", "copy", "fork", "agents", "compact"]),
    (
        "Conversation",
        &["new", "resume", "search", "branch", "history", "title", "export", "delete", "clear", "incognito"],
    ),
    ("Files and tools", &["attach", "shell", "tools", "mcp"]),
    ("More", &["help", "status", "save", "cost", "usage", "tokens", "raw", "keys", "config", "quit"]),
];

/// What follows a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another line is read.
    Prompt,
    /// The model is asked.
    Ask,
    /// The chat ends.
    Leave,
}

/// Whether the line begins with a file's path and not a command: `/etc/hosts is …` is a message.
pub(crate) fn is_path(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or_default();
    word.contains('/') && find(word.split('/').next().unwrap_or_default()).is_none()
}

fn find(name: &str) -> Option<&'static Known> {
    COMMANDS.iter().find(|known| known.name == name || known.aliases.contains(&name))
}

/// Splits a command into words. Quotes keep words together.
fn words(text: &str) -> Result<Vec<String>, Failure> {
    shlex::split(text)
        .ok_or_else(|| Failure::new("unclosed quote").hint("Close it, or escape it with a backslash: \\\" or \\'"))
}

impl Talk {
    /// Runs a command. `line` comes without its slash.
    pub(crate) async fn command(&mut self, line: &str) -> Result<Next, Failure> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let Some(known) = find(name) else { return Err(unknown(name)) };
        match known.name {
            "help" => self.help(rest)?,
            "model" => self.model(&words(rest)?).await?,
            "models" => self.models(rest)?,
            "thinking" => self.thinking(rest)?,
            "retry" => return self.retry(&words(rest)?).await,
            "new" => self.fresh()?,
            "clear" => self.clear()?,
            "incognito" => self.incognito().await?,
            "resume" => self.resume(rest).await?,
            "search" => self.search(rest).await?,
            "history" => self.messages()?,
            "attach" => self.attach(&words(rest)?).await?,
            "system" => self.system(rest).await?,
            "role" => self.role(rest).await?,
            "template" => return self.template(&words(rest)?).await,
            "undo" => self.undo().await?,
            "edit" => self.edit().await?,
            "fork" => self.fork(&words(rest)?).await?,
            "branch" => self.branch(rest).await?,
            "agents" => self.agents(&words(rest)?)?,
            "compact" => self.compact().await?,
            "tools" => self.tools(&words(rest)?).await?,
            "sources" => self.sources(rest)?,
            "mcp" => self.mcp()?,
            "cost" => self.cost().await?,
            "usage" => self.usage()?,
            "tokens" => self.tokens().await?,
            "status" | "save" => self.status()?,
            "title" => self.title(rest).await?,
            "export" => self.export(&words(rest)?).await?,
            "copy" => self.copy(rest)?,
            "raw" => self.raw()?,
            "delete" => self.delete(rest).await?,
            "keys" => self.keys()?,
            "config" => self.config()?,
            "shell" => return self.shell(rest).await,
            "quit" => return Ok(Next::Leave),
            _ => return Err(unknown(name)),
        }
        Ok(Next::Prompt)
    }
}

fn unknown(name: &str) -> Failure {
    let names = COMMANDS.iter().flat_map(|known| std::iter::once(known.name).chain(known.aliases.iter().copied()));
    let nearest = ikigai_core::near::nearest(name, names, 1).first().map(|name| format!("Did you mean /{name}? "));
    Failure::new(format!("unknown command /{name}")).hint(format!(
        "{}/help lists the commands. To send it to the model, start the line with a space.",
        nearest.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn an_unknown_command_suggests_the_nearest() {
        let failure = unknown("modle");
        assert_eq!(failure.what, "unknown command /modle");
        assert!(failure.hint.is_some_and(|hint| hint.starts_with("Did you mean /model?")));
    }

    #[test]
    fn a_path_is_no_command() {
        assert!(is_path("etc/hosts is odd"));
        assert!(!is_path("model openai:gpt-5.4/high"));
        assert!(!is_path("model/x"), "a misspelt command is told");
    }

    #[test]
    fn quotes_hold_words_together_and_must_be_closed() {
        assert_eq!(words("--model o3/high \"two words\"").unwrap(), ["--model", "o3/high", "two words"]);
        assert!(words("\"open").is_err());
    }

    #[test]
    fn help_has_every_command_once() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut all: Vec<&str> = COMMANDS.iter().map(|known| known.name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn no_name_means_two_commands() {
        let mut names: Vec<&str> = COMMANDS
            .iter()
            .flat_map(|known| std::iter::once(known.name).chain(known.aliases.iter().copied()))
            .collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}

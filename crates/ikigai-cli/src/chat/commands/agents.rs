//! `/agents`: the sub-agents and their results.

use ikigai::Block;

use super::super::Talk;
use crate::exit::Failure;
use crate::screen::{self, notice};

impl Talk {
    pub(super) fn agents(&mut self, words: &[String]) -> Result<(), Failure> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] => self.list_agents(),
            ["show", number] => {
                let status = self.agents.get(read(number)?)?.status();
                let text = if status.text.trim().is_empty() { "Nothing yet." } else { &status.text };
                self.print(&screen::markdown(text, self.look))
            }
            ["stop", number] => {
                self.agents.get(read(number)?)?.stop();
                self.print(&notice::success(&format!("Agent {number} stopped."), &[], self.look))
            }
            ["bring", number] => {
                let agent = self.agents.get(read(number)?)?;
                let status = agent.status();
                match status.ended {
                    None => return Err(Failure::new("the agent is still running").hint("/agents shows its progress.")),
                    Some(Err(words)) if status.text.trim().is_empty() => return Err(Failure::new(words)),
                    Some(_) => {}
                }
                let said = format!(
                    "A sub-agent ({}) was asked: {}\n\nIt answered:\n\n{}",
                    agent.choice.short(),
                    agent.prompt,
                    status.text
                );
                self.session.attached.push(Block::text(said));
                self.print(&notice::success("Its answer goes with your next message.", &[], self.look))
            }
            _ => Err(Failure::new("/agents takes show, bring or stop with a number")),
        }
    }

    fn list_agents(&self) -> Result<(), Failure> {
        let mut text = String::new();
        for (number, agent) in self.agents.iter() {
            text.push_str(&notice::info(&format!("{number}. {}", agent.line()), self.look));
        }
        if text.is_empty() {
            text = notice::info("There are no sub-agents. /fork \"prompt\" starts one.", self.look);
        }
        self.print(&text)
    }
}

fn read(number: &str) -> Result<usize, Failure> {
    number.parse().map_err(|_| Failure::new(format!("`{number}` is not a number")).hint("/agents lists them."))
}

//! `!command`: runs a command of the user's, and shows its output as it arrives.

use std::time::Duration;

use ikigai::Block;
use tokio::sync::mpsc;

use super::commands::Next;
use super::keys::{Key, Keys};
use super::turn::FRAME;
use super::{Talk, View, size};
use crate::exit::Failure;
use crate::screen::{clean, notice, untabbed};
use crate::tools::Shell;

/// How long such a command may take.
const LIMIT: Duration = Duration::from_secs(600);

impl Talk {
    /// Runs a command, and includes its output in the next message to the model.
    pub(crate) async fn shell(&mut self, command: &str) -> Result<Next, Failure> {
        let (sender, mut arriving) = mpsc::unbounded_channel();
        let shell = Shell::new(self.session.tooling.scope().root()).timeout(LIMIT).with_all_variables();
        let shell = shell.watched(move |text| drop(sender.send(text.to_owned())));
        let mut view = View::new(self.look, size(), self.region, self.session.show_thinking);
        view.busy(&format!("running {}", command.split_whitespace().next().unwrap_or_default()))?;
        let mut keys = Keys::open(self.region)?;
        let mut typed = Vec::new();
        let mut lines = Lines::default();
        let mut frames = tokio::time::interval(FRAME);
        let interrupt = tokio::signal::ctrl_c();
        let running = shell.run(command);
        tokio::pin!(interrupt, running);
        let output = loop {
            tokio::select! {
                biased;
                _ = &mut interrupt => break None,
                key = keys.next() => match key {
                    Key::Stop => break None,
                    Key::Resized(size) => view.resize(size)?,
                    key => typed.push(key),
                },
                Some(text) = arriving.recv() => view.print(&lines.push(&text))?,
                output = &mut running => break Some(output),
                _ = frames.tick() => view.draw()?,
            }
        };
        while let Ok(text) = arriving.try_recv() {
            view.print(&lines.push(&text))?;
        }
        view.print(&lines.end())?;
        view.end()?;
        typed.extend(keys.close());
        self.typed_meanwhile(typed);
        let Some(output) = output else { return Err(Failure::new("stopped")) };
        let output = output.map_err(|error| Failure::new(format!("cannot run it: {error}")))?;
        if !output.ended.is_ok() {
            self.print(&notice::warning(&output.ended.to_string(), self.look))?;
        }
        let said = format!("I ran `{command}`:\n\n```\n{}\n```", output.for_model());
        self.session.attached.push(Block::text(said));
        self.print(&notice::info("The output goes with your next message.", self.look))?;
        Ok(Next::Prompt)
    }
}

/// Assembles the lines of a command's output as they are shown: with their blanks and columns, but without control
/// characters that a terminal would obey.
#[derive(Debug, Default)]
struct Lines(String);

impl Lines {
    /// Returns the lines that are now complete.
    fn push(&mut self, text: &str) -> String {
        self.0.push_str(text);
        let whole = self.0.rfind('\n').map_or(0, |end| end + 1);
        let rest = self.0.split_off(whole);
        let lines = std::mem::replace(&mut self.0, rest);
        lines.lines().map(shown).collect()
    }

    /// Returns the rest without a line break.
    fn end(&mut self) -> String {
        if self.0.is_empty() { String::new() } else { shown(&std::mem::take(&mut self.0)) }
    }
}

/// Returns a line as it is shown, with a line break.
fn shown(line: &str) -> String {
    let plain = anstream::adapter::strip_str(line).to_string();
    // If a line was overwritten, only the last version stays.
    let last = plain.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default();
    format!("{}\n", untabbed(&clean(last), 8))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn output_keeps_its_blanks_and_columns() {
        let mut lines = Lines::default();
        let shown = [
            lines.push("  two\n\ta"),
            lines.push("\tb\n1%\r20%\r100%\r\n\n\x1b[31mred\x1b[0m \x07"),
            lines.end(),
            lines.end(),
        ];
        assert_eq!(shown, ["  two\n", "        a       b\n100%\n\n", "red \n", ""]);
    }
}

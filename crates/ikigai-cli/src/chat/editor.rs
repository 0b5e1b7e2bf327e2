//! The line editor.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;

use reedline::{
    Color, ColumnarMenu, EditCommand, EditMode, Emacs, ExternalPrinter, FileBackedHistory, HistoryItem, KeyCode,
    KeyModifiers, Keybindings, MenuBuilder as _, Prompt, PromptEditMode, PromptHistorySearch,
    PromptHistorySearchStatus, Reedline, ReedlineEvent, ReedlineMenu, Signal, ValidationResult, Validator, Vi,
    default_emacs_keybindings, default_vi_insert_keybindings, default_vi_normal_keybindings,
    default_vi_visual_keybindings,
};

use super::complete::Completion;
use super::paste::{DROP, ERASE, ERASE_WORD, Pasted, Pasting, UNFOLD};
use crate::exit::Failure;
use crate::screen::{Look, Region, clean, one_line, shorten};
use crate::settings::EditKeys;

/// How many typed lines are remembered.
pub(crate) const REMEMBERED: u32 = 2000;
const MENU: &str = "completions";
/// What the line editor returns for Ctrl-C and Ctrl-Z.
const INTERRUPT: &str = "\u{3}";
const SUSPEND: &str = "\u{1a}";
/// And for Ctrl-V.
const PICTURE: &str = "\u{16}";
/// Between two of these, there may be several lines.
const FENCE: &str = "\"\"\"";

/// The result of editing a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line, or several.
    Line(String),
    /// A key that runs a command.
    Shortcut(String),
    /// Ctrl-C on an empty line.
    Interrupt,
    /// Ctrl-C on an unfinished line, which is removed from the prompt.
    Cleared,
    /// Tab where a model's name is expected: the line so far.
    Pick(String),
    /// Ctrl-Z. An unfinished line is kept.
    Suspend,
    /// Ctrl-V. An unfinished line is kept.
    Picture,
    /// Ctrl-D on an empty line.
    End,
}

/// The line editor.
pub(crate) struct Editor {
    reedline: Reedline,
    printer: SyncSender<String>,
    look: Look,
    region: Region,
    /// Whether the text on the line was only meant for choosing, and must not stay there.
    picked: Cell<bool>,
    /// Long texts that were pasted.
    pasted: Pasted,
    /// The file for the user's own editor. It is removed along with this.
    draft: Option<Draft>,
}

impl Editor {
    /// Creates an editor that remembers these lines, oldest first.
    pub(crate) fn new(
        look: Look,
        region: Region,
        keys: EditKeys,
        remembered: Vec<String>,
        completion: Completion,
        pick: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let pasted = Pasted::default();
        let folder = completion.folder().to_owned();
        let keys = Pasting { keys: edit_mode(keys), pasted: pasted.clone(), folder };
        let history = FileBackedHistory::new(REMEMBERED as usize).map_err(failed)?;
        let printer = ExternalPrinter::default();
        let sender = printer.sender();
        let menu = ColumnarMenu::default().with_name(MENU).with_columns(1).with_column_padding(2);
        let mut reedline = Reedline::create()
            .with_history(Box::new(history))
            .with_history_exclusion_prefix(Some(" ".to_owned()))
            .with_completer(Box::new(completion))
            .with_break_signal(pick)
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_validator(Box::new(Several))
            .with_ansi_colors(look.colour)
            .with_edit_mode(Box::new(keys))
            // Once a line is sent, only the line itself stays on the screen.
            .with_transient_prompt(Box::new(Line { status: String::new(), look }))
            .use_bracketed_paste(true)
            .with_external_printer(printer);
        let mut draft = None;
        if let Some(mut command) = buffer_editor() {
            let kept = Draft::new()?;
            command.arg(&kept.file);
            reedline = reedline.with_buffer_editor(command, kept.file.clone());
            draft = Some(kept);
        }
        let mut editor = Editor { reedline, printer: sender, look, region, picked: Cell::new(false), pasted, draft };
        editor.remember(remembered)?;
        Ok(editor)
    }

    /// Remembers these lines and no others.
    pub(crate) fn remember(&mut self, lines: Vec<String>) -> Result<(), Failure> {
        let history = self.reedline.history_mut();
        history.clear().map_err(failed)?;
        for line in lines {
            history.save(HistoryItem::from_command_line(line)).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns a sender that prints above the line while it is being typed.
    pub(crate) fn printer(&self) -> SyncSender<String> {
        self.printer.clone()
    }

    /// Reads a line. This blocks.
    pub(crate) fn read(&mut self, status: &str, prefill: Option<&str>) -> Result<Typed, Failure> {
        if self.region == Region::Plain {
            return self.plain_line(status, prefill);
        }
        if let Some(text) = prefill.or(self.picked.take().then_some("")) {
            let text = self.pasted.folded(text);
            self.reedline.run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(text)]);
        }
        self.pasted.begin(self.reedline.current_buffer_contents());
        let prompt = Line { status: shorten(status, self.look.width, self.look), look: self.look };
        let line = loop {
            match self.reedline.read_line(&prompt) {
                Ok(Signal::HostCommand(line)) if self.pasting(&line) => {}
                line => break line,
            }
        };
        if let Some(draft) = &self.draft {
            draft.clear();
        }
        match line {
            Ok(Signal::Success(line)) => Ok(Typed::Line(self.pasted.unfolded(&unfenced(&line)))),
            Ok(Signal::HostCommand(line)) if line == INTERRUPT => self.interrupt(),
            Ok(Signal::HostCommand(line)) if line == SUSPEND => Ok(Typed::Suspend),
            Ok(Signal::HostCommand(line)) if line == PICTURE => Ok(Typed::Picture),
            Ok(Signal::HostCommand(line)) => Ok(Typed::Shortcut(line)),
            Ok(Signal::ExternalBreak(line)) => {
                self.picked.set(true);
                Ok(Typed::Pick(line))
            }
            Ok(Signal::CtrlC) => Ok(Typed::Interrupt),
            Ok(Signal::CtrlD) => Ok(Typed::End),
            // Signals that do not exist yet.
            Ok(_) => Ok(Typed::Line(String::new())),
            Err(error) => Err(Failure::new(format!("cannot read the line: {error}"))),
        }
    }
}

impl Editor {
    /// Handles pasted texts. Returns `false` for anything else.
    fn pasting(&mut self, line: &str) -> bool {
        let text = self.reedline.current_buffer_contents().to_owned();
        let cursor = self.reedline.current_insertion_point();
        let (before, after) = text.split_at_checked(cursor).unwrap_or((&text, ""));
        let edits = match line {
            UNFOLD => {
                let text = self.pasted.unfolded(&text);
                self.pasted.begin("");
                vec![EditCommand::Clear, EditCommand::InsertString(text)]
            }
            ERASE | ERASE_WORD => match self.pasted.ends_with_fold(before) {
                // A placeholder is deleted as a whole.
                Some(length) => {
                    let position = before.len().saturating_sub(length);
                    let rest = format!("{}{after}", before.get(..position).unwrap_or_default());
                    vec![
                        EditCommand::Clear,
                        EditCommand::InsertString(rest),
                        EditCommand::MoveToPosition { position, select: false },
                    ]
                }
                None if line == ERASE => vec![EditCommand::Backspace],
                None => vec![EditCommand::CutWordLeft],
            },
            _ => match line.strip_prefix(DROP).and_then(|line| line.split_once(DROP)) {
                // For a command, the path itself is meant.
                Some((_, path)) if text.trim_start().starts_with(['!', '/']) => {
                    vec![EditCommand::InsertString(path.to_owned())]
                }
                Some((mentions, _)) => {
                    let gap = if before.is_empty() || before.ends_with(char::is_whitespace) { "" } else { " " };
                    vec![EditCommand::InsertString(format!("{gap}{mentions} "))]
                }
                None => return false,
            },
        };
        self.reedline.run_edit_commands(&edits);
        true
    }

    /// Handles Ctrl-C: an unfinished line is set aside, and Up brings it back.
    fn interrupt(&mut self) -> Result<Typed, Failure> {
        let draft = self.reedline.current_buffer_contents().to_owned();
        if draft.trim().is_empty() {
            return Ok(Typed::Interrupt);
        }
        self.reedline.run_edit_commands(&[EditCommand::Clear]);
        self.reedline.history_mut().save(HistoryItem::from_command_line(draft)).map_err(failed)?;
        Ok(Typed::Cleared)
    }

    /// Reads a line on a print-only terminal, with only the terminal's own editing.
    fn plain_line(&self, status: &str, prefill: Option<&str>) -> Result<Typed, Failure> {
        let failed = |error: std::io::Error| Failure::new(format!("cannot read the line: {error}"));
        let draft = prefill.map(|text| format!("(not sent: {})\n", one_line(text, 200))).unwrap_or_default();
        let mut stdout = std::io::stdout().lock();
        write!(stdout, "{draft}[{}] > ", clean(status)).and_then(|()| stdout.flush()).map_err(failed)?;
        drop(stdout);
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line).map_err(failed)? {
            0 => Ok(Typed::End),
            _ => Ok(Typed::Line(line.trim_end_matches(['\n', '\r']).to_owned())),
        }
    }
}

impl std::fmt::Debug for Editor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Editor").finish_non_exhaustive()
    }
}

fn failed(error: reedline::ReedlineError) -> Failure {
    Failure::new(format!("cannot start the line editor: {error}"))
}

fn edit_mode(keys: EditKeys) -> Box<dyn EditMode> {
    match keys {
        EditKeys::Emacs => {
            let mut bindings = default_emacs_keybindings();
            bind(&mut bindings);
            Box::new(Emacs::new(bindings))
        }
        EditKeys::Vi => {
            let mut insert = default_vi_insert_keybindings();
            bind(&mut insert);
            let mut normal = default_vi_normal_keybindings();
            bind_signals(&mut normal);
            Box::new(Vi::new(insert, normal, default_vi_visual_keybindings()))
        }
    }
}

fn bind_signals(bindings: &mut Keybindings) {
    let host = |line: &str| ReedlineEvent::ExecuteHostCommand(line.to_owned());
    bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('c'), host(INTERRUPT));
    bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('z'), host(SUSPEND));
    bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('v'), host(PICTURE));
}

fn bind(bindings: &mut Keybindings) {
    bind_signals(bindings);
    let newline = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    bindings.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline());
    bindings.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline());
    bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), newline());
    let host = |line: &str| ReedlineEvent::ExecuteHostCommand(line.to_owned());
    bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('t'), host("/thinking last"));
    bindings.add_binding(KeyModifiers::CONTROL, KeyCode::Char('g'), ReedlineEvent::OpenEditor);
    bindings.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext]),
    );
    bindings.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
}

/// Returns the command of the user's own editor.
fn buffer_editor() -> Option<Command> {
    let wanted = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    let words = wanted.into_iter().find(|value| !value.trim().is_empty())?;
    let mut words = shlex::split(&words)?.into_iter();
    let mut command = Command::new(words.next()?);
    command.args(words);
    Some(command)
}

/// A line that is written in the user's own editor: a file that nobody else can read or guess, in its own folder. Both
/// are removed along with this.
struct Draft {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

impl Draft {
    fn new() -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::new(format!("cannot make a file for your editor: {error}"));
        let mut builder = tempfile::Builder::new();
        builder.prefix("ikigai-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir().map_err(failed)?;
        // Files created like this are accessible only to their owner.
        let file =
            tempfile::Builder::new().prefix("prompt-").suffix(".md").tempfile_in(folder.path()).map_err(failed)?;
        let (_, file) = file.keep().map_err(|error| failed(error.error))?;
        Ok(Draft { _folder: folder, file })
    }

    /// Empties the file: its text is on the line by now.
    fn clear(&self) {
        let _ = std::fs::OpenOptions::new().write(true).truncate(true).open(&self.file);
    }
}

/// Removes what only marked a text as having several lines.
fn unfenced(line: &str) -> String {
    let trimmed = line.trim();
    let inner = trimmed.strip_prefix(FENCE).and_then(|rest| rest.strip_suffix(FENCE));
    match inner {
        Some(inner) => inner.trim_matches('\n').to_owned(),
        None => line.replace("\\\n", "\n"),
    }
}

/// Decides whether the line is complete or more lines follow.
struct Several;

impl Validator for Several {
    fn validate(&self, line: &str) -> ValidationResult {
        let fenced = line.trim_start().starts_with(FENCE) && line.matches(FENCE).count() % 2 == 1;
        if fenced || line.ends_with('\\') { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}

/// The text above and before the line.
struct Line {
    status: String,
    look: Look,
}

impl Prompt for Line {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        // In its own row, where it cannot collide with typed text.
        if self.status.is_empty() { Cow::Borrowed("") } else { Cow::Owned(format!("{}\n", self.status)) }
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(if self.look.unicode { "› " } else { "> " })
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let failing = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "nothing found: ",
        };
        Cow::Owned(format!("({failing}search: {}) ", search.term))
    }

    fn get_prompt_color(&self) -> Color {
        Color::DarkGray
    }

    fn get_indicator_color(&self) -> Color {
        Color::Cyan
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::DarkGray
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_draft_is_for_its_owner_alone_and_goes() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (draft, other) = (Draft::new().unwrap(), Draft::new().unwrap());
        let (file, folder) = (draft.file.clone(), draft.file.parent().unwrap().to_owned());
        assert_ne!(draft.file, other.file);
        // As the line editor does.
        std::fs::write(&file, "secret").unwrap();
        assert_eq!((mode(&file), mode(&folder)), (0o600, 0o700));
        draft.clear();
        assert_eq!(std::fs::read(&file).unwrap(), b"");
        drop(draft);
        assert!(!folder.exists());
    }

    #[test]
    fn a_fence_or_a_backslash_asks_for_more() {
        let whole = |line: &str| matches!(Several.validate(line), ValidationResult::Complete);
        assert!(whole("hello"));
        assert!(whole("say \"\"\" alone"));
        assert!(!whole("\"\"\""));
        assert!(!whole("\"\"\"one\ntwo"));
        assert!(whole("\"\"\"one\ntwo\"\"\""));
        assert!(!whole("one \\"));
        assert!(whole("one \\\ntwo"));
    }

    #[test]
    fn what_asked_for_more_is_not_part_of_the_text() {
        assert_eq!(unfenced("hello"), "hello");
        assert_eq!(unfenced("\"\"\"\none\n\ntwo\n\"\"\""), "one\n\ntwo");
        assert_eq!(unfenced("one \\\ntwo"), "one \ntwo");
    }
}

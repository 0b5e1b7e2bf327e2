//! `/retry MODEL MODEL …`: asks several models the last question again, at the same time.

use std::time::{Duration, Instant};

use ikigai::{Callable, Message, Role};
use ikigai_store::{ConversationId, Details, Point};

use super::super::keys::{Key, Keys, Typing};
use super::super::meter::Meter;
use super::super::picker::{self, Picker};
use super::super::session::Choice;
use super::super::{Talk, size};
use crate::compare::{self, Board, Entrant, Race, Ran};
use crate::exit::Failure;
use crate::flow;
use crate::screen::{Region, notice};

/// The shortest time between two frames on the screen.
const FRAME: Duration = Duration::from_millis(33);

/// An answer with which the conversation can continue.
struct Answer {
    branch: ConversationId,
    choice: Choice,
    ran: Ran,
}

impl Talk {
    /// Asks each of these models the last question again, in its own branch; then the user chooses an answer.
    pub(super) async fn compare(&mut self, names: &[String]) -> Result<(), Failure> {
        compare::check_count(names.len())?;
        let Some(question) = self.session.last(Role::User).cloned() else {
            return Err(Failure::new("there is no question yet"));
        };
        // Before anything changes: a name may be unknown, or its key missing.
        let mut choices = Vec::with_capacity(names.len());
        for name in names {
            let choice = self.session.parse(name)?;
            self.session.access.check(&choice.name)?;
            choices.push(choice);
        }
        self.session.tooling.borrow(self.servers.tools());
        if self.session.tooling.is_on() {
            self.print(&notice::info("Tools are off while models are compared.", self.look))?;
        }
        let history = self.asked(question.position);
        let tools = compare::tools_for(&history, self.session.tooling.callables());
        self.session.check_cost_of(&choices, &history, &tools)?;
        let here = self.session.conversation().await?;
        let mut entrants = Vec::with_capacity(choices.len());
        for choice in &choices {
            let details = Details::default().model(choice.kept());
            let branch = self.session.store.fork(here, Point::After(question.id), details).await?;
            entrants.push(Entrant::new(&self.session, choice.clone(), branch.id, Ok)?);
        }
        let branches: Vec<ConversationId> = entrants.iter().map(|entrant| entrant.conversation).collect();
        let ended = self.race(entrants, &history, &tools).await?;
        let mut answers = Vec::new();
        for ((choice, branch), ran) in choices.into_iter().zip(branches).zip(ended) {
            match ran.filter(Ran::has_answer) {
                Some(ran) => answers.push(Answer { branch, choice, ran }),
                // A branch without an answer contains nothing new.
                None => self.session.store.delete(branch).await?,
            }
        }
        self.choose_answer(answers).await
    }

    /// Returns the messages up to a question, as they are sent.
    fn asked(&self, question: u64) -> Vec<Message> {
        let asked = self.session.thread.iter().take_while(|stored| stored.position <= question);
        self.session.sendable(&asked.cloned().collect::<Vec<_>>())
    }

    /// Draws the answers as they arrive. Returns how each ended.
    async fn race(
        &mut self,
        entrants: Vec<Entrant>,
        history: &[Message],
        tools: &[Callable],
    ) -> Result<Vec<Option<Ran>>, Failure> {
        let meters: Vec<Meter> =
            entrants.iter().map(|entrant| self.session.meter_of(&entrant.choice, history, tools, "Esc")).collect();
        let mut race = Race::begin(entrants, history, &meters, &self.session.store, &self.session.access, tools);
        let mut board = Board::new(self.look, size(), self.region, meters, "Esc");
        let mut keys = Keys::open(self.region)?;
        let began = Instant::now();
        let mut pressed = Vec::new();
        let mut frames = tokio::time::interval(FRAME);
        frames.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // In case the terminal turns Ctrl-C into a signal.
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        let mut stopped = false;
        loop {
            tokio::select! {
                biased;
                _ = &mut interrupt, if !stopped => {
                    stopped = true;
                    race.stop();
                }
                key = keys.next() => match key {
                    Key::Stop => {
                        stopped = true;
                        race.stop();
                    }
                    Key::Suspend => {
                        keys.suspend();
                        board.woken()?;
                    }
                    Key::Resized(size) => {
                        self.look = self.look.with_width(size.columns);
                        board.resize(size)?;
                    }
                    key => pressed.push(key),
                },
                news = race.next() => match news {
                    Some((place, news)) => board.news(place, news),
                    None => break,
                },
                _ = frames.tick() => board.draw()?,
            }
        }
        board.finish()?;
        self.ring(began.elapsed())?;
        pressed.extend(keys.close());
        let Typing { lines, typed } = Typing::of(pressed);
        self.queued.extend(lines);
        self.session.prefill = (!typed.is_empty()).then_some(typed);
        Ok(board.into_ended())
    }

    /// Lets the user choose the answer with which the conversation continues.
    async fn choose_answer(&mut self, answers: Vec<Answer>) -> Result<(), Failure> {
        for answer in &answers {
            for words in flow::lost(&answer.ran.response.warnings) {
                let words = format!("{}: {words}", answer.choice.short());
                self.print(&notice::warning(&words, self.look))?;
            }
        }
        if answers.is_empty() {
            return self.print(&notice::error(
                "no model answered",
                Some("The conversation has not changed."),
                self.look,
            ));
        }
        if self.region == Region::Plain {
            let words = "Each answer is in a branch: /branch lists them, /branch NUMBER continues with one.";
            return self.print(&notice::info(words, self.look));
        }
        let picker = Picker::new("Continue with", answers.iter().map(row).collect(), "");
        let picked = self.pick(picker, |_, _, _| Vec::new()).await?;
        let words = match picked.and_then(|picked| answers.into_iter().nth(picked.place)) {
            Some(answer) => {
                self.session.open(answer.branch).await?;
                self.session.remember_model().await?;
                format!("Continuing with {}. The other answers are in branches: /branch.", answer.choice.short())
            }
            None => "Kept the conversation as it was. The new answers are in branches: /branch.".to_owned(),
        };
        self.print(&notice::success(&words, &[], self.look))?;
        self.print("\n")
    }
}

/// Returns the list row of an answer.
fn row(answer: &Answer) -> picker::Choice {
    let text = answer.ran.response.text();
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let columns = vec![answer.choice.short(), answer.ran.summary(), line.to_owned()];
    picker::Choice { words: format!("{} {text}", answer.choice.short()), columns, is_dim: false }
}

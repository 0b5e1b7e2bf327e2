//! `ask -m A -m B`: several models answer the same question at the same time.

use ikigai::{FinishReason, Message};
use ikigai_store::{ConversationId, Details, Point};
use serde_json::{Value, json};

use super::{Ask, Format, emit, on_terminal, options, prompt, verdict};
use crate::access::SIMULATOR;
use crate::chat::{Choice, Meter, Session, size};
use crate::compare::{self, Board, End, Entrant, News, Race, Ran};
use crate::conversations;
use crate::exit::{Exit, Failure};
use crate::flow;
use crate::output::{HEADING, Out};
use crate::screen::{Look, Region, clean, sources};

/// The shortest time between two frames on the screen.
const FRAME: std::time::Duration = std::time::Duration::from_millis(33);

/// Refuses options that do not work with several models.
pub(super) fn check(ask: &Ask) -> Result<(), Failure> {
    if ask.model.len() < 2 {
        return Ok(());
    }
    compare::check_count(ask.model.len())?;
    let refused = [
        (ask.schema.is_some(), "--schema"),
        (ask.tools, "--tools"),
        (ask.search, "--search"),
        (ask.code, "--code"),
        (ask.extract, "--extract"),
        (ask.dry_run, "--dry-run"),
        (ask.format == Some(Format::Jsonl), "--format jsonl"),
    ];
    match refused.into_iter().find(|(given, _)| *given) {
        Some((_, option)) => {
            Err(Failure::usage(format!("{option} works with one model, not {}", ask.model.len())).hint("Give -m once."))
        }
        None => Ok(()),
    }
}

/// Asks all of them, and prints their answers in the order of the models.
pub(super) async fn run(ask: &Ask, message: Message, session: &mut Session, out: &mut Out) -> Result<Exit, Failure> {
    let mut choices = Vec::with_capacity(ask.model.len());
    for name in &ask.model {
        let choice = session.parse(name)?;
        session.access.check(&choice.name)?;
        let model = session.client.model_named(choice.name.clone());
        prompt::readable(&message, model.facts(), session.access.registry())?;
        choices.push(choice);
    }
    let history = session.history_with(message.clone());
    session.check_cost_of(&choices, &history, &[])?;
    session.say(message).await?;
    let entrants = entrants(ask, &choices, session).await?;
    let mut kept: Vec<Option<ConversationId>> = entrants.iter().map(|entrant| Some(entrant.conversation)).collect();
    let meters: Vec<Meter> = choices.iter().map(|choice| session.meter_of(choice, &history, &[], "Ctrl-C")).collect();
    let race = Race::begin(entrants, &history, &meters, &session.store, &session.access, &[]);
    let format = emit::format(ask);
    let draws = format == Format::Markdown && on_terminal() && !ask.no_stream;
    let mut printer = Printer { ask, out, format, draws, choices: &choices, session, exit: Exit::Ok };
    let ended = match draws {
        true => drawn(race, meters).await?,
        false => printer.followed(race).await?,
    };
    // A branch without an answer contains nothing new.
    for (branch, ran) in kept.iter_mut().zip(&ended).skip(1) {
        if !ran.as_ref().is_some_and(Ran::has_answer)
            && let Some(branch) = branch.take()
        {
            session.store.delete(branch).await?;
        }
    }
    let exit = printer.end(&ended, &kept);
    // Only the first model answers in the conversation itself. If it failed, that is recorded there.
    match ended.first().and_then(Option::as_ref).map(|ran| &ran.end) {
        Some(End::Whole) | None => {}
        Some(End::Stopped) => session.unanswered(&Failure::interrupted().what).await?,
        Some(End::Failed(failure)) => session.unanswered(&failure.what).await?,
    }
    exit
}

/// Prepares the models: the first one answers in the conversation itself, each other one in a branch.
async fn entrants(ask: &Ask, choices: &[Choice], session: &mut Session) -> Result<Vec<Entrant>, Failure> {
    let here = session.conversation().await?;
    let mut entrants = Vec::with_capacity(choices.len());
    for (place, choice) in choices.iter().enumerate() {
        let details = Details::default().model(choice.kept());
        let id = match place {
            0 => session.store.update(here, details).await?.id,
            _ => session.store.fork(here, Point::End, details).await?.id,
        };
        let set = |model| options::set(model, &ask.options);
        entrants.push(Entrant::new(session, choice.clone(), id, set)?);
    }
    Ok(entrants)
}

/// Draws the answers on a terminal as they arrive.
async fn drawn(mut race: Race, meters: Vec<Meter>) -> Result<Vec<Option<Ran>>, Failure> {
    let size = size();
    let region = Region::detect(true, |name| std::env::var(name).ok());
    let mut board = Board::new(Look::of_stdout(size.columns), size, region, meters, "Ctrl-C");
    let mut frames = tokio::time::interval(FRAME);
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
            news = race.next() => match news {
                Some((place, news)) => board.news(place, news),
                None => break,
            },
            _ = frames.tick() => board.draw()?,
        }
    }
    board.finish()?;
    Ok(board.into_ended())
}

/// Prints answers.
struct Printer<'a> {
    ask: &'a Ask,
    out: &'a mut Out,
    format: Format,
    /// Whether the answers are already on the screen.
    draws: bool,
    choices: &'a [Choice],
    session: &'a Session,
    /// The exit code of the first failure.
    exit: Exit,
}

impl Printer<'_> {
    /// Waits for the answers. Each is printed once it and those before it are complete.
    async fn followed(&mut self, mut race: Race) -> Result<Vec<Option<Ran>>, Failure> {
        let mut ended: Vec<Option<Ran>> = self.choices.iter().map(|_| None).collect();
        let mut printed = 0;
        let interrupt = tokio::signal::ctrl_c();
        tokio::pin!(interrupt);
        let mut stopped = false;
        loop {
            let (place, news) = tokio::select! {
                biased;
                _ = &mut interrupt, if !stopped => {
                    stopped = true;
                    race.stop();
                    continue;
                }
                news = race.next() => match news {
                    Some(news) => news,
                    None => return Ok(ended),
                },
            };
            match news {
                News::Event(_) => {}
                News::Retry(words) => {
                    let words = format!("{}: {words}", self.name(place));
                    self.out.warning(&words);
                }
                News::Ended(ran) => {
                    if let Some(slot) = ended.get_mut(place) {
                        *slot = Some(*ran);
                    }
                    while let Some(Some(ran)) = ended.get(printed) {
                        self.print(printed, ran)?;
                        printed += 1;
                    }
                }
            }
        }
    }

    fn name(&self, place: usize) -> String {
        self.choices.get(place).map(Choice::short).unwrap_or_default()
    }

    fn print(&mut self, place: usize, ran: &Ran) -> Result<(), Failure> {
        if self.ask.thinking && !ran.response.thinking().is_empty() {
            self.out.note(&format!("{}:\n{}\n", self.name(place), clean(&ran.response.thinking())));
        }
        if self.format == Format::Json {
            return Ok(());
        }
        let name = self.name(place);
        let gap = if place == 0 { "" } else { "\n" };
        let text = ran.response.text();
        let text = text.trim_end_matches('\n');
        match self.format {
            Format::Markdown => {
                self.out.text(&format!("{gap}{HEADING}{}{HEADING:#}\n\n", clean(&name)))?;
                let look = Look::of_stdout(size().columns);
                self.out.text(&sources::answer(&ran.response.content, &ran.response.sources, look))?;
            }
            Format::Text | Format::Json | Format::Jsonl => {
                self.out
                    .data(format!("{gap}## {name}\n\n{text}{}", if text.is_empty() { "" } else { "\n" }).as_bytes())?;
            }
        }
        self.out.flush()
    }

    /// Prints what is left, and returns how the program ends.
    fn end(&mut self, ended: &[Option<Ran>], kept: &[Option<ConversationId>]) -> Result<Exit, Failure> {
        if self.format == Format::Json {
            let each = ended.iter().zip(kept).enumerate();
            let all: Vec<Value> =
                each.filter_map(|(place, (ran, kept))| self.json(place, ran.as_ref()?, *kept)).collect();
            self.out.json(&all)?;
            self.out.flush()?;
        }
        for (place, ran) in ended.iter().enumerate() {
            match ran {
                Some(ran) => self.tell(place, ran),
                None => self.exit = first(self.exit, Exit::Error),
            }
        }
        Ok(self.exit)
    }

    /// Reports what there is to say about an answer, on standard error.
    fn tell(&mut self, place: usize, ran: &Ran) {
        let name = self.name(place);
        if self.ask.usage && !self.draws {
            self.out.note(&format!("{name}: {}\n", ran.summary()));
        }
        for words in flow::lost(&ran.response.warnings) {
            self.out.warning(&format!("{name}: {words}"));
        }
        let failure = match &ran.end {
            End::Stopped => Some(Failure::interrupted()),
            End::Failed(failure) => Some(failure.clone()),
            End::Whole => match verdict(ran.response.finish_reason, self.ask.fail_on_length) {
                Ok(None) => None,
                Ok(Some(warning)) => {
                    self.out.warning(&format!("{name}: {warning}"));
                    None
                }
                Err(failure) => Some(failure),
            },
        };
        if let Some(failure) = failure {
            self.exit = first(self.exit, failure.exit);
            // A failed model says so in its column.
            if !self.draws || ran.response.finish_reason == FinishReason::ContentFilter {
                self.out.failure(&Failure { what: format!("{name}: {}", failure.what), ..failure });
            }
        }
    }

    fn json(&self, place: usize, ran: &Ran, kept: Option<ConversationId>) -> Option<Value> {
        let choice = self.choices.get(place)?;
        let is_simulated = self.session.access.is_simulated();
        let provider = if is_simulated { SIMULATOR } else { choice.name.provider.as_str() };
        let mut value = json!({
            "model": choice.short(),
            "provider": provider,
            "text": ran.response.text(),
            "finish_reason": ran.response.finish_reason,
            "seconds": (ran.took.as_secs_f64() * 1000.0).round() / 1000.0,
        });
        let fields = value.as_object_mut()?;
        if let Some(Ok(usage)) = ran.response.usage.as_ref().map(serde_json::to_value) {
            fields.insert("usage".to_owned(), usage);
        }
        // Unknown prices are left out.
        if let Some(Ok(cost)) = ran.cost.map(serde_json::to_value) {
            fields.insert("cost".to_owned(), cost);
        }
        if is_simulated {
            fields.insert("simulated".to_owned(), true.into());
        }
        if let (Some(id), false) = (kept, self.session.store.place() == "memory") {
            fields.insert("conversation".to_owned(), conversations::short(id).into());
        }
        match &ran.end {
            End::Whole => {}
            End::Stopped => drop(fields.insert("error".to_owned(), "stopped by Ctrl-C".into())),
            End::Failed(failure) => drop(fields.insert("error".to_owned(), failure.what.clone().into())),
        }
        if ran.end != End::Whole {
            fields.remove("finish_reason");
        }
        Some(value)
    }
}

/// Returns the exit code of the first failure.
fn first(before: Exit, now: Exit) -> Exit {
    if before == Exit::Ok { now } else { before }
}

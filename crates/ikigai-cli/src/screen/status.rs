//! The row at the bottom while something runs: the model, what it is doing, for how long, and the usage so far.

use std::time::Duration;

use super::look::{DIM, Look, YELLOW};
use super::notice;
use super::text::{shorten, width};

/// How often the row should be drawn.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);
/// After this much silence, an answer counts as stalled.
const STALL: Duration = Duration::from_secs(5);

const SIGNS: &[&str] = &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const ASCII: &[&str] = &["|", "/", "-", "\\"];

/// What is running.
#[derive(Debug, Clone, Default)]
pub(crate) struct Status<'a> {
    /// The model that answers.
    pub(crate) model: &'a str,
    /// What it is doing: `writing`.
    pub(crate) doing: &'a str,
    /// More about that, if there is room: the heading of a thought.
    pub(crate) about: Option<&'a str>,
    pub(crate) elapsed: Duration,
    /// How long an answer that has begun has been silent.
    pub(crate) silent: Duration,
    /// About how many tokens were written.
    pub(crate) tokens: u64,
    /// About how much was spent, in dollars.
    pub(crate) cost: Option<ikigai::Money>,
    /// The key that ends it; empty if that is shown elsewhere.
    pub(crate) stops: &'a str,
}

/// Draws the row.
pub(crate) fn row(status: &Status<'_>, look: Look) -> String {
    let sign = sign(status.elapsed, look);
    let dot = look.sign(" · ", " - ");
    let room = look.width.saturating_sub(width(sign) + 1);
    let stalled = status.silent >= STALL;
    let doing =
        if stalled { format!("nothing for {}", notice::duration(status.silent)) } else { status.doing.to_owned() };
    let about = status.about.filter(|_| !stalled).map(|about| format!("{doing}: {about}"));
    let time = notice::duration(status.elapsed);
    let tokens = (status.tokens > 0).then(|| format!("~{}", notice::tokens(status.tokens)));
    let cost = status.cost.map(|cost| notice::about(cost, true));
    let stops = (!status.stops.is_empty()).then(|| format!("{} stops", status.stops));
    // The least important parts go first if the row is too long.
    let rows =
        [(about, tokens.clone(), cost.clone()), (None, tokens.clone(), cost), (None, tokens, None), (None, None, None)];
    let rows = rows.map(|(about, tokens, cost)| {
        let parts = [
            Some(status.model.to_owned()),
            about.or(Some(doing.clone())),
            Some(time.clone()),
            tokens,
            cost,
            stops.clone(),
        ];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(dot)
    });
    let shortest = shorten(&rows[3], room, look);
    let text = rows.into_iter().find(|row| width(row) <= room).unwrap_or(shortest);
    format!("{sign} {}", look.paint(if stalled { YELLOW } else { DIM }, &shorten(&text, room, look)))
}

/// Returns the first text between two pairs of stars: what a thought is about.
pub(crate) fn heading(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("**")?;
    let (heading, _) = rest.split_once("**")?;
    let heading = heading.trim();
    (!heading.is_empty()).then_some(heading)
}

fn sign(elapsed: Duration, look: Look) -> &'static str {
    if !look.motion {
        return look.sign("•", "*");
    }
    let signs = if look.unicode { SIGNS } else { ASCII };
    let tick = usize::try_from(elapsed.as_millis() / INTERVAL.as_millis()).unwrap_or(0);
    signs.get(tick % signs.len()).copied().unwrap_or("*")
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;

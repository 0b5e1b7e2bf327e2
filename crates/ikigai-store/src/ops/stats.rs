//! Statistics, and checks of the whole database.

use std::collections::BTreeMap;

use ikigai_core::Usage;
use ikigai_core::catalog::Money;

use super::family::FAMILY;
use super::line::LINE;
use super::messages::{self, THREAD};
use crate::attachments::hash;
use crate::error::{Error, Result};
use crate::message_rows::{money, unpack};
use crate::sql::{Operation, Session, Value, params};
use crate::stats::{ModelStats, Spent, Stats, add};
use crate::{ConversationId, State};

/// The most problems that are reported.
const MOST_PROBLEMS: usize = 20;

/// Counts everything in the database.
#[derive(Debug)]
pub(crate) struct Measure;

impl Operation for Measure {
    type Output = Stats;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Stats> {
        let sql = "SELECT (SELECT count(*) FROM conversations), (SELECT count(*) FROM messages), \
             (SELECT count(*) FROM messages WHERE state = 'partial'), (SELECT count(*) FROM blobs), \
             (SELECT CAST(coalesce(sum(size), 0) AS bigint) FROM blobs)";
        let mut row = session.first(sql, &[]).await?.ok_or_else(|| Error::internal("a count gave nothing"))?;
        let mut stats = Stats {
            conversations: count(row.int(0)?),
            messages: count(row.int(1)?),
            partial: count(row.int(2)?),
            attachments: count(row.int(3)?),
            attachment_bytes: count(row.int(4)?),
            size: count(session.size().await?),
            spent: Spent::default(),
        };
        stats.spent = spent(session, "", "messages m", &[]).await?;
        Ok(stats)
    }
}

/// Adds up what the answers of a conversation took, including shared ones.
#[derive(Debug)]
pub(crate) struct Spend(pub(crate) ConversationId);

impl Operation for Spend {
    type Output = Spent;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Spent> {
        let id = self.0.to_string();
        let row = session.first("SELECT n FROM conversations WHERE id = $1", params![&id]).await?;
        row.ok_or_else(|| Error::not_found("conversation", self.0))?;
        spent(session, LINE, THREAD, params![&id]).await
    }
}

/// Adds up what the answers of a conversation took, and those of every conversation that shares a root with it.
#[derive(Debug)]
pub(crate) struct SpendFamily(pub(crate) ConversationId);

impl Operation for SpendFamily {
    type Output = Spent;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Spent> {
        let from = "messages m JOIN down ON down.n = m.conversation";
        spent(session, FAMILY, from, params![self.0.to_string()]).await
    }
}

/// Adds up in the program: such sums need more room than a database's integers have.
async fn spent<S: Session>(session: &mut S, with: &str, from: &str, params: &[Value<'_>]) -> Result<Spent> {
    let sql = format!(
        "{with} SELECT m.provider, m.model, m.input_tokens, m.output_tokens, m.thinking_tokens, m.cache_read_tokens, \
         m.cache_write_tokens, m.cost, m.state FROM {from} WHERE m.role = 'assistant'"
    );
    let mut models: BTreeMap<(Option<String>, Option<String>), ModelStats> = BTreeMap::new();
    for mut row in session.query(&sql, params).await? {
        let (provider, model) = (row.opt_text(0)?, row.opt_text(1)?);
        let cost = row.opt_text(7)?.map(|pico| money(&pico).map_err(Error::corrupt)).transpose()?;
        let is_estimate = cost.is_some() && row.text(8)? == State::Cut.as_str();
        let mut tokens = |column| row.opt_int(column).map(|tokens| count(tokens.unwrap_or_default()));
        let mut more = Usage::new(tokens(2)?, tokens(3)?);
        more.thinking_tokens = tokens(4)?;
        more.cache_read_tokens = tokens(5)?;
        more.cache_write_tokens = tokens(6)?;
        let one = models.entry((provider, model)).or_default();
        one.answers += 1;
        one.unpriced += u64::from(cost.is_none());
        one.estimated += u64::from(is_estimate);
        one.cost = one.cost + cost.unwrap_or(Money::ZERO);
        add(&mut one.usage, &more);
    }
    let named = |((provider, model), stats)| ModelStats { provider, model, ..stats };
    let mut models: Vec<ModelStats> = models.into_iter().map(named).collect();
    models.sort_by_key(|stats| std::cmp::Reverse(stats.answers));
    Ok(Spent { models })
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// Reads everything and reports what is wrong.
#[derive(Debug)]
pub(crate) struct Examine;

impl Operation for Examine {
    type Output = Vec<String>;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let forks = "SELECT c.id FROM conversations c WHERE c.base > 0 AND NOT EXISTS (\
             SELECT 1 FROM messages m WHERE m.conversation = c.parent AND m.position = c.base) ORDER BY c.id";
        for mut row in session.query(forks, &[]).await? {
            problems.push(format!("conversation {}: the message that it was forked at is missing", row.text(0)?));
        }
        let gaps = "SELECT c.id FROM conversations c JOIN messages m ON m.conversation = c.n GROUP BY c.id, c.base \
             HAVING count(*) <> max(m.position) - c.base OR min(m.position) <> c.base + 1 ORDER BY c.id";
        for mut row in session.query(gaps, &[]).await? {
            problems.push(format!("conversation {}: messages are missing", row.text(0)?));
        }
        examine_messages(session, &mut problems).await?;
        examine_blobs(session, &mut problems).await?;
        Ok(told(problems))
    }
}

/// The first problems, and how many more there are.
pub(crate) fn told(mut problems: Vec<String>) -> Vec<String> {
    if problems.len() > MOST_PROBLEMS {
        let more = problems.len() - MOST_PROBLEMS;
        problems.truncate(MOST_PROBLEMS);
        problems.push(format!("and {more} more"));
    }
    problems
}

async fn examine_messages<S: Session>(session: &mut S, problems: &mut Vec<String>) -> Result<()> {
    let mut last = 0;
    loop {
        let from = "(SELECT * FROM messages WHERE n > $1 ORDER BY n LIMIT 100) m";
        let found = messages::fetch(session, "", from, params![last]).await?;
        let Some(highest) = found.iter().map(|raw| raw.n).max() else { return Ok(()) };
        last = highest;
        problems.extend(found.into_iter().filter_map(|raw| unpack(raw).err()).map(|error| error.message().to_owned()));
    }
}

async fn examine_blobs<S: Session>(session: &mut S, problems: &mut Vec<String>) -> Result<()> {
    let mut last = 0;
    loop {
        let sql = "SELECT n, hash, bytes FROM blobs WHERE n > $1 ORDER BY n LIMIT 1";
        let Some(mut row) = session.first(sql, params![last]).await? else { return Ok(()) };
        last = row.int(0)?;
        let (wanted, bytes) = (row.text(1)?, row.bytes(2)?);
        if hash(&bytes) != wanted {
            problems.push(format!("attachment {wanted}: its bytes have changed"));
        }
    }
}

//! A transaction on one of the connections.

use std::collections::BTreeMap;

use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::fault::statement;
use crate::error::{Error, Result};
use crate::find::{Order, Place};
use crate::sql::{Found, Lock, Row, Session, Value, params};
use crate::text::Query;

/// Names of locks, which are numbers: "ikigai" and a number.
const NAMES: i64 = 0x696B_6967_6169_0000;
pub(super) const MIGRATIONS: i64 = NAMES + 1;
const FAMILY: i64 = NAMES + 2;
const ATTACHMENTS: i64 = NAMES + 3;

/// The last position of a word that the server counts, and how many positions of one word it keeps.
const LAST_POSITION: usize = 16_383;
const MOST_POSITIONS: usize = 255;

/// A word is common if this many (`COMMON`) of this many of the newest messages (`SAMPLE`) contain it.
const SAMPLE: i64 = 500;
const COMMON: i64 = 5;
/// A common word is ranked among this many of the newest messages.
const RANKED_OF_NEWEST: i64 = 3000;

pub(super) struct Transaction<'a> {
    pub(super) inner: deadpool_postgres::Transaction<'a>,
}

impl Transaction<'_> {
    /// Takes a lock that lasts until the end of the transaction.
    pub(super) async fn advisory(&mut self, name: i64) -> Result<()> {
        self.execute("SELECT pg_advisory_xact_lock($1)", params![name]).await.map(drop)
    }

    async fn best(&mut self, query: &str, limit: i64, offset: i64) -> Result<Vec<Found>> {
        let wanted = limit.saturating_add(offset);
        let mut found = Vec::new();
        for place in [Place::Title, Place::Prompt, Place::Answer, Place::Tool] {
            let room = wanted.saturating_sub(i64::try_from(found.len()).unwrap_or(i64::MAX));
            if room <= 0 {
                break;
            }
            // Longer texts contain more words, which is no merit in itself.
            const RANKED: &str = "words @@ CAST(CAST($1 AS text) AS tsquery) \
                 ORDER BY ts_rank(words, CAST(CAST($1 AS text) AS tsquery), 1) DESC, n DESC LIMIT $2";
            let rows = match number(place) {
                None => {
                    let sql = format!("SELECT n FROM conversations WHERE {RANKED}");
                    self.query(&sql, params![query, room]).await?
                }
                Some(number) => {
                    let sql = format!("SELECT n FROM messages WHERE place = $3 AND {RANKED}");
                    self.query(&sql, params![query, room, number]).await?
                }
            };
            for mut row in rows {
                found.push(Found { place, n: row.int(0)? });
            }
            let room = wanted.saturating_sub(i64::try_from(found.len()).unwrap_or(i64::MAX));
            // Ranking all messages with a word that is everywhere takes long and says little.
            if place == Place::Title
                && room > 0
                && self.is_common(query).await?
                && let Some(newest) = self.best_of_newest(query, room).await?
            {
                found.extend(newest);
                break;
            }
        }
        Ok(found.split_off(usize::try_from(offset).unwrap_or(usize::MAX).min(found.len())))
    }

    async fn newest(&mut self, query: &str, limit: i64, offset: i64) -> Result<Vec<Found>> {
        let wanted = limit.saturating_add(offset);
        // A word that is everywhere soon turns up on the way back from the newest message; for any other, the index is
        // faster. `IS TRUE` keeps the index of words out of it.
        let messages = match self.is_common(query).await? {
            true => {
                "SELECT CAST(place AS bigint), n, created FROM messages \
                 WHERE (words @@ CAST(CAST($1 AS text) AS tsquery)) IS TRUE ORDER BY created DESC, n DESC LIMIT $2"
            }
            false => {
                "WITH found AS MATERIALIZED (SELECT CAST(place AS bigint) AS place, n, created FROM messages \
                 WHERE words @@ CAST(CAST($1 AS text) AS tsquery)) \
                 SELECT place, n, created FROM found ORDER BY created DESC, n DESC LIMIT $2"
            }
        };
        let titles = "SELECT CAST(0 AS bigint), n, created FROM conversations \
             WHERE words @@ CAST(CAST($1 AS text) AS tsquery) ORDER BY created DESC, n DESC LIMIT $2";
        let mut found = Vec::new();
        for sql in [messages, titles] {
            for mut row in self.query(sql, params![query, wanted]).await? {
                let place = place(row.int(0)?);
                let n = row.int(1)?;
                found.push((row.int(2)?, Found { place, n }));
            }
        }
        found.sort_by_key(|(created, found)| std::cmp::Reverse((*created, found.n)));
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let page = found.into_iter().skip(start).take(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(page.map(|(_, found)| found).collect())
    }

    /// Whether many of the newest messages match the query.
    async fn is_common(&mut self, query: &str) -> Result<bool> {
        let sql = "SELECT count(*) FROM (SELECT words FROM messages ORDER BY created DESC, n DESC LIMIT $2) newest \
             WHERE words @@ CAST(CAST($1 AS text) AS tsquery)";
        let count = self.first(sql, params![query, SAMPLE]).await?.map(|mut row| row.int(0)).transpose()?;
        Ok(count.unwrap_or_default() >= COMMON)
    }

    /// The best among the newest messages, or `None` if those are not enough.
    async fn best_of_newest(&mut self, query: &str, wanted: i64) -> Result<Option<Vec<Found>>> {
        let sql = "SELECT CAST(place AS bigint), n FROM \
             (SELECT n, place, words FROM messages ORDER BY created DESC, n DESC LIMIT $3) newest \
             WHERE words @@ CAST(CAST($1 AS text) AS tsquery) \
             ORDER BY place, ts_rank(words, CAST(CAST($1 AS text) AS tsquery), 1) DESC, n DESC LIMIT $2";
        let rows = self.query(sql, params![query, wanted, RANKED_OF_NEWEST]).await?;
        let found = rows.into_iter().map(|mut row| Ok(Found { place: place(row.int(0)?), n: row.int(1)? }));
        let found: Vec<Found> = found.collect::<Result<_>>()?;
        Ok((found.len() as i64 >= wanted).then_some(found))
    }
}

/// The place with this number.
fn place(number: i64) -> Place {
    match number {
        0 => Place::Title,
        1 => Place::Prompt,
        2 => Place::Answer,
        _ => Place::Tool,
    }
}

/// The number of a place in the table of messages, which has no titles.
fn number(place: Place) -> Option<i64> {
    match place {
        Place::Title => None,
        Place::Prompt => Some(1),
        Place::Answer => Some(2),
        Place::Tool => Some(3),
    }
}

/// Words as a `tsvector`: each with its positions. Words are only letters and digits, so quoting them is safe.
fn vector(words: &[String]) -> String {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (at, word) in words.iter().enumerate() {
        let places = places.entry(word).or_default();
        if places.len() < MOST_POSITIONS {
            places.push((at + 1).min(LAST_POSITION).to_string());
        }
    }
    let words: Vec<String> = places.iter().map(|(word, places)| format!("'{word}':{}", places.join(","))).collect();
    words.join(" ")
}

impl Session for Transaction<'_> {
    const FOR_UPDATE: &'static str = " FOR UPDATE";

    async fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64> {
        let prepared = self.inner.prepare_cached(sql).await.map_err(statement)?;
        self.inner.execute(&prepared, &bound(params)).await.map_err(statement)
    }

    async fn query(&mut self, sql: &str, params: &[Value<'_>]) -> Result<Vec<Row>> {
        let prepared = self.inner.prepare_cached(sql).await.map_err(statement)?;
        let rows = self.inner.query(&prepared, &bound(params)).await.map_err(statement)?;
        rows.iter().map(read).collect()
    }

    async fn lock(&mut self, lock: Lock) -> Result<()> {
        match lock {
            Lock::Family => self.advisory(FAMILY).await,
            Lock::CollectAttachments => self.advisory(ATTACHMENTS).await,
            // Many may add at once.
            Lock::AddAttachments => {
                self.execute("SELECT pg_advisory_xact_lock_shared($1)", params![ATTACHMENTS]).await.map(drop)
            }
        }
    }

    async fn index_message(&mut self, n: i64, place: Place, words: &[String]) -> Result<()> {
        let sql = "UPDATE messages SET place = $1, words = CAST(CAST($2 AS text) AS tsvector) WHERE n = $3";
        self.execute(sql, params![number(place), vector(words), n]).await.map(drop)
    }

    async fn index_title(&mut self, n: i64, words: &[String]) -> Result<()> {
        let sql = "UPDATE conversations SET words = CAST(CAST($1 AS text) AS tsvector) WHERE n = $2";
        self.execute(sql, params![vector(words), n]).await.map(drop)
    }

    async fn search(&mut self, query: &Query, order: Order, limit: i64, offset: i64) -> Result<Vec<Found>> {
        let query = query.to_tsquery();
        match order {
            Order::Best => self.best(&query, limit, offset).await,
            Order::Newest => self.newest(&query, limit, offset).await,
        }
    }

    async fn size(&mut self) -> Result<i64> {
        let sql = "SELECT CAST(coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bigint) FROM pg_class c \
             JOIN pg_namespace s ON s.oid = c.relnamespace WHERE s.nspname = 'ikigai' AND c.relkind = 'r'";
        match self.first(sql, &[]).await? {
            Some(mut row) => row.int(0),
            None => Ok(0),
        }
    }
}

fn bound<'a>(params: &'a [Value<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    params.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) if *kind == Type::INT2 => i16::try_from(*number)?.to_sql(kind, out),
            Value::Int(number) if *kind == Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
            Value::Int(number) if *kind == Type::INT8 => number.to_sql(kind, out),
            Value::Text(text) if *kind == Type::TEXT => text.to_sql(kind, out),
            Value::Bytes(bytes) if *kind == Type::BYTEA => bytes.as_ref().to_sql(kind, out),
            other => Err(format!("a statement wants {kind} and gets {other:?}").into()),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT2, Type::INT4, Type::INT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}

fn read(row: &tokio_postgres::Row) -> Result<Row> {
    let values = row.columns().iter().enumerate().map(|(at, column)| match *column.type_() {
        Type::INT2 => row.try_get::<_, Option<i16>>(at).map(|number| Value::from(number.map(i64::from))),
        Type::INT4 => row.try_get::<_, Option<i32>>(at).map(|number| Value::from(number.map(i64::from))),
        Type::INT8 => row.try_get::<_, Option<i64>>(at).map(Value::from),
        Type::TEXT => row.try_get::<_, Option<String>>(at).map(Value::from),
        // Everything else is bytes, or refused by the driver.
        _ => row.try_get::<_, Option<Vec<u8>>>(at).map(|bytes| match bytes {
            Some(bytes) => Value::Bytes(bytes.into()),
            None => Value::Null,
        }),
    });
    let values = values.collect::<std::result::Result<_, _>>();
    values.map(Row).map_err(|error| Error::internal(error.to_string()).caused_by(error))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn words_have_their_places() {
        let words = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(vector(&words), "'a':1,3 'b':2");
        let many: Vec<String> = vec!["a".to_owned(); 20_000];
        assert_eq!(vector(&many).split(',').count(), MOST_POSITIONS);
        let mut far = vec!["a".to_owned(); 20_000];
        far.push("b".to_owned());
        assert!(vector(&far).ends_with("'b':16383"));
    }
}

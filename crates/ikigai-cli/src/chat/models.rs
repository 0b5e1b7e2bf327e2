//! The models to choose from, as rows of the picker.

use ikigai::{Level, ModelName};
use ikigai_core::catalog::{Facts, Modality, Status};

use super::picker;
use super::session::{Choice, Session};
use crate::exit::Failure;
use crate::levels;

/// A model to choose from.
#[derive(Debug, Clone)]
pub(super) struct Row {
    name: ModelName,
    pub(super) choice: picker::Choice,
}

impl Row {
    /// Returns the model, thinking as requested.
    pub(super) fn chosen(&self, level: Option<Level>) -> Choice {
        let mut name = self.name.clone();
        name.level = level.or(name.level);
        Choice::from(name)
    }
}

/// Returns all models that produce text: recent ones first, then those with a key by provider and date, then others.
pub(super) async fn rows(session: &Session) -> Result<Vec<Row>, Failure> {
    let registry = session.access.registry();
    let with_key = session.access.providers_with_key()?;
    let recent = session.recent().await?;
    let mut models: Vec<(&Facts, bool)> = registry
        .catalog
        .models()
        .filter(|facts| facts.status != Status::Retired && talks(facts))
        .map(|facts| (facts, with_key.iter().any(|id| *id == facts.provider)))
        .collect();
    models.sort_by(|(one, one_key), (other, other_key)| {
        let order = |facts: &Facts, key: bool| (!key, facts.provider.clone(), facts.status != Status::Active);
        let newest = other.released.cmp(&one.released).then_with(|| other.id.cmp(&one.id));
        order(one, *one_key).cmp(&order(other, *other_key)).then(newest)
    });
    let mut rows: Vec<Row> = Vec::with_capacity(models.len());
    for name in &recent {
        let facts = registry.catalog.find(Some(&name.provider), &name.id);
        let key = with_key.contains(&name.provider);
        rows.extend(facts.map(|facts| row(session, facts, name.clone(), key)));
    }
    for (facts, key) in models {
        rows.push(row(session, facts, ModelName::new(facts.provider.as_ref(), facts.id.as_ref()), key));
    }
    Ok(rows)
}

fn talks(facts: &Facts) -> bool {
    let writes = facts.output.is_empty() || facts.output.contains(&Modality::Text);
    writes && !facts.id.contains("embed") && !facts.id.contains("-tts")
}

fn row(session: &Session, facts: &Facts, name: ModelName, has_key: bool) -> Row {
    let registry = session.access.registry();
    let provider = registry.providers.find(&facts.provider);
    let is_bare = registry.parse(&facts.id).is_ok_and(|parsed| parsed.provider == facts.provider);
    let typed = if is_bare { facts.id.to_string() } else { format!("{}:{}", facts.provider, facts.id) };
    let level = name.level.map(|level| format!("/{}", level.as_str())).unwrap_or_default();
    let price = match (facts.prices.input, facts.prices.output) {
        (Some(input), Some(output)) => format!("{} / {}", dollars(input), dollars(output)),
        _ => "price unknown".to_owned(),
    };
    let thinks = registry
        .route(&name)
        .is_ok_and(|route| levels::rules(&route).thinking.kind != ikigai_core::catalog::ThinkingKind::None);
    let sees = facts.input.contains(&Modality::Image);
    let abilities = [thinks.then_some("thinks"), sees.then_some("sees"), (!has_key).then_some("no key")];
    let columns = vec![
        format!("{typed}{level}"),
        provider.map_or_else(|| facts.provider.to_string(), |provider| provider.name.to_string()),
        price,
        facts.context.map(window).unwrap_or_default(),
        abilities.into_iter().flatten().collect::<Vec<_>>().join(", "),
    ];
    let words = facts.names().chain([facts.provider.as_ref(), facts.name.as_ref()]).collect::<Vec<_>>().join(" ");
    Row { name, choice: picker::Choice { columns, words, is_dim: !has_key } }
}

/// Formats a price per million tokens: `$3`, `$0.25`.
fn dollars(micro: u64) -> String {
    let cents = micro / 10_000;
    match (cents % 100, micro % 10_000) {
        (0, 0) => format!("${}", cents / 100),
        (_, 0) => format!("${}.{:02}", cents / 100, cents % 100),
        _ => format!("${}", micro as f64 / 1e6),
    }
}

/// Formats the size of a window: `200K`, `1M`.
fn window(tokens: u32) -> String {
    match tokens {
        1_000_000.. => {
            let tenths = tokens / 100_000;
            if tenths.is_multiple_of(10) {
                format!("{}M", tenths / 10)
            } else {
                format!("{}.{}M", tenths / 10, tenths % 10)
            }
        }
        1_000.. => format!("{}K", tokens / 1_000),
        few => few.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn prices_and_windows_are_short() {
        assert_eq!([3_000_000, 250_000, 75_000, 15_500_000].map(dollars), ["$3", "$0.25", "$0.075", "$15.50"]);
        assert_eq!([200_000, 1_000_000, 1_048_576, 1_150_000, 8_192].map(window), ["200K", "1M", "1M", "1.1M", "8K"]);
    }
}

use std::borrow::Cow;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::ProviderTool;
use crate::catalog::{Catalog, TierPrices};

fn dollars(text: &str) -> Money {
    text.parse().unwrap()
}

fn cost(input: &str, output: &str, thinking: &str, cache_read: &str, cache_write: &str) -> Cost {
    Cost {
        input: dollars(input),
        output: dollars(output),
        thinking: dollars(thinking),
        cache_read: dollars(cache_read),
        cache_write: dollars(cache_write),
        unpriced_calls: 0,
    }
}

fn facts(model: &str) -> &'static Facts {
    Catalog::shared().find(None, model).unwrap()
}

fn usage(input: u64, output: u64, thinking: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage {
        input_tokens: input,
        output_tokens: output,
        thinking_tokens: thinking,
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        ..Usage::default()
    }
}

#[test]
fn prices_are_a_million_tokens() {
    let million = usage(1_000_000, 0, 0, 0, 0);
    assert_eq!(facts("claude-3-5-sonnet").cost(&million).unwrap().total(), dollars("3"));
    assert_eq!(facts("claude-3-5-sonnet").cost(&usage(0, 1_000_000, 0, 0, 0)).unwrap().total(), dollars("15"));
}

#[test]
fn reads_and_writes_of_the_cache_are_priced_beside_the_prompt() {
    let used = usage(1_000, 500, 0, 100_000, 2_000);
    assert_eq!(facts("claude-sonnet-4-5").cost(&used), Some(cost("0.003", "0.0075", "0", "0.03", "0.0075")));
}

#[test]
fn writes_for_an_hour_cost_twice_the_prompt() {
    let mut used = usage(0, 0, 0, 0, 3_000);
    let split = json!({"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 2_000});
    used.provider_data.set_part(Dialect::Anthropic, Part::Answer, "cache_creation", split);
    // 1,000 at $3.75 and 2,000 at $6 per million.
    assert_eq!(facts("claude-sonnet-4-5").cost(&used), Some(cost("0", "0", "0", "0", "0.01575")));
    // A count greater than all writes is limited to them.
    used.provider_data.set_part(
        Dialect::Anthropic,
        Part::Answer,
        "cache_creation",
        json!({"ephemeral_1h_input_tokens": 9_000}),
    );
    assert_eq!(facts("claude-sonnet-4-5").cost(&used), Some(cost("0", "0", "0", "0", "0.018")));
    for odd in [json!(null), json!([]), json!({"ephemeral_1h_input_tokens": -1}), json!("x")] {
        used.provider_data.set_part(Dialect::Anthropic, Part::Answer, "cache_creation", odd);
        assert_eq!(facts("claude-sonnet-4-5").cost(&used), Some(cost("0", "0", "0", "0", "0.01125")));
    }
}

#[test]
fn thinking_costs_what_the_answer_costs_or_its_own_price() {
    let used = usage(0, 1_000, 2_000, 0, 0);
    assert_eq!(facts("gemini-2.5-flash").cost(&used), Some(cost("0", "0.0025", "0.005", "0", "0")));
    assert_eq!(facts("sonar-deep-research").cost(&used), Some(cost("0", "0.008", "0.006", "0", "0")));
}

#[test]
fn a_long_prompt_has_its_tiers_prices_for_the_whole_request() {
    let pro = facts("gemini-2.5-pro");
    // The cached part counts as prompt.
    assert_eq!(pro.cost(&usage(150_000, 1_000, 0, 50_000, 0)), Some(cost("0.1875", "0.01", "0", "0.00625", "0")));
    assert_eq!(pro.cost(&usage(150_001, 1_000, 0, 50_000, 0)), Some(cost("0.3750025", "0.015", "0", "0.0125", "0")));
    let tier = |above, input| TierPrices { above, prices: Prices { input: Some(input), ..Prices::default() } };
    let prices = Prices { input: Some(1), output: Some(1), ..Prices::default() };
    let steps = Facts { prices, tiers: Cow::Owned(vec![tier(10, 2), tier(20, 3)]), ..Facts::default() };
    let input = |tokens| steps.prices_for(tokens).input;
    assert_eq!([10, 11, 20, 21, u64::MAX].map(input), [Some(1), Some(2), Some(2), Some(3), Some(3)]);
}

#[test]
fn an_unknown_price_is_no_price() {
    let used = usage(10, 10, 0, 0, 0);
    let with = |input, output| Facts { prices: Prices { input, output, ..Prices::default() }, ..Facts::default() };
    assert_eq!(with(None, None).cost(&used), None);
    assert_eq!(with(Some(1), None).cost(&used), None);
    assert_eq!(with(None, Some(1)).cost(&used), None);
    assert_eq!(with(Some(0), Some(0)).cost(&used), Some(Cost::default()));
    assert_eq!(facts("gpt-6-sol").cost(&used), None);
    // Cached tokens without their own price cost the same as the prompt.
    assert_eq!(with(Some(3), Some(1)).cost(&usage(0, 0, 0, 2, 5)).unwrap().total(), Money::from_pico(21));
}

#[test]
fn calls_of_the_providers_tools_have_no_price_and_the_cost_says_so() {
    let mut used = usage(1_000, 0, 0, 0, 0);
    used.provider_calls = [(ProviderTool::WebSearch, 2), (ProviderTool::WebFetch, 1)].into();
    let searched = facts("claude-sonnet-4-5").cost(&used).unwrap();
    assert_eq!(searched, Cost { unpriced_calls: 3, ..cost("0.003", "0", "0", "0", "0") });
    assert_eq!((searched + searched).unpriced_calls, 6);
    assert_eq!(searched.rounded().unpriced_calls, 3);
    assert_eq!(serde_json::to_value(searched).unwrap()["unpriced_calls"], 3);
}

#[test]
fn each_part_is_rounded_by_itself() {
    let exact = cost("0.0000004", "0.0000005", "0.0000014", "0", "1");
    assert_eq!(exact.rounded(), cost("0", "0.000001", "0.000001", "0", "1"));
    assert_eq!(exact.total(), dollars("1.0000023"));
    assert_eq!(exact.rounded().total(), dollars("1.000002"));
}

#[test]
fn json_carries_the_total_and_ignores_it() {
    let exact = cost("0.003", "0.0075", "0", "0.03", "0.0075");
    let json = serde_json::to_value(exact).unwrap();
    assert_eq!(
        json,
        json!({"input": 0.003, "output": 0.0075, "thinking": 0.0, "cache_read": 0.03, "cache_write": 0.0075, "total": 0.048})
    );
    assert_eq!(serde_json::from_value::<Cost>(json).unwrap(), exact);
}

fn any_usage(most: u64) -> impl Strategy<Value = Usage> {
    let count = move || 0..=most;
    (count(), count(), count(), count(), count(), count()).prop_map(|(input, output, thinking, read, write, hour)| {
        let mut usage = usage(input, output, thinking, read, write);
        usage.provider_data.set_part(
            Dialect::Anthropic,
            Part::Answer,
            "cache_creation",
            json!({"ephemeral_1h_input_tokens": hour}),
        );
        usage
    })
}

fn any_facts(most: u64) -> impl Strategy<Value = Facts> {
    let price = move || prop::option::of(0..=most);
    (0..=most, 0..=most, price(), price(), price()).prop_map(|(input, output, cache_read, cache_write, thinking)| {
        Facts {
            prices: Prices { input: Some(input), output: Some(output), cache_read, cache_write, thinking },
            ..Facts::default()
        }
    })
}

/// Returns the sum as one request would have counted it; the hour's writes are limited to the writes of each.
fn together(a: &Usage, b: &Usage) -> Usage {
    let mut sum = usage(
        a.input_tokens + b.input_tokens,
        a.output_tokens + b.output_tokens,
        a.thinking_tokens + b.thinking_tokens,
        a.cache_read_tokens + b.cache_read_tokens,
        a.cache_write_tokens + b.cache_write_tokens,
    );
    let hour = hour_writes(a) + hour_writes(b);
    sum.provider_data.set_part(
        Dialect::Anthropic,
        Part::Answer,
        "cache_creation",
        json!({"ephemeral_1h_input_tokens": hour}),
    );
    sum
}

proptest! {
    #[test]
    fn the_cost_of_both_is_the_sum_of_the_costs(facts in any_facts(1 << 40), a in any_usage(1 << 40), b in any_usage(1 << 40)) {
        let (cost_a, cost_b) = (facts.cost(&a).unwrap(), facts.cost(&b).unwrap());
        prop_assert_eq!(facts.cost(&together(&a, &b)).unwrap(), cost_a + cost_b);
        prop_assert_eq!((cost_a + cost_b).total(), cost_a.total() + cost_b.total());
        prop_assert_eq!([cost_a, cost_b].into_iter().sum::<Cost>(), cost_a + cost_b);
    }

    #[test]
    fn as_much_again_costs_as_much_again(facts in any_facts(1 << 40), used in any_usage(1 << 30), times in 0_u64..1000) {
        let hour = hour_writes(&used) * times;
        let mut scaled = usage(
            used.input_tokens * times,
            used.output_tokens * times,
            used.thinking_tokens * times,
            used.cache_read_tokens * times,
            used.cache_write_tokens * times,
        );
        scaled.provider_data.set_part(Dialect::Anthropic, Part::Answer, "cache_creation", json!({"ephemeral_1h_input_tokens": hour}));
        let once = facts.cost(&used).unwrap().total().pico();
        prop_assert_eq!(facts.cost(&scaled).unwrap().total().pico(), once * i128::from(times));
    }

    #[test]
    fn no_numbers_are_too_great(facts in any_facts(u64::MAX), used in any_usage(u64::MAX)) {
        let cost = facts.cost(&used).unwrap();
        let parts = [cost.input, cost.output, cost.thinking, cost.cache_read, cost.cache_write];
        prop_assert!(parts.iter().all(|part| (Money::ZERO..=cost.total()).contains(part)));
        prop_assert!(cost.rounded().total() >= Money::ZERO);
    }
}

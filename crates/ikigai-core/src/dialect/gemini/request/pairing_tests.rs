use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::decode_tests::round;
use super::*;
use crate::Request;

/// Each step passes a call or finds one, so that N results check at most N answered calls.
#[test]
fn the_work_grows_with_the_calls_and_not_with_their_square() {
    let count = 10_000;
    let mut calls: Vec<ToolCall> =
        (0..count).map(|_| ToolCall { name: "f".to_owned(), ..ToolCall::default() }).collect();
    let mut ids = FreshIds { taken: HashSet::new(), ids: Ids::default() };
    let mut turn = Turn::default();
    calls.iter_mut().for_each(|call| turn.add(call, &mut ids));
    let left = |turn: &Turn<'_>| {
        let of_name = |named: &Named| 2 * count - named.open_from - named.without_id_from;
        count - turn.open_from + turn.by_name.values().map(of_name).sum::<usize>()
    };
    let mut own = Ids::default();
    for answered in 0..count {
        let mut result = ToolResult::default();
        result.provider_data.set_part(DIALECT, Part::Shape, NAME, "f");
        turn.answer(&mut result, &mut ids);
        assert_eq!(result.tool_call_id, own.next_id());
        // Only the answered calls before this one are passed among those of their name.
        assert_eq!(left(&turn), 3 * count - answered, "after {answered}");
    }
}

/// Returns the ids of calls and results, in order.
fn ids(request: &Request) -> Vec<String> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let id = |block: &Block| {
        block.as_tool_call().map(|call| call.id.clone()).or_else(|| Some(block.as_tool_result()?.tool_call_id.clone()))
    };
    blocks.filter_map(id).collect()
}

#[test]
fn calls_without_ids_get_ours_and_results_find_them() {
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let result = |name: &str| json!({"functionResponse": {"name": name, "response": {}}});
    let request = round(json!({"contents": [
        {"role": "model", "parts": [call("f"), call("g"), call("f")]},
        {"role": "user", "parts": [result("f"), result("f"), result("g")]},
        {"role": "model", "parts": [call("f")]},
        {"role": "user", "parts": [result("other name")]},
        {"role": "user", "parts": [result("nobody asked")]},
    ]}));
    let mut own = Ids::default();
    let [a, b, c, d, e] = [(); 5].map(|()| own.next_id());
    assert_eq!(ids(&request), [a.as_str(), &b, &c, &a, &c, &b, &d, &d, &e]);
    assert_eq!(a.len(), 22);
}

#[test]
fn given_ids_are_kept_and_half_given_ones_are_paired() {
    let request = round(json!({"contents": [
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "f"}}, {"functionCall": {"name": "g"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}, {"functionResponse": {"id": "r2", "name": "g", "response": {}}}]},
    ]}));
    assert_eq!(ids(&request), ["c1", "r2", "c1", "r2"]);
    // An id that we might have made ourselves is not used twice.
    let own = Ids::default().next_id();
    let request = round(json!({"contents": [
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"id": own, "name": "f"}}]},
    ]}));
    assert_ne!(ids(&request)[0], ids(&request)[1]);
}

use super::*;

/// Each step of a queue takes a call out of it or finds one, so that N results look at no more than N answered calls.
#[test]
fn the_work_grows_with_the_calls_and_not_with_their_square() {
    let count = 10_000;
    let mut calls: Vec<ToolCall> =
        (0..count).map(|_| ToolCall { name: "f".to_owned(), ..ToolCall::default() }).collect();
    let mut ids = FreshIds { taken: HashSet::new(), ids: Ids::default() };
    let mut turn = Turn::default();
    calls.iter_mut().for_each(|call| turn.add(call, &mut ids));
    let left = |turn: &Turn<'_>| turn.waiting.values().map(VecDeque::len).sum::<usize>();
    let mut own = Ids::default();
    for answered in 0..count {
        let mut result = ToolResult::default();
        result.provider_data.set_part(DIALECT, Part::Shape, NAME, "f");
        turn.answer(&mut result, &mut ids);
        assert_eq!(result.tool_call_id, own.next_id());
        // Only the answered calls before this one have left the queue of their name.
        assert_eq!(left(&turn), 3 * count - answered, "after {answered}");
    }
}

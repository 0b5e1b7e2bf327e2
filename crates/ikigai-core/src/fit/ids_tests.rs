use pretty_assertions::assert_eq;

use super::*;
use crate::{Message, Role, ToolCall, ToolResult};

const WORD: IdForm = IdForm::Rule(IdRule { longest: 20, characters: IdCharacters::Word, repeats: Repeats::Refused });
const VISIBLE: IdForm =
    IdForm::Rule(IdRule { longest: 20, characters: IdCharacters::Visible, repeats: Repeats::Taken });

fn called(ids: &[&str]) -> Request {
    let mut request = Request::new("m");
    for id in ids {
        let call = ToolCall { id: (*id).to_owned(), ..ToolCall::default() };
        request.messages.push(Message::assistant(Block::ToolCall(call)));
        let result = ToolResult { tool_call_id: (*id).to_owned(), ..ToolResult::default() };
        request.messages.push(Message::new(Role::Tool, Block::ToolResult(result)));
    }
    request
}

/// Returns the ids of calls and results as they are sent, one per pair.
fn sent(ids: &[&str], form: IdForm) -> Vec<String> {
    let request = called(ids);
    let mut made = CallIds::new(&request, form);
    let mut pairs = Vec::new();
    for block in request.messages.iter().flat_map(|message| &message.content) {
        let own = block.call_id().unwrap();
        let new = match block {
            Block::ToolCall(_) => made.of_call(own),
            _ => made.of_result(own),
        };
        pairs.push(new.unwrap_or_else(|| own.to_owned()));
    }
    assert!(pairs.chunks(2).all(|pair| pair[0] == pair[1]), "{pairs:?}");
    pairs.into_iter().step_by(2).collect()
}

#[test]
fn ids_that_fit_stay_and_others_follow_from_what_they_were() {
    let ids = ["call_1", "toolu.1", "much_too_long_for_this_rule", "", "abc def"];
    let first = sent(&ids, WORD);
    assert_eq!(first, sent(&ids, WORD), "always the same");
    assert_eq!(first[0], "call_1");
    assert!(first[1..].iter().all(|id| id.len() == 16 && WORD.takes(id)), "{first:?}");
    let visible = sent(&ids, VISIBLE);
    assert_eq!(visible[..2], ["call_1", "toolu.1"]);
    assert!(visible[2..].iter().all(|id| VISIBLE.takes(id)), "{visible:?}");
}

#[test]
fn some_providers_want_nine_letters_and_digits() {
    let nine = sent(&["abcdefghi", "call_1", "toolu_01"], IdForm::Nine);
    assert_eq!(nine[0], "abcdefghi");
    assert!(nine.iter().all(|id| id.len() == 9 && id.bytes().all(|c| c.is_ascii_alphanumeric())), "{nine:?}");
    assert_ne!(nine[1], nine[2]);
}

#[test]
fn an_id_that_comes_again_gets_a_new_form_where_that_is_needed() {
    let again = sent(&["call_0", "call_0", "call_0"], WORD);
    assert_eq!(again[0], "call_0");
    assert!(again[1] != again[0] && again[2] != again[1] && again[2] != again[0], "{again:?}");
    assert_eq!(sent(&["call_0", "call_0"], VISIBLE), ["call_0", "call_0"]);
}

#[test]
fn tens_of_thousands_of_repeated_ids_take_no_time_to_speak_of() {
    let ids = vec!["same"; 30_000];
    let sent: HashSet<String> = sent(&ids, WORD).into_iter().collect();
    assert_eq!(sent.len(), 30_000);
}

//! The checkers on generated values: they refuse nothing that the format allows, and never panic.

#![cfg(test)]

mod support {
    pub(crate) mod choices;
    pub(crate) mod generate;
}

use ikigai_core::events;
use ikigai_core::validate::{EventChecker, Problem};
use proptest::prelude::*;
use support::generate::{Reach, request, response, streamed};

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn streams_in_every_order_of_the_grammar_pass((_, events) in streamed(Reach::Everything)) {
        prop_assert_eq!(EventChecker::check(&events), Ok(()));
    }

    #[test]
    fn the_events_of_a_response_pass(response in response(Reach::Everything)) {
        prop_assert_eq!(EventChecker::check(&events(&response)), Ok(()));
    }

    #[test]
    fn a_stream_that_lost_an_event_of_its_frame_does_not_pass((_, events) in streamed(Reach::Plain), place in any::<prop::sample::Index>()) {
        let frame: Vec<usize> = events
            .iter()
            .enumerate()
            .filter(|(_, event)| {
                let json = serde_json::to_value(event).unwrap();
                !["text_delta", "thinking_delta", "usage", "other", "tool_call_delta"].contains(&json["type"].as_str().unwrap())
            })
            .map(|(place, _)| place)
            .collect();
        let lost = *place.get(&frame);
        let rest = events.iter().enumerate().filter(|(place, _)| *place != lost).map(|(_, event)| event);
        // An error may end a stream anywhere, so it may lack an end or a start before it.
        prop_assume!(!events.iter().any(|event| matches!(event, ikigai_core::Event::Error { .. })));
        prop_assert!(EventChecker::check(rest).is_err());
    }

    #[test]
    fn plain_requests_have_no_hard_problem(request in request(Reach::Plain)) {
        let hard: Vec<Problem> = request.problems().into_iter().filter(|problem| !problem.is_soft()).collect();
        prop_assert_eq!(hard, vec![]);
    }

    #[test]
    fn any_request_and_any_answer_can_be_checked(request in request(Reach::Everything), response in response(Reach::Everything)) {
        let hard = request.problems().iter().any(|problem| !problem.is_soft());
        prop_assert_eq!(request.validate().is_err(), hard);
        let hard = response.problems().iter().any(|problem| !problem.is_soft());
        prop_assert_eq!(response.validate().is_err(), hard);
        for problem in request.problems() {
            prop_assert!(problem.to_string().starts_with(problem.place()));
        }
    }
}

//! A watch reports what decoding gives, for any answer; and any bytes are survivable, split anywhere.

use ikigai_core::server::Delivery;
use ikigai_core::{Dialect, events};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::support::cases::cases;
use crate::support::generate::{Reach, response, streamed};
use crate::support::watching::{accounts, watched};
use crate::support::wire::{encode, reply};

/// Splits bytes into pieces at arbitrary places.
fn pieces<'a>(bytes: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.extend([0, bytes.len()]);
    ends.sort_unstable();
    ends.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn generated_answers_are_accounted_for(response in response(Reach::Plain)) {
        for dialect in Dialect::ALL {
            let body = String::from_utf8(dialect.encode_response(&response, &reply(dialect)).body).unwrap();
            let (found, wanted) = accounts(dialect, Delivery::Whole, body.as_bytes());
            prop_assert_eq!(found, wanted, "{}: {}", dialect, body);
            let stream = encode(dialect, dialect, &events(&response));
            let (found, wanted) = accounts(dialect, Delivery::Stream, &stream);
            prop_assert_eq!(found, wanted, "{}: {}", dialect, String::from_utf8_lossy(&stream));
        }
    }

    #[test]
    fn cuts_do_not_change_the_account(
        (response, events) in streamed(Reach::Everything), cuts in prop::collection::vec(any::<Index>(), 0..8),
        junk in prop::collection::vec((any::<Index>(), prop::collection::vec(any::<u8>(), 0..4), 0..4_usize), 0..3),
    ) {
        for dialect in Dialect::ALL {
            let body = dialect.encode_response(&response, &reply(dialect)).body;
            for (delivery, mut bytes) in
                [(Delivery::Stream, encode(dialect, dialect, &events)), (Delivery::Whole, body)]
            {
                prop_assert_eq!(watched(dialect, delivery, pieces(&bytes, &cuts)), watched(dialect, delivery, [bytes.as_slice()]));
                for (at, junk, gone) in &junk {
                    let at = at.index(bytes.len() + 1);
                    bytes.splice(at..(at + gone).min(bytes.len()), junk.iter().copied());
                }
                let spoiled = watched(dialect, delivery, [bytes.as_slice()]);
                prop_assert_eq!(watched(dialect, delivery, pieces(&bytes, &cuts)), spoiled, "{}: {}", dialect, String::from_utf8_lossy(&bytes));
            }
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), cuts in prop::collection::vec(any::<Index>(), 0..4)) {
        for dialect in Dialect::ALL {
            for delivery in [Delivery::Stream, Delivery::Whole] {
                let seen = watched(dialect, delivery, [bytes.as_slice()]);
                prop_assert_eq!(watched(dialect, delivery, pieces(&bytes, &cuts)), seen);
            }
        }
    }
}

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;

#[test]
fn money_is_shown_with_six_places_or_as_asked() {
    let shown = |pico| {
        let money = Money::from_pico(pico);
        (money.to_string(), format!("{money:.2}"), format!("{money:.0}"), format!("{money:#}"))
    };
    for (pico, six, two, none, exact) in [
        (0, "$0.000000", "$0.00", "$0", "$0"),
        (1_234_000_000, "$0.001234", "$0.00", "$0", "$0.001234"),
        (1, "$0.000000", "$0.00", "$0", "$0.000000000001"),
        (499_999, "$0.000000", "$0.00", "$0", "$0.000000499999"),
        (500_000, "$0.000001", "$0.00", "$0", "$0.0000005"),
        (-500_000, "-$0.000001", "$0.00", "$0", "-$0.0000005"),
        (2_500_000_000_000, "$2.500000", "$2.50", "$3", "$2.5"),
        (-12 * DOLLAR, "-$12.000000", "-$12.00", "-$12", "-$12"),
    ] {
        assert_eq!(shown(pico), (six.to_owned(), two.to_owned(), none.to_owned(), exact.to_owned()));
    }
    assert_eq!(format!("{:.99}", Money::from_pico(5)), "$0.000000000005");
    assert_eq!(format!("{:#}", Money::from_pico(i128::MAX)), "$170141183460469231731687303.715884105727");
    assert_eq!(format!("{:#}", Money::from_pico(i128::MIN)), "-$170141183460469231731687303.715884105728");
}

#[test]
fn texts_are_read_exactly_or_not_at_all() {
    for (text, pico) in
        [("0.25", DOLLAR / 4), ("$3", 3 * DOLLAR), ("-$0.5", -DOLLAR / 2), ("0.0000000000010", 1), ("007", 7 * DOLLAR)]
    {
        assert_eq!(text.parse(), Ok(Money::from_pico(pico)), "{text}");
    }
    for text in
        ["", "$", "-", ".", "1.", ".5", "1e3", "0.0000000000001", "1,5", "NaN", "inf", "+1", "--1", "1.2.3", "１"]
    {
        assert_eq!(text.parse::<Money>(), Err(NotMoney(text.to_owned())), "{text}");
    }
    let endless = "9".repeat(1000);
    assert_eq!(endless.parse::<Money>(), Err(NotMoney("9".repeat(60))));
}

#[test]
fn json_is_a_number_where_that_is_exact() {
    let written = |pico| serde_json::to_string(&Money::from_pico(pico)).unwrap();
    assert_eq!(written(300_000_000_000), "0.3");
    assert_eq!(written(3 * DOLLAR), "3.0");
    assert_eq!(written(1), "1e-12");
    assert_eq!(written(123_456_789 * DOLLAR + 123_456_789_012), r#""123456789.123456789012""#);
    assert_eq!(written(i128::MIN), r#""-170141183460469231731687303.715884105728""#);
    for (text, pico) in [
        ("0.30000000000000004", 300_000_000_000),
        ("3", 3 * DOLLAR),
        ("-2", -2 * DOLLAR),
        ("1e-12", 1),
        ("\"0.5\"", DOLLAR / 2),
    ] {
        assert_eq!(serde_json::from_str::<Money>(text).ok(), Some(Money::from_pico(pico)), "{text}");
    }
    for text in ["1e300", "\"x\"", "null", "[]", "\"1e3\""] {
        assert!(serde_json::from_str::<Money>(text).is_err(), "{text}");
    }
}

#[test]
fn sums_stop_at_the_greatest_amount() {
    let most = Money::from_pico(i128::MAX);
    assert_eq!(most.checked_add(Money::from_pico(1)), None);
    assert_eq!(Money::ZERO.checked_add(most), Some(most));
    assert_eq!(most + most, most);
    assert_eq!(Money::of(u64::MAX, u64::MAX), most);
    assert_eq!([most, Money::from_pico(1)].into_iter().sum::<Money>(), most);
    for money in [most, Money::from_pico(i128::MIN), Money::from_pico(i128::MIN + 1)] {
        assert!((money.rounded().pico() / MICRO - money.pico() / MICRO).abs() <= 1);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(pico in any::<i128>(), small in -10_i128.pow(16)..10_i128.pow(16)) {
        for pico in [pico, small] {
            let money = Money::from_pico(pico);
            let json = serde_json::to_string(&money).unwrap();
            prop_assert_eq!(serde_json::from_str::<Money>(&json).ok(), Some(money), "{}", json);
            if pico != i128::MIN {
                prop_assert_eq!(format!("{money:#}").parse(), Ok(money));
            }
        }
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,40}") {
        if let Ok(money) = text.parse::<Money>() {
            prop_assert_eq!(format!("{money:#}").parse(), Ok(money));
        }
    }

    #[test]
    fn rounding_is_to_the_nearest(pico in -10_i128.pow(20)..10_i128.pow(20)) {
        let rounded = Money::from_pico(pico).rounded();
        prop_assert_eq!(rounded.pico() % MICRO, 0);
        prop_assert!((rounded.pico() - pico).abs() * 2 <= MICRO);
        prop_assert_eq!(rounded.to_string(), Money::from_pico(pico).to_string());
    }
}

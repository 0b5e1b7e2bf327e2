//! How requests are adapted to a model, in every dialect.

mod alike;
mod conversation;
mod parameters;
mod table;
mod tools;

use super::*;
use crate::catalog::rules_for;
use crate::{LossCode, Severity, Tool};

pub(super) const LIMITS: Limits = Limits::client();

/// Calls `see` with a fitted request.
pub(super) fn with<T>(request: &Request, dialect: Dialect, quirks: &Quirks, see: impl FnOnce(&Fitted<'_>) -> T) -> T {
    let target = Target { provider: "p", quirks, rules: rules_for(&request.model), facts: None };
    see(&fit(request, &target, dialect, &LIMITS).expect("it can be fitted"))
}

/// Returns the losses for one field: severity, code, place.
pub(super) fn losses(request: &Request, dialect: Dialect, what: &str) -> Vec<(Severity, LossCode, String)> {
    with(request, dialect, &Quirks::NONE, |fitted| {
        let about = fitted.losses.iter().filter(|loss| loss.what == what);
        about.map(|loss| (loss.severity, loss.code, loss.place.clone())).collect()
    })
}

/// Returns all losses in short form.
pub(super) fn all(fitted: &Fitted<'_>) -> Vec<String> {
    let mark = |loss: &Loss| if loss.severity == Severity::Info { "info " } else { "" };
    fitted.losses.iter().map(|loss| format!("{}{:?} {}", mark(loss), loss.code, loss.place)).collect()
}

#[test]
fn a_missing_or_blank_model_is_an_error_in_every_dialect() {
    for model in ["", " ", "\t\n"] {
        for dialect in Dialect::ALL {
            let request = Request::new(model).user("Hello");
            let target = Target { provider: "p", quirks: &Quirks::NONE, rules: rules_for(model), facts: None };
            let error = fit(&request, &target, dialect, &LIMITS).expect_err("no model");
            assert_eq!((error.kind, error.param.as_deref()), (ErrorKind::InvalidRequest, Some("model")));
        }
    }
}

#[test]
fn a_request_that_still_names_its_model_goes_out_as_it_came() {
    let mut request = Request::new("claude-opus-4-7").user("Hello");
    request.temperature = Some(0.3);
    request.max_output_tokens = Some(1 << 40);
    request.stop = vec![" ".into(); 9];
    request.tools = vec![Tool::new("a.b", "")];
    for dialect in Dialect::ALL {
        let mut came = request.clone();
        came.provider_data.set_part(dialect, Part::Shape, "model", "claude-opus-4-7");
        with(&came, dialect, &Quirks::NONE, |fitted| {
            assert_eq!(fitted.spelling, Spelling::AsItCame);
            assert_eq!((fitted.temperature, fitted.max_output_tokens), (Some(0.3), Some(1 << 40)));
            let expected = match dialect {
                // A stop sequence cannot have come from there.
                Dialect::OpenaiResponses => (0, vec!["NotInDialect stop".to_owned()]),
                _ => (9, Vec::new()),
            };
            assert_eq!((fitted.stop.len(), all(fitted)), expected, "{dialect}");
            assert!(
                matches!(&fitted.tools[..], [FittedTool::Function { name, strict: Some(true), .. }] if name == "a.b")
            );
        });
        came.model = "claude-opus-4-8".into();
        with(&came, dialect, &Quirks::NONE, |fitted| assert_eq!(fitted.spelling, Spelling::Ours));
    }
}

#[test]
fn too_many_blocks_are_an_error_that_names_the_limit() {
    let mut limits = Limits::client();
    limits.blocks = 2;
    let request = Request::new("m").system("s").user("a").user("b");
    let target = Target { provider: "p", quirks: &Quirks::NONE, rules: rules_for("m"), facts: None };
    let error = fit(&request, &target, Dialect::Gemini, &limits).expect_err("three blocks");
    assert_eq!(error.code.as_deref(), Some("limit_reached"));
}

#[test]
fn the_wire_request_carries_the_names_and_the_losses_of_the_fit() {
    let mut request = Request::new("some-model").user("Hello");
    request.tools = vec![Tool::new("fs/read", "").lenient()];
    request.top_k = Some(3);
    request.seed = Some(7);
    for dialect in [Dialect::Anthropic, Dialect::OpenaiChat, Dialect::OpenaiResponses] {
        let target = Target { provider: "p", quirks: &Quirks::NONE, rules: rules_for("some-model"), facts: None };
        let wire = dialect.encode_request(&request, &target, &LIMITS).expect("it can be sent");
        let body = String::from_utf8(wire.body).expect("UTF-8");
        assert!(body.contains("\"fs_read\"") && !body.contains("fs/read"), "{dialect}: {body}");
        assert_eq!(wire.names.own("fs_read"), "fs/read");
        let fitted = with(&request, dialect, &Quirks::NONE, |fitted| fitted.losses.clone());
        assert_eq!(wire.losses, fitted, "{dialect}");
    }
}

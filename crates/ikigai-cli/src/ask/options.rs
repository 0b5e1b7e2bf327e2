//! `-o KEY VALUE`: further settings of a request.

use ikigai::Model;

use crate::exit::Failure;

const KNOWN: [&str; 6] = ["temperature", "top_p", "seed", "max_output_tokens", "thinking_budget", "stop"];

/// Applies these options to the model, each a key followed by a value.
pub(super) fn set(mut model: Model, options: &[String]) -> Result<Model, Failure> {
    for pair in options.chunks(2) {
        let [key, value] = pair else { return Err(Failure::usage("-o takes a key and a value")) };
        model = match key.as_str() {
            "temperature" => model.temperature(number(key, value)?),
            "top_p" => model.top_p(number(key, value)?),
            "seed" => model.seed(number(key, value)?),
            "max_output_tokens" => model.max_output_tokens(number(key, value)?),
            "thinking_budget" => model.thinking_budget(number(key, value)?),
            "stop" => model.stop_sequence(value),
            unknown => {
                let nearest = ikigai_core::near::nearest(unknown, KNOWN.into_iter(), 1);
                let nearest = nearest.first().map(|name| format!("Did you mean {name}? ")).unwrap_or_default();
                return Err(Failure::usage(format!("unknown option `{unknown}`"))
                    .hint(format!("{nearest}The options are {}.", KNOWN.join(", "))));
            }
        };
    }
    Ok(model)
}

fn number<T: std::str::FromStr>(key: &str, value: &str) -> Result<T, Failure> {
    value.parse().map_err(|_| Failure::usage(format!("{key} must be a number, not `{value}`")))
}

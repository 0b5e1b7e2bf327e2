//! The output format.

use std::borrow::Cow;

use super::abilities::{FormatStrict, JsonMode};
use super::schema::Parsed;
use super::{FittedFormat, Fitting};
use crate::{Block, Error, JsonSchemaFormat, Loss, LossCode, OutputFormat, Tool};

/// The name of a schema that has none but needs one.
const UNNAMED: &str = "answer";
const LONGEST_NAME: usize = 64;

const PLACE: &str = "output_format";
const SCHEMA: &str = "output_format.json_schema.schema";

/// The output format, and what must be said in the system prompt because there is no field for it.
#[derive(Debug, Default)]
pub(super) struct Format<'a> {
    pub(super) format: Option<FittedFormat<'a>>,
    pub(super) note: Option<String>,
}

impl<'a> Fitting<'a> {
    /// Returns the output format, as far as the model can be held to it.
    pub(super) fn format(&mut self) -> Result<Format<'a>, Error> {
        let request = self.request;
        let Some(format) = &request.output_format else { return Ok(Format::default()) };
        if let OutputFormat::JsonSchema(format) = format {
            self.foreign_fields(&format.provider_data, PLACE);
        }
        // No format is sent together with functions if the model accepts only one of the two.
        let has_functions = request.tools.iter().any(|tool| matches!(tool, Tool::Function(_)));
        let excluded = has_functions && !self.rules.tools_with_structured_output;
        match format {
            OutputFormat::Text => Ok(Format { format: Some(FittedFormat::Text), note: None }),
            OutputFormat::Json if excluded => {
                let note = self.ask_for_json(LossCode::RefusedByModel, BESIDE_FUNCTIONS);
                Ok(Format { format: None, note: Some(note) })
            }
            OutputFormat::Json => Ok(self.json()),
            OutputFormat::JsonSchema(format) if excluded => Ok(Format {
                format: None,
                note: Some(self.ask_for(format, LossCode::RefusedByModel, BESIDE_FUNCTIONS)),
            }),
            OutputFormat::JsonSchema(format) => self.schema(format),
        }
    }

    fn json(&mut self) -> Format<'a> {
        match self.abilities.json_mode {
            JsonMode::Taken => Format { format: Some(FittedFormat::Json), note: None },
            JsonMode::NeedsTheWord if self.prompt_speaks_of_json() => {
                Format { format: Some(FittedFormat::Json), note: None }
            }
            JsonMode::NeedsTheWord => {
                let why = "the prompt must speak of JSON; a sentence was added to the system prompt";
                self.losses.push(Loss::info(LossCode::Changed, PLACE, PLACE, why));
                Format { format: Some(FittedFormat::Json), note: Some("Answer in JSON.".to_owned()) }
            }
            JsonMode::Missing => {
                let why = "this API has no JSON mode without a schema";
                Format { format: None, note: Some(self.ask_for_json(LossCode::NotInDialect, why)) }
            }
        }
    }

    fn schema(&mut self, format: &'a JsonSchemaFormat) -> Result<Format<'a>, Error> {
        let refusal = if !self.rules.structured_output {
            Some((LossCode::RefusedByModel, "this model does not support schemas for answers"))
        } else if self.quirks.chat.no_json_schema {
            Some((LossCode::RefusedByProvider, "this provider does not support schemas for answers"))
        } else {
            None
        };
        if let Some((code, why)) = refusal {
            return Ok(self.without_schema(format, code, why));
        }
        let ability = self.abilities.schema_format;
        let parsed = Parsed::new(&format.schema, self.limits)?;
        let (schema, strict) = match (ability.strict, format.strict) {
            (FormatStrict::Said, Some(true)) => match parsed.strict(ability.subset) {
                Ok(fitting) => (fitting.schema, Some(true)),
                Err(fault) => {
                    let why = format!("{fault}; the schema is sent without strict");
                    self.losses.push(Loss::new(LossCode::Changed, "strict", "output_format.json_schema.strict", why));
                    (Cow::Borrowed(&format.schema), Some(false))
                }
            },
            (FormatStrict::Said, said) => (Cow::Borrowed(&format.schema), said),
            (FormatStrict::Always, said) => {
                self.note_always_strict(said);
                (Cow::Borrowed(&format.schema), None)
            }
            (FormatStrict::AlwaysOfSubset, said) => match parsed.trimmed(ability.subset) {
                Ok((fitting, removed)) => {
                    self.note_always_strict(said);
                    if !removed.is_empty() {
                        let why = format!("these keywords are refused here and are left out: {}", removed.join(", "));
                        self.losses.push(Loss::new(LossCode::Changed, PLACE, SCHEMA, why));
                    }
                    (fitting.schema, None)
                }
                Err(fault) => return Ok(self.without_schema(format, LossCode::NotInDialect, &fault)),
            },
        };
        let (name, description) = self.labels(format);
        Ok(Format { format: Some(FittedFormat::Schema { format, name, description, schema, strict }), note: None })
    }

    fn note_always_strict(&mut self, said: Option<bool>) {
        if said == Some(false) {
            let why = "an answer always follows its schema here";
            self.losses.push(Loss::info(LossCode::NotInDialect, "strict", "output_format.json_schema.strict", why));
        }
    }

    /// Requests JSON, with the schema in the prompt.
    fn without_schema(&mut self, format: &JsonSchemaFormat, code: LossCode, why: &str) -> Format<'a> {
        let json = match self.abilities.json_mode {
            // The prompt then mentions JSON.
            JsonMode::Taken | JsonMode::NeedsTheWord => Some(FittedFormat::Json),
            JsonMode::Missing => None,
        };
        Format { format: json, note: Some(self.ask_for(format, code, why)) }
    }

    fn ask_for(&mut self, format: &JsonSchemaFormat, code: LossCode, why: &str) -> String {
        self.losses.push(Loss::new(
            code,
            PLACE,
            PLACE,
            format!("{why}; the system prompt asks for JSON of this schema"),
        ));
        let description = format.description.as_deref().map(|text| format!(" ({text})")).unwrap_or_default();
        format!("Answer with JSON that matches this JSON Schema{description}, and nothing else:\n{}", format.schema)
    }

    fn ask_for_json(&mut self, code: LossCode, why: &str) -> String {
        self.losses.push(Loss::new(code, PLACE, PLACE, format!("{why}; the system prompt asks for JSON")));
        "Answer with one valid JSON value and nothing else.".to_owned()
    }

    /// Returns the name and the description of a schema.
    pub(super) fn labels(&mut self, format: &'a JsonSchemaFormat) -> (Option<Cow<'a, str>>, Option<&'a str>) {
        if self.abilities.schema_format.labels.is_taken() {
            return (Some(self.schema_name(format)), format.description.as_deref());
        }
        if format.name.is_some() {
            let why = "schemas have no names here";
            self.losses.push(Loss::info(LossCode::NotInDialect, "name", "output_format.json_schema.name", why));
        }
        if format.description.is_some() {
            let place = "output_format.json_schema.description";
            let why = "schemas have no descriptions here; left out";
            self.losses.push(Loss::new(LossCode::NotInDialect, "description", place, why));
        }
        (None, None)
    }

    /// Returns a name, which is required, with only the characters that are accepted.
    fn schema_name(&mut self, format: &'a JsonSchemaFormat) -> Cow<'a, str> {
        let Some(name) = format.name.as_deref().filter(|name| !name.is_empty()) else { return UNNAMED.into() };
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.len() <= LONGEST_NAME && name.chars().all(fits) {
            return Cow::Borrowed(name);
        }
        let safe: String = name.chars().take(LONGEST_NAME).map(|c| if fits(c) { c } else { '_' }).collect();
        let why = format!("a name has up to {LONGEST_NAME} letters, digits, _ and -; `{safe}` is sent");
        self.losses.push(Loss::info(LossCode::Renamed, "name", "output_format.json_schema.name", why));
        Cow::Owned(safe)
    }

    fn prompt_speaks_of_json(&self) -> bool {
        let speaks = |text: &str| text.as_bytes().windows(4).any(|word| word.eq_ignore_ascii_case(b"json"));
        let system = self.request.system.iter();
        let said = self.request.messages.iter().flat_map(|message| &message.content);
        system.chain(said).filter_map(Block::as_text).any(speaks)
    }
}

const BESIDE_FUNCTIONS: &str = "this model does not accept an output format together with functions";

//! Structured output: values instead of text.
//!
//! Models with native structured output use it; others return the value through a tool that they have to call. The
//! value is checked. If it does not match, the answer goes back to the model once, along with the faults found.

mod partial;
mod schema;
mod stream;

use ikigai_core::catalog::ForcedTools;
use ikigai_core::{
    Block, ErrorKind, FinishReason, JsonSchemaFormat, Message, OutputFormat, Prompt, Role, Tool, ToolCall, ToolChoice,
    user,
};
use serde_json::Value;

use crate::answer::Answer;
use crate::error::{Error, Mismatch};
use crate::model::Model;
use crate::turn::Turn;

pub(crate) use schema::ValueSchema;
pub use stream::ObjectStream;

/// How the model is asked for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// The provider enforces the schema.
    Native,
    /// The model has to call a tool whose arguments are the value.
    Tool,
}

impl Model {
    /// Asks for a Rust value.
    ///
    /// ```
    /// use ikigai::schemars::{self, JsonSchema};
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Invoice {
    ///     number: u32,
    ///     /// In euros.
    ///     amount: f64,
    ///     days_to_pay: Option<u16>,
    /// }
    ///
    /// # async fn f() -> Result<(), ikigai::Error> {
    /// let invoice: Invoice = ikigai::model("openai:gpt-5.4-mini")?
    ///     .extract("Invoice 4711 of 3 May, 120 euros, due in 30 days.")
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no answer, or if it does not match the type even after the model was told what is
    /// wrong.
    #[cfg(feature = "schema")]
    pub async fn extract<T>(&self, prompt: impl Into<Prompt>) -> Result<T, Error>
    where
        T: serde::de::DeserializeOwned + schemars::JsonSchema,
    {
        Ok(self.extract_with_answer(prompt).await?.0)
    }

    /// Like [`extract`](Model::extract), but also returns the answer, with its usage and cost.
    ///
    /// # Errors
    /// Same as [`extract`](Model::extract).
    #[cfg(feature = "schema")]
    pub async fn extract_with_answer<T>(&self, prompt: impl Into<Prompt>) -> Result<(T, Answer), Error>
    where
        T: serde::de::DeserializeOwned + schemars::JsonSchema,
    {
        let extraction = Extraction::new(self, ValueSchema::of::<T>()?, prompt.into());
        let answer = Turn::begin(&extraction.model, extraction.context.clone())?.run().await?;
        extraction.settle(answer, read::<T>).await
    }

    /// Asks for JSON that matches a schema.
    ///
    /// # Errors
    /// Same as [`extract`](Model::extract); also if the schema is invalid.
    pub async fn extract_json(&self, schema: Value, prompt: impl Into<Prompt>) -> Result<Value, Error> {
        let extraction = Extraction::new(self, ValueSchema::new("answer", None, schema)?, prompt.into());
        let answer = Turn::begin(&extraction.model, extraction.context.clone())?.run().await?;
        Ok(extraction.settle(answer, Ok).await?.0)
    }

    /// Asks for a Rust value and streams it while it is being written.
    ///
    /// # Errors
    /// Returns an error if the answer does not even start.
    #[cfg(feature = "schema")]
    pub async fn extract_stream<T>(&self, prompt: impl Into<Prompt>) -> Result<ObjectStream<T>, Error>
    where
        T: serde::de::DeserializeOwned + schemars::JsonSchema,
    {
        ObjectStream::open(Extraction::new(self, ValueSchema::of::<T>()?, prompt.into())).await
    }

    /// Like [`extract_stream`](Model::extract_stream), for JSON that matches a schema.
    ///
    /// # Errors
    /// Returns an error if the schema is invalid, or if the answer does not start.
    pub async fn extract_json_stream(
        &self,
        schema: Value,
        prompt: impl Into<Prompt>,
    ) -> Result<ObjectStream<Value>, Error> {
        ObjectStream::open(Extraction::new(self, ValueSchema::new("answer", None, schema)?, prompt.into())).await
    }

    /// Returns the best way to ask this model for a value.
    fn way(&self) -> Method {
        let plan = &self.plan;
        let Ok(route) = self.client.registry().route(&plan.name) else { return Method::Native };
        let has_tools = plan.request.tools.iter().any(|tool| tool.as_function().is_some());
        let native = route.rules.structured_output
            && route.facts.and_then(|facts| facts.structured_output) != Some(false)
            && !route.provider.quirks.chat.no_json_schema
            && (!has_tools || route.rules.tools_with_structured_output);
        let tools = route.facts.and_then(|facts| facts.tools) != Some(false)
            && route.rules.forced_tools != ForcedTools::Refused;
        if native || !tools { Method::Native } else { Method::Tool }
    }
}

/// A requested value.
pub(crate) struct Extraction {
    pub(crate) model: Model,
    pub(crate) context: Prompt,
    shape: ValueSchema,
    way: Method,
}

impl Extraction {
    pub(crate) fn new(model: &Model, shape: ValueSchema, context: Prompt) -> Self {
        let way = model.way();
        let model = model.clone().change(|plan| match way {
            Method::Native => {
                let mut format = JsonSchemaFormat::new(&shape.name, shape.schema.clone());
                format.description.clone_from(&shape.description);
                plan.request.output_format = Some(OutputFormat::JsonSchema(format));
            }
            Method::Tool => {
                let told = shape.description.as_deref().unwrap_or("Gives the answer.");
                let tool = Tool::new(&shape.name, told).parameters(shape.schema.clone());
                // If there are other tools, the model calls this one when it is ready.
                let alone = plan.request.tools.is_empty();
                let choice = if alone { ToolChoice::Specific(shape.name.clone()) } else { ToolChoice::Required };
                plan.request.tool_choice = Some(choice);
                plan.settings.forced_throughout = true;
                plan.request.tools.push(tool.clone());
                plan.settings.tools.push(tool.into());
            }
        });
        Extraction { model, context, shape, way }
    }

    /// Reads the value in an answer. If it does not match, the model is asked once to fix it.
    pub(crate) async fn settle<T>(
        self,
        answer: Answer,
        read: fn(Value) -> Result<T, String>,
    ) -> Result<(T, Answer), Error> {
        let mismatch = match self.value(&answer, read) {
            Ok(value) => return Ok((value, answer)),
            Err(Fault::Final(error)) => return Err(error.at(answer.model()).with_partial(answer.into_response())),
            Err(Fault::Mendable(mismatch)) => mismatch,
        };
        let mut context = self.context.clone();
        context.extend(answer.messages().iter().cloned());
        context.extend([self.complaint(&answer, &mismatch)]);
        let again = Turn::begin(&self.model, context)?.run().await?.after(answer);
        match self.value(&again, read) {
            Ok(value) => Ok((value, again)),
            Err(Fault::Final(error)) => Err(error.at(again.model()).with_partial(again.into_response())),
            Err(Fault::Mendable(mismatch)) => {
                Err(Error::new(mismatch).at(again.model()).with_partial(again.into_response()))
            }
        }
    }

    /// Checks the size, because text that is parsed into a value takes many times its own size.
    fn check_size(&self, text: &str) -> Result<(), Error> {
        Ok(self.model.client.limits().check_answer(text.as_bytes())?)
    }

    fn value<T>(&self, answer: &Answer, read: fn(Value) -> Result<T, String>) -> Result<T, Fault> {
        match answer.finish_reason() {
            FinishReason::ContentFilter => {
                let told = format!("the model refused: {}", answer.text());
                return Err(Fault::Final(ikigai_core::Error::new(ErrorKind::ContentFiltered, told).into()));
            }
            FinishReason::Length => {
                let cut = "the answer was cut off by the token limit; raise `max_output_tokens`".to_owned();
                return Err(Fault::Final(Error::new(Mismatch { faults: vec![cut], text: answer.text() })));
            }
            // Whatever ended the answer, it may be complete: parsing it decides.
            _ => {}
        }
        let (value, text) = match self.call(answer) {
            Some(call) if call.is_complete() => {
                (Ok(Value::Object(call.arguments.object().clone())), call.arguments.text().to_owned())
            }
            Some(call) => (Err("the arguments are not a JSON object".to_owned()), call.arguments.text().to_owned()),
            None => {
                let text = answer.text();
                self.check_size(&text).map_err(Fault::Final)?;
                (parse(&text), text)
            }
        };
        let mendable = |faults: Vec<String>| Fault::Mendable(Mismatch { faults, text: text.clone() });
        let value = self.shape.check(value.map_err(|fault| mendable(vec![fault]))?).map_err(mendable)?;
        read(value).map_err(|fault| mendable(vec![fault]))
    }

    /// Returns the call that contains the value, if it is requested through a tool.
    fn call<'a>(&self, answer: &'a Answer) -> Option<&'a ToolCall> {
        let name = self.tool()?;
        answer.tool_calls().find(|call| call.name == name)
    }

    /// Returns the message to the model about an answer that does not match.
    fn complaint(&self, answer: &Answer, mismatch: &Mismatch) -> Message {
        let again = match self.tool() {
            Some(tool) => format!("Call `{tool}` with the whole answer, corrected."),
            None => "Give the whole answer again, corrected, and nothing else.".to_owned(),
        };
        let told = format!("This does not match the schema:\n- {}\n{again}", mismatch.faults.join("\n- "));
        let results: Vec<Block> = answer.tool_calls().map(|call| Block::tool_error(&call.id, told.as_str())).collect();
        if results.is_empty() { user(told) } else { Message::new(Role::Tool, results) }
    }

    /// Returns the name of the tool whose arguments are the value.
    pub(crate) fn tool(&self) -> Option<&str> {
        (self.way == Method::Tool).then_some(self.shape.name.as_str())
    }

    pub(crate) fn shape(&self) -> &ValueSchema {
        &self.shape
    }
}

/// Why an answer contains no value.
enum Fault {
    /// The model can fix it.
    Mendable(Mismatch),
    /// The model cannot fix it.
    Final(Error),
}

/// Parses a text as JSON. Some models put a fence around it.
fn parse(text: &str) -> Result<Value, String> {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let inner = inner.and_then(|inner| inner.strip_suffix("```")).unwrap_or(text);
    serde_json::from_str(inner.trim()).map_err(|fault| format!("the answer is not JSON: {fault}"))
}

/// Converts a value to a Rust type; an error says where it does not fit.
pub(crate) fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|fault| {
        let path = fault.path().to_string();
        if path == "." { fault.into_inner().to_string() } else { format!("{path}: {}", fault.into_inner()) }
    })
}

#[cfg(test)]
#[cfg(feature = "schema")]
mod extract_tests;

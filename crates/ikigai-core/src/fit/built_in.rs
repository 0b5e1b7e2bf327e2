//! Requests for provider-run tools: which of them the target has, and how to ask for them.

use std::borrow::Cow;

use serde_json::json;

use super::Place;
use crate::dialect::hosted::{self, Asked, Company};
use crate::wire::Target;
use crate::{Block, BuiltIn, Dialect, Json, Loss, LossCode, Other, OutputFormat, Part, Request, Role, Tool};

/// Writes all requests for provider-run tools in the terms of one dialect; everything after this treats them as the
/// dialect's own.
pub(crate) fn ask<'a>(
    request: Cow<'a, Request>,
    target: &Target<'_>,
    dialect: Dialect,
    losses: &mut Vec<Loss>,
) -> Cow<'a, Request> {
    if !request.tools.iter().any(|tool| matches!(tool, Tool::BuiltIn(_))) {
        return request;
    }
    let mut request = request.into_owned();
    let conflict = conflict(&request, target, dialect);
    let count = request.tools.iter().filter(|tool| matches!(tool, Tool::BuiltIn(_))).count();
    let company = if count == 1 { Company::Alone } else { Company::Others };
    let mut tools = Vec::with_capacity(request.tools.len());
    let mut is_new = false;
    let mut included: Vec<&str> = Vec::new();
    for (index, tool) in std::mem::take(&mut request.tools).into_iter().enumerate() {
        let Tool::BuiltIn(built_in) = tool else {
            tools.push(tool);
            continue;
        };
        let place = Place::Tool(index).to_string();
        let mut lose = |code, why: String| losses.push(Loss::new(code, built_in.tool().as_str(), place.clone(), why));
        // Unchanged, for the dialect it was written for.
        if let Some(entry) = hosted::as_it_came(&built_in, dialect) {
            let Asked { tool, top, .. } = hosted::placed(entry, dialect);
            tools.extend(tool.map(|entry| own(dialect, entry)));
            request.provider_data.extend_part(dialect, Part::Extra, top);
            continue;
        }
        if let Some(why) = conflict {
            lose(LossCode::Conflict, why.to_owned());
            continue;
        }
        let Some(asked) = hosted::ask(&built_in, dialect, company, target) else {
            lose(LossCode::NotInDialect, "this API has no such tool; left out".to_owned());
            continue;
        };
        is_new = true;
        let Asked { tool: entry, top, betas, files, include, lost, emulated } = asked;
        included.extend(include.filter(|name| !included.contains(name)));
        if let Some(why) = emulated {
            lose(LossCode::Changed, why.to_owned());
        }
        for option in lost {
            lose(LossCode::NotInDialect, format!("`{option}` has no place here; left out"));
        }
        note_unknown(&built_in, dialect, &mut lose);
        tools.extend(entry.map(|entry| own(dialect, entry)).filter(|entry| !tools.contains(entry)));
        request.provider_data.extend_part(dialect, Part::Extra, top);
        hosted::name_features(&mut request.provider_data, dialect, &betas);
        let user = request.messages.iter_mut().rev().find(|message| message.role == Role::User);
        if let Some(user) = user {
            user.content.extend(files.into_iter().map(|data| Block::Other(Other { dialect, data })));
        }
    }
    let has_functions = tools.iter().any(|tool| matches!(tool, Tool::Function(_)));
    if dialect == Dialect::Gemini && is_new && has_functions && !target.quirks.gemini.no_tool_invocations {
        let config = json!({"includeServerSideToolInvocations": true});
        request.provider_data.set_part(dialect, Part::Extra, "toolConfig", config);
    }
    if !included.is_empty() {
        request.provider_data.set_part(dialect, Part::Shape, hosted::INCLUDE, json!(included));
    }
    request.tools = tools;
    Cow::Owned(request)
}

fn own(dialect: Dialect, data: Json) -> Tool {
    Tool::other(Other { dialect, data })
}

/// Returns why the target accepts none of its tools in this request.
fn conflict(request: &Request, target: &Target<'_>, dialect: Dialect) -> Option<&'static str> {
    if dialect != Dialect::Gemini || target.rules.mixed_tools {
        return None;
    }
    if request.tools.iter().any(|tool| tool.as_function().is_some()) {
        return Some("this model does not accept provider-run tools together with functions; left out");
    }
    let formatted = !matches!(request.output_format, None | Some(OutputFormat::Text));
    formatted.then_some("this model does not accept provider-run tools together with an output format; left out")
}

/// Reports the options that only another dialect has.
fn note_unknown(tool: &BuiltIn, dialect: Dialect, lose: &mut impl FnMut(LossCode, String)) {
    for (name, extra) in tool.provider_data().parts(Part::Extra).filter(|(name, _)| *name != dialect.as_str()) {
        let names: Vec<&str> = extra.names().collect();
        lose(LossCode::ForeignContent, format!("only {name} knows {}; left out", names.join(", ")));
    }
}

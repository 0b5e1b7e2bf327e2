//! What Anthropic's Messages and Amazon's Converse accept in the same places.

use crate::fit::{Place, StateUse};
use crate::{Block, Dialect, Loss, LossCode, Part, ProviderData, Role};

/// The placeholder for a missing first message of the user's.
pub(super) const BEGIN: &str = "(begin)";
/// Why it is sent.
pub(super) const WHY_BEGIN: &str = "the user must send the first message here; a placeholder is sent before it";
/// Why a text is left out.
pub(super) const BLANK: &str = "blank text is refused; left out";

/// The data of a block whose own data is not sent.
static NOTHING: ProviderData = ProviderData::NONE;

/// Returns what this dialect left on a block, unless another provider of the same dialect did.
pub(super) fn own_data<'a>(
    block: &'a Block,
    dialect: Dialect,
    place: Place,
    state: StateUse,
    losses: &mut Vec<Loss>,
) -> &'a ProviderData {
    let data = block.provider_data().unwrap_or(&NOTHING);
    if state == StateUse::Own {
        return data;
    }
    let names: Vec<&str> = data.part(dialect, Part::Extra).names().collect();
    if !names.is_empty() {
        let why = format!("what another provider left here is not sent: {}", names.join(", "));
        losses.push(Loss::new(LossCode::ForeignContent, "provider_data", place.to_string(), why));
    }
    &NOTHING
}

/// Returns the loss of a block that these APIs refuse in a message with this role. What is in a result is a tool's.
pub(super) fn refusal(block: &Block, place: Place, role: Role) -> Option<Loss> {
    let kind = block.kind().as_str();
    let is_inner = matches!(place, Place::Inner(..));
    let (code, why) = match block {
        Block::Audio(_) => (LossCode::Media, "this API accepts no audio; left out".to_owned()),
        Block::ToolCall(_)
        | Block::ToolResult(_)
        | Block::ProviderCall(_)
        | Block::ProviderResult(_)
        | Block::Thinking(_)
            if is_inner =>
        {
            (LossCode::NotInDialect, "tool results hold text, pictures and documents; left out".to_owned())
        }
        Block::Thinking(_) if role != Role::Assistant => {
            (LossCode::NotInDialect, "only the assistant can think here; left out".to_owned())
        }
        Block::Image(_) | Block::Document(_) if matches!(role, Role::Assistant | Role::System) => {
            (LossCode::Media, format!("only users and tools can send {kind} blocks here; left out"))
        }
        _ => return None,
    };
    Some(Loss::new(code, kind, place.to_string(), why))
}

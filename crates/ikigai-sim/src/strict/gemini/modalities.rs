//! What an answer should consist of, other than text: pictures and speech.

use serde_json::Value;

use super::parameters::{is_vertex, setting, unknown};
use super::{Refusal, Wire, invalid, member, members, model};
use crate::models;

const MODALITIES: &[&str] = &["MODALITY_UNSPECIFIED", "TEXT", "IMAGE", "AUDIO"];
const RATIOS: &[&str] = &["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];
const VOICES: &[&str] = &[
    "achernar",
    "achird",
    "algenib",
    "algieba",
    "alnilam",
    "aoede",
    "autonoe",
    "callirrhoe",
    "charon",
    "despina",
    "enceladus",
    "erinome",
    "fenrir",
    "gacrux",
    "iapetus",
    "kore",
    "laomedeia",
    "leda",
    "orus",
    "puck",
    "pulcherrima",
    "rasalgethi",
    "sadachbia",
    "sadaltager",
    "schedar",
    "sulafat",
    "umbriel",
    "vindemiatrix",
    "zephyr",
    "zubenelgenubi",
];

fn asked<'a>(wire: &Wire<'a>) -> impl Iterator<Item = &'a str> {
    let list = setting(wire, "responseModalities").and_then(Value::as_array);
    list.into_iter().flatten().map(|word| word.as_str().unwrap_or_default())
}

pub(super) fn known(wire: &Wire<'_>) -> Result<(), Refusal> {
    let is_known = |word: &str| MODALITIES.iter().any(|known| known.eq_ignore_ascii_case(word));
    match asked(wire).enumerate().find(|(_, word)| !is_known(word)) {
        Some((place, word)) => Err(invalid(format!(
            "Invalid value at 'generation_config.response_modalities[{place}]' (type.googleapis.com/google.ai.generativelanguage.v1beta.GenerationConfig.Modality), \"{word}\""
        ))),
        None => Ok(()),
    }
}

pub(super) fn of_the_model(wire: &Wire<'_>) -> Result<(), Refusal> {
    let model = model(wire);
    let (draws, speaks) = (models::google_draws(model), models::google_speaks(model));
    let fits = |word: &str| match word.to_ascii_uppercase().as_str() {
        "IMAGE" => draws,
        "AUDIO" => speaks,
        "TEXT" => !speaks || draws,
        _ => true,
    };
    if asked(wire).all(fits) {
        return Ok(());
    }
    let words: Vec<&str> = asked(wire).collect();
    let takes = if speaks {
        "* AUDIO"
    } else if draws {
        "* IMAGE, TEXT"
    } else {
        "* TEXT"
    };
    Err(invalid(format!(
        "The requested combination of response modalities ({}) is not supported by the model. models/{model} accepts the following combination of response modalities:\n{takes}\n",
        words.join(", ")
    )))
}

pub(super) fn fields(wire: &Wire<'_>) -> Result<(), Refusal> {
    // Vertex has more of them.
    if is_vertex(wire) {
        return Ok(());
    }
    let speech = ["voiceConfig", "multiSpeakerVoiceConfig", "languageCode"];
    let image = ["aspectRatio", "imageSize"];
    for (name, place, fields) in
        [("speechConfig", "speech_config", &speech[..]), ("imageConfig", "image_config", &image)]
    {
        if let Some(field) = setting(wire, name).and_then(|config| unknown(config, fields)) {
            return Err(invalid(format!(
                "Invalid JSON payload received. Unknown name \"{field}\" at 'generation_config.{place}': Cannot find field."
            )));
        }
    }
    Ok(())
}

pub(super) fn voices(wire: &Wire<'_>) -> Result<(), Refusal> {
    let Some(config) = setting(wire, "speechConfig") else { return Ok(()) };
    let several = member(config, "multiSpeakerVoiceConfig").map(|several| members(several, "speakerVoiceConfigs"));
    let each = several.into_iter().flatten().chain([config]).filter_map(|one| member(one, "voiceConfig"));
    for voice in each {
        let name = member(voice, "prebuiltVoiceConfig").and_then(|prebuilt| member(prebuilt, "voiceName")?.as_str());
        if let Some(name) = name.filter(|name| !VOICES.contains(&name.to_lowercase().as_str())) {
            let allowed = VOICES.join(", ");
            return Err(invalid(format!("Voice name {name} is not supported. Allowed voice names are: {allowed}")));
        }
    }
    Ok(())
}

pub(super) fn ratio(wire: &Wire<'_>) -> Result<(), Refusal> {
    let ratio = setting(wire, "imageConfig").and_then(|config| member(config, "aspectRatio"));
    match ratio.filter(|ratio| !RATIOS.iter().any(|known| ratio == known)) {
        Some(ratio) => Err(invalid(format!("aspect_ratio must be one of {}, but got {ratio}.", RATIOS.join(", ")))),
        None => Ok(()),
    }
}

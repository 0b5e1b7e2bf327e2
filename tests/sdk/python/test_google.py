import base64
import json

import pytest
from google import genai
from google.genai import errors, types
from pydantic import BaseModel

from conftest import FILLED, PEOPLE, PNG, STEPS, URL, WEATHER, WRITTEN, png_size, post, received

client = genai.Client(api_key="key", http_options=types.HttpOptions(base_url=URL))
MODEL = "gemini-2.5-flash"

TOOLS = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(name=name, description="…", parameters_json_schema=WEATHER)
        for name in ("get_weather", "get_time")
    ]
)
MANUAL = types.AutomaticFunctionCallingConfig(disable=True)


def ask(contents, model=MODEL, **config):
    return client.models.generate_content(
        model=model, contents=contents, config=types.GenerateContentConfig(**config)
    )


def test_text():
    answer = ask("What is 2+2?")
    assert (answer.text, answer.candidates[0].finish_reason) == ("2+2 = 4", types.FinishReason.STOP)
    usage = answer.usage_metadata
    parts = [usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count]
    assert usage.total_token_count == sum(part or 0 for part in parts) > 0


def test_stream():
    chunks = list(client.models.generate_content_stream(model=MODEL, contents="count to 20"))
    assert len(chunks) > 3
    assert "".join(chunk.text or "" for chunk in chunks) == ", ".join(str(n) for n in range(1, 21))
    assert chunks[-1].usage_metadata.candidates_token_count > 0 and chunks[-1].model_version


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-3-pro-preview"])
def test_thinking_with_a_tool_loop_over_three_turns(model):
    config = dict(
        tools=[TOOLS], automatic_function_calling=MANUAL, thinking_config=types.ThinkingConfig(include_thoughts=True)
    )
    history = [types.UserContent('Call get_weather with city="Oslo" then call get_time with city="Oslo".')]
    for expected in ("get_weather", "get_time"):
        answer = ask(history, model=model, **config)
        content = answer.candidates[0].content
        assert content.parts[0].thought and content.parts[0].text
        (part,) = [part for part in content.parts if part.function_call]
        assert (part.function_call.name, part.function_call.args) == (expected, {"city": "Oslo"})
        assert part.thought_signature
        history += [
            content,
            types.Content(
                role="user",
                parts=[
                    types.Part(
                        function_response=types.FunctionResponse(
                            id=part.function_call.id, name=expected, response={"output": "fine"}
                        )
                    )
                ],
            ),
        ]
    assert ask(history, model=model, **config).text == "get_time answered: fine"
    if model.startswith("gemini-3"):
        for content in history:
            for part in content.parts:
                part.thought_signature = None
        with pytest.raises(errors.ClientError, match="missing a thought_signature"):
            ask(history, model=model, **config)


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "gemini-3-pro-preview"])
def test_three_turns_of_tools_in_the_words_of_a_person(model):
    config = types.GenerateContentConfig(
        tools=[TOOLS], automatic_function_calling=MANUAL, thinking_config=types.ThinkingConfig(include_thoughts=True)
    )
    # The chat sends every streamed chunk back as a content of its own.
    chat, message, seen = client.chats.create(model=model, config=config), PEOPLE, []
    while message:
        chunks = list(chat.send_message_stream(message))
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
        calls = [part.function_call for part in parts if part.function_call]
        seen += [(call.name, call.args) for call in calls]
        message = [
            types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"output": "fine"}))
            for call in calls
        ]
    said = "".join(part.text for part in parts if part.text and not part.thought)
    assert (seen, said) == (STEPS, "get_weather answered: fine")


def test_a_schema_in_the_prompt_is_filled():
    assert json.loads(ask(WRITTEN, response_mime_type="application/json").text) == FILLED


def test_automatic_function_calling():
    def get_weather(city: str) -> str:
        """The weather of a city."""
        return f"4 °C in {city}"

    answer = ask('Call get_weather with city="Oslo".', tools=[get_weather])
    assert "4 °C in Oslo" in answer.text


def test_parallel_tools():
    answer = ask("Use get_weather and get_time for Bergen.", tools=[TOOLS], automatic_function_calling=MANUAL)
    assert [call.name for call in answer.function_calls] == ["get_weather", "get_time"]


class Invoice(BaseModel):
    number: int
    amount: float
    currency: str


def test_structured_output_with_the_typed_helper():
    answer = ask(
        'number=4711, amount=120.5, currency "EUR"', response_mime_type="application/json", response_schema=Invoice
    )
    assert answer.parsed == Invoice(number=4711, amount=120.5, currency="EUR")


def test_an_image_is_seen():
    picture = types.Part.from_bytes(data=base64.b64decode(PNG), mime_type="image/png")
    assert ask(["Look", picture]).text.startswith("I see an image (image/png, ")


def test_tokens_are_counted():
    count = client.models.count_tokens(model=MODEL, contents="How many tokens?").total_tokens
    assert count == ask("How many tokens?").usage_metadata.prompt_token_count


def test_embeddings():
    one = client.models.embed_content(
        model="gemini-embedding-001", contents="a red apple", config=types.EmbedContentConfig(output_dimensionality=8)
    )
    assert [len(item.values) for item in one.embeddings] == [8]
    two = client.models.embed_content(model="gemini-embedding-001", contents=["a", "b"])
    assert [len(item.values) for item in two.embeddings] == [3072, 3072]


def test_pictures_are_drawn():
    config = types.GenerateContentConfig(response_modalities=["TEXT", "IMAGE"], image_config=types.ImageConfig(aspect_ratio="3:2"))
    drawn = client.models.generate_content(model="gemini-2.5-flash-image", contents="a fox", config=config)
    text, picture = drawn.candidates[0].content.parts
    assert (text.text, picture.inline_data.mime_type) == ("Here is your picture.", "image/png")
    assert png_size(picture.inline_data.data) == (64, 42)
    assert drawn.usage_metadata.candidates_tokens_details[0].modality == types.MediaModality.IMAGE
    with pytest.raises(errors.ClientError):
        client.models.generate_content(model="gemini-2.5-pro", contents="a fox", config=config)


def test_speech_is_spoken_and_written_down():
    voice = types.VoiceConfig(prebuilt_voice_config=types.PrebuiltVoiceConfig(voice_name="Kore"))
    config = types.GenerateContentConfig(response_modalities=["AUDIO"], speech_config=types.SpeechConfig(voice_config=voice))
    spoken = client.models.generate_content(
        model="gemini-2.5-flash-preview-tts", contents="Say cheerfully: Have a wonderful day!", config=config
    )
    sound = spoken.candidates[0].content.parts[0].inline_data
    assert sound.mime_type == "audio/L16;codec=pcm;rate=24000"
    heard = client.models.generate_content(
        model=MODEL, contents=[types.Part.from_bytes(data=sound.data, mime_type="audio/wav"), "Transcribe this audio."]
    )
    assert heard.text == "Have a wonderful day!"


def test_models_are_listed():
    assert "models/" + MODEL in [model.name for model in client.models.list()]


def test_chats_keep_their_history():
    chat = client.chats.create(model=MODEL)
    chat.send_message("My favourite number is 7.")
    assert chat.send_message("What is my favourite number?").text == "Your favourite number is 7."


def test_stop_and_length():
    assert ask("count to 9", stop_sequences=[", 4"]).text == "1, 2, 3"
    cut = ask("count to 900", max_output_tokens=5, thinking_config=types.ThinkingConfig(thinking_budget=0))
    assert cut.candidates[0].finish_reason == types.FinishReason.MAX_TOKENS


@pytest.mark.parametrize(
    "status, error",
    [(400, errors.ClientError), (403, errors.ClientError), (429, errors.ClientError), (500, errors.ServerError), (503, errors.ServerError)],
)
def test_errors_have_their_classes(status, error):
    with pytest.raises(error) as raised:
        ask("x", http_options=types.HttpOptions(headers={"x-sim-fault": f"status={status}"}, retry_options=types.HttpRetryOptions(attempts=1)))
    assert raised.value.code == status


def test_an_unknown_model_is_not_found():
    with pytest.raises(errors.ClientError) as raised:
        ask("x", model="gemini-0-never")
    assert (raised.value.code, raised.value.status) == (404, "NOT_FOUND")


def test_retries_are_honoured():
    post("/_sim/expect", {"reply": [{"fault": "status=503"}]})
    options = types.HttpOptions(retry_options=types.HttpRetryOptions(attempts=3, initial_delay=0.01))
    assert ask("say hi", http_options=options).text == "hi"
    assert len(received()) == 2

import base64
import io
import json
import wave

import openai
import pytest
from pydantic import BaseModel

from conftest import FILLED, PEOPLE, PNG, STEPS, URL, WEATHER, WRITTEN, png_size, post, received

client = openai.OpenAI(api_key="key", base_url=URL + "/v1", max_retries=0)
MODEL = "gpt-4.1"

TOOLS = [
    {"type": "function", "function": {"name": name, "description": "…", "parameters": WEATHER, "strict": True}}
    for name in ("get_weather", "get_time")
]


def user(text):
    return {"role": "user", "content": text}


def test_text():
    answer = client.chat.completions.create(model=MODEL, messages=[user("What is 2+2?")])
    assert answer.choices[0].message.content == "2+2 = 4"
    assert answer.choices[0].finish_reason == "stop"
    usage = answer.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 0


def test_stream_with_the_accumulator():
    with client.chat.completions.stream(
        model=MODEL, messages=[user("count to 20")], stream_options={"include_usage": True}
    ) as stream:
        pieces = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert len(pieces) > 3
    assert "".join(pieces) == final.choices[0].message.content == ", ".join(str(n) for n in range(1, 21))
    assert final.usage.completion_tokens > 0


def test_usage_comes_only_when_asked_for():
    chunks = list(client.chat.completions.create(model=MODEL, messages=[user("Hi")], stream=True))
    assert all(chunk.choices and chunk.usage is None for chunk in chunks)


def test_tool_loop_in_two_steps():
    messages = [user('Call get_weather with city="Oslo".')]
    first = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
    assert first.choices[0].finish_reason == "tool_calls"
    (call,) = first.choices[0].message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "Oslo"})
    messages += [first.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "4 °C"}]
    second = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
    assert second.choices[0].message.content == "get_weather answered: 4 °C"


@pytest.mark.parametrize("model", ["gpt-5-mini", "deepseek-reasoner"])
def test_three_turns_of_tools_in_the_words_of_a_person(model):
    history, seen = [user(PEOPLE)], []
    while True:
        with client.chat.completions.stream(model=model, messages=history, tools=TOOLS) as stream:
            message = stream.get_final_completion().choices[0].message
        if not message.tool_calls:
            break
        (call,) = message.tool_calls
        seen.append((call.function.name, json.loads(call.function.arguments)))
        history += [message, {"role": "tool", "tool_call_id": call.id, "content": "fine"}]
    assert (seen, message.content) == (STEPS, "get_weather answered: fine")


def test_json_mode_with_the_schema_in_the_prompt():
    for settings in ({"response_format": {"type": "json_object"}}, {}):
        answer = client.chat.completions.create(model=MODEL, messages=[user(WRITTEN)], **settings)
        assert json.loads(answer.choices[0].message.content) == FILLED
    schema = WRITTEN.split("\n")
    instructions = f"JSON schema:\n{schema[-1]}\nYou MUST answer with a JSON object that matches the JSON schema above."
    messages = [{"role": "system", "content": instructions}, user(schema[0])]
    answer = client.chat.completions.create(model=MODEL, messages=messages)
    assert json.loads(answer.choices[0].message.content) == FILLED


def test_parallel_tools_streamed():
    with client.chat.completions.stream(
        model=MODEL, messages=[user("Use get_weather and get_time for Bergen.")], tools=TOOLS
    ) as stream:
        for _ in stream:
            pass
        message = stream.get_final_completion().choices[0].message
    assert [call.function.name for call in message.tool_calls] == ["get_weather", "get_time"]
    assert len({call.id for call in message.tool_calls}) == 2
    assert all(isinstance(json.loads(call.function.arguments)["city"], str) for call in message.tool_calls)


def test_a_missing_result_is_refused():
    messages = [user("Call get_weather.")]
    first = client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS)
    with pytest.raises(openai.BadRequestError, match="must be followed by tool messages"):
        client.chat.completions.create(
            model=MODEL, messages=messages + [first.choices[0].message, user("Well?")], tools=TOOLS
        )


def test_reasoning_tokens_of_a_thinking_model():
    answer = client.chat.completions.create(model="o3", messages=[user("What is 3*3?")], reasoning_effort="low")
    assert answer.choices[0].message.content == "3*3 = 9"
    assert answer.usage.completion_tokens_details.reasoning_tokens > 0


class Invoice(BaseModel):
    number: int
    amount: float
    currency: str


def test_structured_output_with_the_typed_helper():
    answer = client.chat.completions.parse(
        model=MODEL, messages=[user('number=4711, amount=120.5, currency "EUR"')], response_format=Invoice
    )
    assert answer.choices[0].message.parsed == Invoice(number=4711, amount=120.5, currency="EUR")


def test_an_image_is_seen():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PNG}}
    answer = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": [{"type": "text", "text": "Look"}, picture]}]
    )
    assert answer.choices[0].message.content.startswith("I see an image (image/png, ")


def test_embeddings_in_both_encodings():
    texts = ["a red apple", "a green apple"]
    plain = client.embeddings.create(model="text-embedding-3-small", input=texts, encoding_format="float")
    packed = client.embeddings.create(model="text-embedding-3-small", input=texts)
    assert [len(item.embedding) for item in plain.data] == [1536, 1536]
    for a, b in zip(plain.data[0].embedding, packed.data[0].embedding):
        assert abs(a - b) < 1e-6
    short = client.embeddings.create(model="text-embedding-3-small", input="x", dimensions=8)
    assert len(short.data[0].embedding) == 8


def test_pictures_are_drawn():
    drawn = client.images.generate(model="gpt-image-2", prompt="a fox", n=2, size="1536x1024")
    assert [png_size(base64.b64decode(image.b64_json)) for image in drawn.data] == [(64, 42)] * 2
    assert (drawn.size, drawn.usage.output_tokens_details.image_tokens) == ("1536x1024", drawn.usage.output_tokens)
    legacy = client.images.generate(model="dall-e-2", prompt="a fox", response_format="url")
    assert legacy.data[0].url.startswith("https://")
    with pytest.raises(openai.BadRequestError) as raised:
        client.images.generate(model="gpt-image-2", prompt="a fox", response_format="b64_json")
    assert (raised.value.param, raised.value.code) == ("response_format", "unknown_parameter")


def test_pictures_are_changed():
    first = base64.b64decode(client.images.generate(model="gpt-image-2", prompt="a fox").data[0].b64_json)
    one = client.images.edit(model="gpt-image-2", prompt="at night", image=("fox.png", first, "image/png"))
    files = [("a.png", first, "image/png"), ("b.png", first, "image/png")]
    two = client.images.edit(model="gpt-image-2", prompt="at night", image=files, n=2)
    assert (len(one.data), len(two.data)) == (1, 2)
    assert two.usage.input_tokens_details.image_tokens == 2 * one.usage.input_tokens_details.image_tokens > 0
    with pytest.raises(openai.BadRequestError):
        client.images.edit(model="gpt-image-2", prompt="at night", image=("a.wav", b"RIFF", "audio/wav"))


@pytest.mark.parametrize("form, head", [("mp3", b"ID3"), ("wav", b"RIFF")])
def test_speech_is_spoken_and_written_down(form, head):
    spoken = client.audio.speech.create(model="gpt-4o-mini-tts", voice="coral", input="Good morning.", response_format=form)
    assert spoken.content.startswith(head)
    if form == "wav":
        with wave.open(io.BytesIO(spoken.content)) as sound:
            assert (sound.getnchannels(), sound.getsampwidth(), sound.getframerate()) == (1, 2, 24000)
            assert sound.getnframes() >= 6000
    sound = (f"speech.{form}", spoken.content)
    heard = client.audio.transcriptions.create(model="whisper-1", file=sound, language="en")
    assert (heard.text, heard.usage.type) == ("Good morning.", "duration")
    heard = client.audio.transcriptions.create(model="gpt-4o-transcribe", file=sound, response_format="json")
    assert (heard.text, heard.usage.type) == ("Good morning.", "tokens")
    assert client.audio.transcriptions.create(model="whisper-1", file=sound, response_format="text") == "Good morning.\n"
    with client.audio.speech.with_streaming_response.create(model="tts-1", voice="alloy", input="Hi") as streamed:
        assert b"".join(streamed.iter_bytes()).startswith(b"ID3")
    with pytest.raises(openai.BadRequestError):
        client.audio.speech.create(model="gpt-4o-mini-tts", voice="nobody", input="Hi")


def test_models_are_listed():
    assert MODEL in [model.id for model in client.models.list()]


def test_stop_and_length():
    stopped = client.chat.completions.create(model=MODEL, messages=[user("count to 9")], stop=[", 4"])
    assert (stopped.choices[0].message.content, stopped.choices[0].finish_reason) == ("1, 2, 3", "stop")
    cut = client.chat.completions.create(model=MODEL, messages=[user("count to 900")], max_completion_tokens=5)
    assert (cut.choices[0].message.content, cut.choices[0].finish_reason) == ("1, 2, 3, 4, 5, 6, 7,", "length")


def test_the_prompt_cache_reports_itself():
    messages = [user("word " * 3000)]
    first = client.chat.completions.create(model=MODEL, messages=messages)
    second = client.chat.completions.create(model=MODEL, messages=messages)
    assert first.usage.prompt_tokens_details.cached_tokens == 0
    cached = second.usage.prompt_tokens_details.cached_tokens
    assert cached >= 1024 and cached % 128 == 0
    assert first.usage.prompt_tokens == second.usage.prompt_tokens


@pytest.mark.parametrize(
    "status, error",
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
        (503, openai.InternalServerError),
    ],
)
def test_errors_have_their_classes(status, error):
    with pytest.raises(error):
        client.chat.completions.create(
            model=MODEL, messages=[user("x")], extra_headers={"x-sim-fault": f"status={status}"}
        )


def test_an_unknown_model_is_not_found():
    with pytest.raises(openai.NotFoundError) as raised:
        client.chat.completions.create(model="gpt-0", messages=[user("x")])
    assert raised.value.code == "model_not_found"


def test_no_key_is_an_authentication_error():
    with pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model=MODEL, messages=[user("x")], extra_headers={"Authorization": "Basic x"})


def test_retries_are_honoured():
    post("/_sim/expect", {"reply": [{"fault": "status=429,retry_after_ms=10"}]})
    patient = openai.OpenAI(api_key="key", base_url=URL + "/v1", max_retries=2)
    assert patient.chat.completions.create(model=MODEL, messages=[user("say hi")]).choices[0].message.content == "hi"
    assert len(received()) == 2


def test_an_error_in_the_middle_of_a_stream():
    with pytest.raises(openai.APIError):
        for _ in client.chat.completions.create(
            model=MODEL, messages=[user("count to 50")], stream=True, extra_headers={"x-sim-fault": "error_event"}
        ):
            pass

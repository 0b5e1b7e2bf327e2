"""Recorded answers with citations and tools that providers run, translated: the official types take every one of them."""

import json
import os
import pathlib

import anthropic
import httpx2 as httpx
import openai
import pytest
from anthropic.types.beta import BetaMessage, BetaRawMessageStreamEvent
from google import genai
from google.genai import types
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

FOLDER = os.environ.get("IKIGAI_TRANSLATED")

# The types of whole answers and of events.
TYPES = {
    "openai-chat": (ChatCompletion, ChatCompletionChunk),
    "openai-responses": (Response, ResponseStreamEvent),
    "anthropic": (BetaMessage, BetaRawMessageStreamEvent),
    "gemini": (types.GenerateContentResponse, types.GenerateContentResponse),
}


def plain(answer):
    """Without what has nothing to do with tools: counts that came with newer versions, a server's own tier."""
    for one in (answer, answer.get("response")):
        if isinstance(one, dict):
            one.pop("usage", None) if "input_tokens_details" in (one.get("usage") or {}) else None
            one.pop("service_tier", None)
    return answer


def events(text):
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(event) for event in data if event != "[DONE]"]


@pytest.mark.skipif(not FOLDER, reason="there are no recorded exchanges here")
@pytest.mark.parametrize("dialect", TYPES)
def test_official_types_take_translated_recordings(dialect):
    whole, event = (TypeAdapter(one) for one in TYPES[dialect])
    wrong, read = [], 0
    for file in sorted(pathlib.Path(FOLDER).glob(f"*.{dialect}.*")):
        text = file.read_text()
        try:
            if file.suffix == ".json":
                whole.validate_python(plain(json.loads(text)))
            else:
                for one in events(text):
                    event.validate_python(plain(one))
        except ValueError as error:
            wrong.append(f"{file.name}: {str(error)[:600]}")
        read += 1
    assert read > 40 and not wrong, "\n".join(wrong)


def chat(client, streams):
    asked = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    if not streams:
        return client.chat.completions.create(**asked).choices[0].message.content
    with client.chat.completions.stream(**asked) as stream:
        return stream.get_final_completion().choices[0].message.content


def responses(client, streams):
    if not streams:
        return client.responses.create(model="m", input="x").output_text
    with client.responses.stream(model="m", input="x") as stream:
        return stream.get_final_response().output_text


def messages(client, streams):
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    if not streams:
        return client.messages.create(**asked).content
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message().content


def contents(client, streams):
    asked = {"model": "m", "contents": "x"}
    if not streams:
        return client.models.generate_content(**asked).candidates
    return [chunk.candidates for chunk in client.models.generate_content_stream(**asked)]


def with_client(sdk):
    """An SDK that takes the client that it sends with."""
    return lambda transport: sdk(api_key="k", base_url="http://provider", max_retries=0,
                                 http_client=httpx.Client(transport=transport))


def google(transport):
    options = types.HttpOptions(base_url="http://provider", client_args={"transport": transport})
    return genai.Client(api_key="k", http_options=options)


SDKS = {
    "openai-chat": (with_client(openai.OpenAI), chat),
    "openai-responses": (with_client(openai.OpenAI), responses),
    "anthropic": (with_client(anthropic.Anthropic), messages),
    "gemini": (google, contents),
}


@pytest.mark.skipif(not FOLDER, reason="there are no recorded exchanges here")
@pytest.mark.parametrize("dialect", SDKS)
def test_official_clients_read_translated_recordings(dialect):
    sdk, ask = SDKS[dialect]
    wrong, said, answers = [], 0, []
    client = sdk(httpx.MockTransport(lambda request: answers.pop()))
    for file in sorted(pathlib.Path(FOLDER).glob(f"*.{dialect}.*")):
        streams = file.suffix == ".sse"
        headers = {"content-type": "text/event-stream" if streams else "application/json"}
        answers.append(httpx.Response(200, headers=headers, content=file.read_bytes()))
        try:
            said += bool(ask(client, streams))
        except Exception as error:
            wrong.append(f"{file.name}: {type(error).__name__} {str(error)[:300]}")
    assert said > 35 and not wrong, "\n".join(wrong)

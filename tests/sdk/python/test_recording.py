"""Recording and replay: the official SDKs talk to a recorder in front of the simulator, then to what was recorded."""

import contextlib
import json
import os
import pathlib
import subprocess

import anthropic
import httpx2 as httpx
import openai
import pytest

from conftest import PEOPLE, STEPS, URL, WEATHER

KEY = "sk-a-key-that-is-not-to-be-found-0123456789"
TOOLS = [{"name": name, "description": "…", "input_schema": WEATHER} for name in ("get_weather", "get_time")]
CHAT_TOOLS = [
    {"type": "function", "function": {"name": name, "description": "…", "parameters": WEATHER, "strict": True}}
    for name in ("get_weather", "get_time")
]


@contextlib.contextmanager
def simulator(*options):
    command = [os.environ["IKIGAI_PROGRAM"], "sim", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


class Tee(httpx.HTTPTransport):
    """Keeps what comes in, piece by piece."""

    def __init__(self):
        super().__init__()
        self.answers = []

    def handle_request(self, request):
        response = super().handle_request(request)
        pieces = []
        self.answers.append((response.status_code, response.headers.get("content-type"), pieces))
        response.stream = Pieces(response.stream, pieces)
        return response


class Pieces(httpx.SyncByteStream):
    def __init__(self, stream, pieces):
        self.stream, self.pieces = stream, pieces

    def __iter__(self):
        for piece in self.stream:
            self.pieces.append(piece)
            yield piece

    def close(self):
        self.stream.close()


def messages(url):
    """A conversation with thinking, tools and streams; what was called, what was said, and the bytes of it all."""
    tee = Tee()
    client = anthropic.Anthropic(api_key=KEY, base_url=url, max_retries=0, http_client=httpx.Client(transport=tee))
    settings = dict(
        model="claude-sonnet-4-5", max_tokens=4096, tools=TOOLS, thinking={"type": "enabled", "budget_tokens": 2048}
    )
    history, seen = [{"role": "user", "content": PEOPLE}], []
    while True:
        with client.messages.stream(messages=history, **settings) as stream:
            answer = stream.get_final_message()
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return seen, answer.content[-1].text, tee.answers
        seen += [(call.name, call.input) for call in calls]
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "fine"} for call in calls]
        history += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]


def chat(url):
    tee = Tee()
    client = openai.OpenAI(api_key=KEY, base_url=url + "/v1", max_retries=0, http_client=httpx.Client(transport=tee))
    history, seen = [{"role": "user", "content": PEOPLE}], []
    while True:
        # Whole answers, unlike above.
        answer = client.chat.completions.create(model="gpt-4.1", messages=history, tools=CHAT_TOOLS)
        message = answer.choices[0].message
        if not message.tool_calls:
            return seen, message.content, tee.answers
        seen += [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls]
        results = [{"role": "tool", "tool_call_id": call.id, "content": "fine"} for call in message.tool_calls]
        history += [message, *results]


@pytest.mark.parametrize("talk", [messages, chat])
def test_a_conversation_is_replayed_byte_for_byte(talk, tmp_path):
    folder = tmp_path / "recordings"
    with simulator("--record", str(folder), "--upstream", URL) as url:
        recorded = talk(url)
    assert recorded[:2] == (STEPS, "get_weather answered: fine")
    with simulator("--replay", str(folder)) as url:
        replayed = talk(url)
        again = talk(url)
    assert replayed == recorded
    assert again == recorded
    files = sorted(folder.iterdir())
    assert [file.name[:5] for file in files] == ["0001-", "0002-", "0003-", "0004-"]
    for file in files:
        text = file.read_text()
        assert KEY not in text and json.loads(text)["response"]["status"] == 200
        assert file.stat().st_mode & 0o077 == 0


def test_a_recording_made_twice_is_the_same(tmp_path):
    written = []
    for name in ("one", "two"):
        with simulator("--record", str(tmp_path / name), "--upstream", URL) as url:
            chat(url)
        files = sorted((tmp_path / name).iterdir())
        written.append([(file.name, steady(file)) for file in files])
    assert written[0] == written[1]


def steady(file: pathlib.Path):
    """A recording without the number that the provider gave the request."""
    exchange = json.loads(file.read_text())
    exchange["response"]["headers"].pop("x-request-id")
    return exchange


def test_what_was_not_recorded_is_told_with_the_nearest(tmp_path):
    with simulator("--record", str(tmp_path), "--upstream", URL) as url:
        chat(url)
    with simulator("--replay", str(tmp_path)) as url:
        client = openai.OpenAI(api_key=KEY, base_url=url + "/v1", max_retries=0)
        with pytest.raises(openai.NotFoundError, match=r"the nearest is 0001-.*\.json, where body\.messages\[0\]\.content is"):
            client.chat.completions.create(
                model="gpt-4.1", messages=[{"role": "user", "content": "Something else"}], tools=CHAT_TOOLS
            )

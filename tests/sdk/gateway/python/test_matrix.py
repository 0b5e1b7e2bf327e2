"""Every SDK through the gateway to a provider of every dialect. A case is one function; `CASES` is all that knows it."""

import json
import os
import pathlib

import pytest
from pydantic import BaseModel

import house
from clients import CLIENTS, Asked

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def text(client, model, upstream):
    answer = client(Asked(model, "What is 2+2?")).ask()
    assert (answer.text, answer.finish) == ("2+2 = 4", client.finishes["text"])
    assert answer.output_tokens > 0


@case
def stream(client, model, upstream):
    answer = client(Asked(model, "count to 20")).ask(streams=True)
    assert (answer.text, answer.finish) == (", ".join(str(n) for n in range(1, 21)), client.finishes["text"])
    assert answer.pieces > 3 and answer.output_tokens > 0


@case
def tools(client, model, upstream):
    talk = client(Asked(model, 'Call get_weather with city="Oslo".', tools=True))
    first = talk.ask()
    assert first.finish == client.finishes["tools"]
    (call,) = first.calls
    assert (call.name, call.arguments) == ("get_weather", {"city": "Oslo"})
    talk.give([(call, "4 °C")])
    last = talk.ask()
    assert (last.text, last.calls, last.finish) == ("get_weather answered: 4 °C", [], client.finishes["text"])


@case
def parallel(client, model, upstream):
    calls = [{"name": name, "arguments": {"city": f"{name} of a city with a long name"}} for name in house.TOOLS]
    house.expect({"tool_calls": calls, "interleaved": True})
    talk = client(Asked(model, "Both, please.", tools=True))
    first = talk.ask(streams=True)
    assert [{"name": call.name, "arguments": call.arguments} for call in first.calls] == calls
    assert first.finish == client.finishes["tools"]
    talk.give([(call, call.name[4:]) for call in first.calls])
    last = talk.ask(streams=True)
    assert last.text == "get_weather answered: weather; get_time answered: time"


# Where each provider's sealed reasoning stands in the request that brings it back.
STATE = {
    "chat": None,
    "responses": '"encrypted_content":',
    "messages": '"signature":',
    "gemini": '"thoughtSignature":',
}


@case
def thinking(client, model, upstream):
    steps = [("get_weather", "Oslo"), ("get_time", "Oslo"), ("get_weather", "Bergen")]
    prompt = " then ".join(f'call {name} with city="{city}"' for name, city in steps)
    talk = client(Asked(model, prompt, tools=True, thinks=True))
    thoughts = []
    for place, (name, city) in enumerate(steps):
        answer = talk.ask(streams=place % 2 == 0)
        (call,) = answer.calls
        assert (call.name, call.arguments) == (name, {"city": city})
        thoughts.append(bool(answer.thinking))
        talk.give([(call, f"fine {place}")])
    assert talk.ask().text == "get_weather answered: fine 2"
    # Chat Completions of OpenAI tells no thoughts.
    assert thoughts == [upstream != "chat"] * 3
    # The provider got back the state of each of its turns, and checked it.
    state, last = STATE[upstream], json.dumps(house.received()[-1], separators=(",", ":"))
    assert state is None or last.count(state) == 3, last


@case
def image(client, model, upstream):
    answer = client(Asked(model, "Look", image=True)).ask()
    assert answer.text.startswith("I see an image (image/png, ")


class Invoice(BaseModel):
    number: int
    amount: float
    currency: str


@case
def structured(client, model, upstream):
    parsed = client(Asked(model, 'number=4711, amount=120.5, currency "EUR"')).parse(Invoice)
    assert parsed == Invoice(number=4711, amount=120.5, currency="EUR")


@case
def error(client, model, upstream):
    for status, expected in client.classes.items():
        for streams in (False, True):
            house.expect({"fault": f"status={status}"})
            with pytest.raises(client.failure) as raised:
                client(Asked(model, "x")).ask(streams)
            assert isinstance(raised.value, expected), (status, streams, raised.value)
            assert "(simulated)" in str(raised.value), (status, streams, raised.value)


RESULTS = {}


@pytest.fixture(scope="module", autouse=True)
def results():
    """Leaves what was lost in each cell for the page about conformance."""
    yield
    folder = os.environ.get("IKIGAI_CONFORMANCE")
    if folder:
        pathlib.Path(folder, "python.json").write_text(json.dumps(RESULTS))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("upstream", house.DIALECTS)
@pytest.mark.parametrize("inbound", house.DIALECTS)
def test_matrix(inbound, upstream, name):
    house.reset()
    house.losses.clear()
    CASES[name](CLIENTS[inbound], f"to-{upstream}", upstream)
    RESULTS[f"{inbound} {upstream} {name}"] = sorted(set(house.losses))

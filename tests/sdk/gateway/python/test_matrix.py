"""Every SDK through the gateway to a provider of every dialect. A case is one function; `CASES` is all that knows it."""

import base64
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


# What the simulator finds about "fjords", and how the provider of each dialect tells it.
PAGES = [
    ("https://encyclopedia.example/wiki/fjords", "fjords – Encyclopedia"),
    ("https://news.example/2026/fjords?lang=en&page=1", "“fjords”: what is known"),
    ("https://blog.example/fjords", ""),
]
CLAIMS = [
    ("The encyclopedia describes fjords in detail – with figures", 0),
    ("The news reported on it, too", 1),
    ("The news reported on it, too", 0),
]


def told(upstream):
    """The citations of an answer: passage, address, title."""
    host = lambda url: url.split("/")[2]
    if upstream == "messages":
        return [(claim, *PAGES[place]) for claim, place in CLAIMS]
    if upstream == "gemini":
        hide = lambda url: base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
        redirect = lambda url: f"https://vertexaisearch.cloud.google.com/grounding-api-redirect/{hide(url)}"
        return [(claim, redirect(PAGES[place][0]), host(PAGES[place][0])) for claim, place in CLAIMS]
    address = lambda url: f"{url}{'&' if '?' in url else '?'}utm_source=openai"
    link = lambda url: (f"([{host(url)}]({address(url)}))", address(url))
    return [(*link(PAGES[place][0]), PAGES[place][1]) for _, place in CLAIMS]


def searching(inbound, upstream):
    """The name of a model that searches. Others than OpenAI's clients are answered by a copy of its API."""
    if upstream != "chat":
        return f"to-{upstream}"
    return "search-openai" if inbound == "chat" else "search-chat"


@case
def cited(client, model, upstream):
    inbound = next(name for name, one in CLIENTS.items() if one is client)
    for streams in (False, True):
        talk = client(Asked(searching(inbound, upstream), "Please search for fjords.", runs="search"))
        answer = talk.ask(streams)
        assert "Here is what the web says about “fjords”. The encyclopedia describes" in answer.text
        assert answer.finish == client.finishes["text"]
        if upstream == "chat" and inbound != "chat":
            # Sources without passages; Responses has no titles for them.
            assert answer.citations == []
            titled = inbound != "responses"
            assert answer.sources == [(url, title if titled else None) for url, title in PAGES]
            continue
        expected = told(upstream)
        # In a stream of blocks, what is told behind a text is on the block that was open.
        widened = streams and inbound == "messages" and upstream in ("responses", "gemini")
        if widened:
            assert all(passage in block for (block, *_), (passage, *_) in zip(answer.citations, expected, strict=True))
            answer.citations = [(passage, *page) for (_, *page), (passage, *_) in zip(answer.citations, expected)]
        assert answer.citations == expected


# Where the provider's own state of a search stands in the request that brings it back.
SEARCHED = {"messages": '"encrypted_content":', "responses": '"web_search_call"'}


@case
def hosted(client, model, upstream):
    inbound = next(name for name, one in CLIENTS.items() if one is client)
    for streams in (False, True):
        talk = client(Asked(searching(inbound, upstream), "Please search for fjords.", runs="search"))
        searched = talk.ask(streams)
        if upstream in SEARCHED:
            assert searched.ran == ([] if inbound == "chat" else [("search", "fjords")])
        talk.say("Thanks. What is 2+2?")
        assert talk.ask(streams).text == "2+2 = 4"
        # Responses has no field for the state of others.
        if upstream in SEARCHED and (inbound == upstream or inbound != "responses"):
            assert SEARCHED[upstream] in json.dumps(house.received()[-1])
        # Chat Completions has no tool for code.
        if inbound == "chat":
            continue
        talk = client(Asked(model, "Run `print(6*7)`", runs="code"))
        answer = talk.ask(streams)
        if upstream == "chat":
            assert (answer.text, answer.ran) == ("(6*7) = 42", [])
        else:
            assert (answer.text, answer.ran) == ("The code printed: 42", [("code", "print(6*7)", "42\n")])
        talk.say("Thanks. What is 2+2?")
        assert talk.ask(streams).text == "2+2 = 4"


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

"""The simulator that every test talks to: its address comes from the environment."""

import json
import os
import urllib.request

import pytest

URL = os.environ["IKIGAI_SIM_URL"]
CONTROL = {"authorization": "Bearer " + os.environ["IKIGAI_SIM_TOKEN"], "content-type": "application/json"}

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

# Three turns of tools in the words of a person, and the calls they ask for.
PEOPLE = (
    "Think it over, then look up the weather in Oslo with get_weather. After that, check get_time for Oslo too. "
    "Finally, could you use get_weather for Bergen?"
)
STEPS = [("get_weather", {"city": "Oslo"}), ("get_time", {"city": "Oslo"}), ("get_weather", {"city": "Bergen"})]

# For a model without structured output: the schema is in the prompt.
WRITTEN = (
    "Where does the invoice 4711 come from? It was sent by a shop in Bergen.\n"
    "Answer in JSON that matches this schema:\n"
    '{"type": "object", "properties": {"number": {"type": "integer"}, "city": {"type": "string"}}, "required": ["number", "city"]}'
)
FILLED = {"number": 4711, "city": "Bergen"}


def post(path, body=None):
    request = urllib.request.Request(URL + path, json.dumps(body or {}).encode(), CONTROL)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def received():
    with urllib.request.urlopen(urllib.request.Request(URL + "/_sim/requests", headers=CONTROL)) as answer:
        return json.load(answer)["requests"]


@pytest.fixture(autouse=True)
def fresh():
    post("/_sim/reset")

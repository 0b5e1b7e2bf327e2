"""The simulator that every test talks to: its address comes from the environment."""

import json
import os
import urllib.request

import pytest

URL = os.environ["IKIGAI_SIM_URL"]

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def post(path, body=None):
    request = urllib.request.Request(URL + path, json.dumps(body or {}).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def received():
    with urllib.request.urlopen(URL + "/_sim/requests") as answer:
        return json.load(answer)["requests"]


@pytest.fixture(autouse=True)
def fresh():
    post("/_sim/reset")

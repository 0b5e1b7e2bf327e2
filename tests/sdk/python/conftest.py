"""The simulator that every test talks to: its address comes from the environment."""

import json
import os
import struct
import urllib.request
import zlib

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


def png_size(data):
    """The width and the height of a picture whose every byte is as the standard says."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(name + content)
        chunks[name], at = content, at + 12 + length
    width, height, depth, colours = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colours, list(chunks)) == (8, 2, [b"IHDR", b"IDAT", b"IEND"])
    assert len(zlib.decompress(chunks[b"IDAT"])) == height * (1 + 3 * width)
    return width, height


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

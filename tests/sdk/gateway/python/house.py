"""The simulator, the gateway before it, and what is said about both: the addresses come from the environment."""

import json
import os
import re
import urllib.request

SIM = os.environ["IKIGAI_SIM_URL"]
TOKEN = os.environ["IKIGAI_SIM_TOKEN"]
GATEWAY = os.environ["IKIGAI_GATEWAY_URL"]
KEY = os.environ["IKIGAI_GATEWAY_KEY"]

DIALECTS = ("chat", "responses", "messages", "gemini")

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = ("get_weather", "get_time")

# What the gateway said it could not carry, in the answers since this list was last emptied.
losses = []


def listen(response):
    """Reads the losses off an answer: a hook of the HTTP client that all SDKs use."""
    line = response.headers.get("x-ikigai-losses")
    if line:
        losses.extend(re.split(r"; (?=\S+ at \S+: )", line))


def reset():
    control("reset", {})


def expect(*replies):
    """What the simulator answers next, in place of its own words."""
    control("expect", {"reply": list(replies)})


def received():
    """The bodies of the requests that reached the simulator."""
    return [request["body"] for request in control("requests")["requests"]]


def control(verb, body=None):
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{SIM}/_sim/{verb}", data, headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)

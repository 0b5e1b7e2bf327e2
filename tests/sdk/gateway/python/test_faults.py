"""What goes wrong at a provider reaches the SDKs as their own exceptions: never as a short answer, never as silence,
and never as a second bill."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import house
from clients import CLIENTS, TIMEOUT, Asked

TEXT = ", ".join(str(n) for n in range(1, 61))


def complete(text):
    return text == TEXT


def nothing_missing(text):
    """A wire without numbers for its events cannot tell that one came twice, or too early."""
    return len(text) >= len(TEXT) and set(TEXT) <= set(text)


def never(text):
    return False


# What goes wrong, and which answers are good all the same. Anything else has to be an exception.
FAULTS = {
    **{f"status={status}": never for status in (400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 529)},
    "status=429,retry_after_ms=5": never,
    "slow_first_byte,ms=100": complete,
    "slow_first_byte,ms=60000": never,
    "slow_drip,ms=2": complete,
    "stall": never,
    "cut_before_headers": never,
    "cut_mid_header": never,
    "cut_mid_event": never,
    "cut_before_end": never,
    "end_without_end": never,
    "reset": never,
    # An answer that came whole may have no place to break it at.
    "malformed_json": complete,
    "error_event": never,
    "wrong_content_type": complete,
    "invalid_utf8": complete,
    "giant_event,bytes=1000": complete,
    "giant_event,bytes=9000000": complete,
    "duplicate_events": nothing_missing,
    "out_of_order_events": nothing_missing,
}
# These must be answered, not only may.
HARMLESS = {"slow_first_byte,ms=100", "slow_drip,ms=2"}
# In a stream that passes through, what an event holds is between the SDK and the provider: it fails as it would without us.
GARBLED = {"malformed_json", "invalid_utf8", "duplicate_events", "out_of_order_events"}

CELLS = [
    (fault, inbound, upstream, streams)
    for fault in FAULTS
    for inbound in house.DIALECTS
    for upstream in house.DIALECTS
    for streams in (False, True)
]


def ask(place):
    """What became of a cell: its answer or its exception, and how long that took."""
    _, inbound, upstream, streams = CELLS[place]
    began = time.monotonic()
    try:
        outcome = CLIENTS[inbound](Asked(f"to-{upstream}", f"cell {place}.")).ask(streams).text
    except Exception as error:
        outcome = error
    return outcome, time.monotonic() - began


@pytest.fixture(scope="module")
def outcomes():
    """Of all cells: many at once, because some of them wait for the gateway to lose its patience."""
    house.reset()
    house.expect(
        *[{"when": {"text": f"cell {place}."}, "text": TEXT, "fault": cell[0]} for place, cell in enumerate(CELLS)]
    )
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(ask, range(len(CELLS))))
    house.reset()
    return dict(zip(CELLS, found))


@pytest.mark.parametrize("streams", (False, True), ids=("whole", "stream"))
@pytest.mark.parametrize("inbound", house.DIALECTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault(outcomes, fault, inbound, streams):
    for upstream in house.DIALECTS:
        outcome, seconds = outcomes[fault, inbound, upstream, streams]
        assert seconds < TIMEOUT / 2, f"to {upstream}: it hangs"
        if isinstance(outcome, Exception):
            passes = streams and inbound == upstream and fault in GARBLED
            proper = passes or isinstance(outcome, CLIENTS[inbound].failure)
            assert proper, f"to {upstream}: {type(outcome)}: {outcome}"
            assert fault not in HARMLESS, f"to {upstream}: {outcome}"
        else:
            assert FAULTS[fault](outcome), f"to {upstream}: taken for complete: {outcome}"


# What goes wrong once, and how many requests an SDK that repeats what it may has then sent.
REPEATED = {
    "cut_before_headers": 1,
    "cut_mid_header": 1,
    # Longer than the gateway waits.
    "slow_first_byte,ms=60000": 1,
    "status=429,retry_after_ms=5": 2,
    "status=503": 2,
}
# Gemini's follow no header. They do not repeat a request unless they are told to.
REPEATERS = ("chat", "responses", "messages")

REPEATS = [
    (fault, inbound, upstream, streams)
    for fault in REPEATED
    for inbound in REPEATERS
    for upstream in house.DIALECTS
    for streams in (False, True)
]


def repeat(place):
    """What became of a cell whose SDK repeats a request as it does by default: its answer or its exception."""
    _, inbound, upstream, streams = REPEATS[place]
    conversation = CLIENTS[inbound](Asked(f"to-{upstream}", f"cell {place}."))
    conversation.sdk = conversation.sdk.with_options(max_retries=2)
    try:
        return conversation.ask(streams).text
    except conversation.failure as error:
        return type(error)


@pytest.fixture(scope="module")
def repeats():
    """Of all cells, what became of them and how many requests reached the provider."""
    house.reset()
    house.expect(
        *[{"when": {"text": f"cell {place}."}, "text": TEXT, "fault": cell[0]} for place, cell in enumerate(REPEATS)],
        {"text": TEXT, "times": 0},
    )
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(repeat, range(len(REPEATS))))
    sent = [json.dumps(body) for body in house.received()]
    house.reset()
    counts = [sum(f'"cell {place}."' in body for body in sent) for place in range(len(REPEATS))]
    return dict(zip(REPEATS, zip(found, counts)))


@pytest.mark.parametrize("streams", (False, True), ids=("whole", "stream"))
@pytest.mark.parametrize("inbound", REPEATERS)
@pytest.mark.parametrize("fault", REPEATED)
def test_nothing_is_paid_for_twice(repeats, fault, inbound, streams):
    for upstream in house.DIALECTS:
        outcome, count = repeats[fault, inbound, upstream, streams]
        assert count == REPEATED[fault], f"to {upstream}: {outcome}"
        assert (outcome == TEXT) == (count == 2), f"to {upstream}: {outcome}"

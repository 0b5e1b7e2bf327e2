import json

import openai
import pytest
from pydantic import BaseModel

from conftest import FILLED, PEOPLE, PNG, STEPS, URL, WEATHER, WRITTEN, post, received

client = openai.OpenAI(api_key="key", base_url=URL + "/v1", max_retries=0)
MODEL = "gpt-4.1"
TOOLS = [
    {"type": "function", "name": name, "description": "…", "parameters": WEATHER, "strict": True}
    for name in ("get_weather", "get_time")
]


def calls(response):
    return [item for item in response.output if item.type == "function_call"]


def test_text():
    answer = client.responses.create(model=MODEL, input="What is 2+2?")
    assert (answer.output_text, answer.status) == ("2+2 = 4", "completed")
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens > 0


def test_stream_with_the_accumulator():
    with client.responses.stream(model=MODEL, input="count to 20") as stream:
        events = list(stream)
        final = stream.get_final_response()
    pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert len(pieces) > 3
    assert "".join(pieces) == final.output_text == ", ".join(str(n) for n in range(1, 21))
    assert [event.sequence_number for event in events if hasattr(event, "sequence_number")] == sorted(
        event.sequence_number for event in events if hasattr(event, "sequence_number")
    )


def test_thinking_with_a_tool_loop_over_three_turns():
    settings = dict(
        model="gpt-5.4", tools=TOOLS, store=False, include=["reasoning.encrypted_content"],
        reasoning={"effort": "medium", "summary": "auto"},
    )
    history = [{"role": "user", "content": 'Call get_weather with city="Oslo" then call get_time with city="Oslo".'}]
    for expected in ("get_weather", "get_time"):
        with client.responses.stream(input=history, **settings) as stream:
            for _ in stream:
                pass
            answer = stream.get_final_response()
        reasoning = [item for item in answer.output if item.type == "reasoning"]
        assert reasoning and reasoning[0].encrypted_content and reasoning[0].summary
        (call,) = calls(answer)
        assert (call.name, json.loads(call.arguments)) == (expected, {"city": "Oslo"})
        history += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": "fine"})
    last = client.responses.create(input=history, **settings)
    assert last.output_text == "get_time answered: fine"
    broken = json.loads(json.dumps(history))
    sealed = next(item for item in broken if item.get("type") == "reasoning")
    sealed["encrypted_content"] = "AAAA" + sealed["encrypted_content"][4:]
    with pytest.raises(openai.BadRequestError) as raised:
        client.responses.create(input=broken, **settings)
    assert raised.value.code == "invalid_encrypted_content"


def test_three_turns_of_tools_in_the_words_of_a_person():
    settings = dict(
        model="gpt-5.4", tools=TOOLS, store=False, include=["reasoning.encrypted_content"],
        reasoning={"effort": "medium", "summary": "auto"},
    )
    history, seen = [{"role": "user", "content": PEOPLE}], []
    while True:
        with client.responses.stream(input=history, **settings) as stream:
            answer = stream.get_final_response()
        if not calls(answer):
            break
        (call,) = calls(answer)
        seen.append((call.name, json.loads(call.arguments)))
        history += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in answer.output]
        history.append({"type": "function_call_output", "call_id": call.call_id, "output": "fine"})
    assert (seen, answer.output_text) == (STEPS, "get_weather answered: fine")


def test_a_schema_in_the_prompt_is_filled():
    answer = client.responses.create(model=MODEL, input=WRITTEN, text={"format": {"type": "json_object"}})
    assert json.loads(answer.output_text) == FILLED


def test_parallel_tools():
    answer = client.responses.create(model=MODEL, input="Use get_weather and get_time for Bergen.", tools=TOOLS)
    assert [call.name for call in calls(answer)] == ["get_weather", "get_time"]


class Invoice(BaseModel):
    number: int
    amount: float
    currency: str


def test_structured_output_with_the_typed_helper():
    answer = client.responses.parse(
        model=MODEL, input='number=4711, amount=120.5, currency "EUR"', text_format=Invoice
    )
    assert answer.output_parsed == Invoice(number=4711, amount=120.5, currency="EUR")


def test_an_image_is_seen():
    content = [
        {"type": "input_text", "text": "Look"},
        {"type": "input_image", "image_url": "data:image/png;base64," + PNG, "detail": "auto"},
    ]
    answer = client.responses.create(model=MODEL, input=[{"role": "user", "content": content}])
    assert answer.output_text.startswith("I see an image (image/png, ")


def test_tokens_are_counted():
    assert client.responses.input_tokens.count(model=MODEL, input="How many tokens?").input_tokens > 3


def test_stored_answers_can_be_read_and_forgotten():
    answer = client.responses.create(model=MODEL, input="say hello")
    assert client.responses.retrieve(answer.id).output_text == "hello"
    client.responses.delete(answer.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(answer.id)
    hidden = client.responses.create(model=MODEL, input="say hello", store=False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(hidden.id)


def test_a_conversation_goes_on_from_a_stored_answer():
    first = client.responses.create(model=MODEL, input="My favourite number is 7.")
    second = client.responses.create(model=MODEL, input="What is my favourite number?", previous_response_id=first.id)
    assert second.output_text == "Your favourite number is 7."
    with pytest.raises(openai.BadRequestError):
        client.responses.create(model=MODEL, input="x", previous_response_id="resp_never")


def test_length():
    cut = client.responses.create(model=MODEL, input="count to 900", max_output_tokens=16)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_retries_are_honoured():
    post("/_sim/expect", {"reply": [{"fault": "status=503"}]})
    patient = openai.OpenAI(api_key="key", base_url=URL + "/v1", max_retries=2)
    assert patient.responses.create(model=MODEL, input="say hi").output_text == "hi"
    assert len(received()) == 2

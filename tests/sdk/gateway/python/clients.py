"""The official SDKs behind one face: a conversation that asks, streamed or whole, and is given the results of tools."""

import base64
import json
from dataclasses import dataclass, field

import anthropic
import openai
from google import genai
from google.genai import errors, types

from house import GATEWAY, KEY, PNG, TOOLS, WEATHER, listen

HOOKS = {"event_hooks": {"response": [listen]}}
TIMEOUT = 30.0


@dataclass
class Call:
    id: str
    name: str
    arguments: dict


@dataclass
class Answer:
    text: str = ""
    thinking: str = ""
    calls: list = field(default_factory=list)
    finish: str = ""
    output_tokens: int = 0
    # In how many pieces the text came.
    pieces: int = 0
    # What the answer cites: the passage of the text, the address and the title.
    citations: list = field(default_factory=list)
    # What the provider's tools found without tying it to a passage: addresses, with titles where the API has them.
    sources: list = field(default_factory=list)
    # What they did: the tool, what it was asked, and what it printed.
    ran: list = field(default_factory=list)


class FailedEvent(Exception):
    """A stream of the Responses API told that it failed: its SDK hands that on as an event."""


@dataclass
class Asked:
    """What a conversation is about."""

    model: str
    prompt: str
    tools: bool = False
    thinks: bool = False
    image: bool = False
    # A tool that the provider runs: search or code.
    runs: str = ""


class Chat:
    sdk = openai.OpenAI(
        api_key=KEY, base_url=GATEWAY + "/v1", max_retries=0, timeout=TIMEOUT,
        http_client=openai.DefaultHttpxClient(**HOOKS),
    )
    # What a failure of any kind raises, and the classes of single statuses.
    failure = openai.APIError
    classes = {
        400: openai.BadRequestError, 401: openai.AuthenticationError, 403: openai.PermissionDeniedError,
        404: openai.NotFoundError, 429: openai.RateLimitError, 500: openai.InternalServerError,
        503: openai.InternalServerError,
    }
    finishes = {"text": "stop", "tools": "tool_calls"}

    def __init__(self, asked):
        content = asked.prompt
        if asked.image:
            picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + PNG}}
            content = [{"type": "text", "text": asked.prompt}, picture]
        self.settings = {"model": asked.model}
        if asked.tools:
            function = lambda name: {"name": name, "description": "…", "parameters": WEATHER, "strict": True}
            self.settings["tools"] = [{"type": "function", "function": function(name)} for name in TOOLS]
        if asked.thinks:
            self.settings["reasoning_effort"] = "medium"
        if asked.runs == "search" and asked.model == "search-openai":
            self.settings["web_search_options"] = {}
        elif asked.runs == "search":
            # No tool of OpenAI's, so the SDK must not check it.
            self.settings["extra_body"] = {"tools": [{"type": "openrouter:web_search"}]}
        self.messages = [{"role": "user", "content": content}]

    def ask(self, streams=False):
        completions, pieces = self.sdk.chat.completions, 0
        if streams:
            options = {"include_usage": True}
            with completions.stream(messages=self.messages, stream_options=options, **self.settings) as stream:
                pieces = sum(event.type == "content.delta" for event in stream)
                done = stream.get_final_completion()
        else:
            done = completions.create(messages=self.messages, **self.settings)
        choice = done.choices[0]
        self.messages.append(choice.message)
        return Answer(
            text=choice.message.content or "",
            thinking=getattr(choice.message, "reasoning_content", None) or "",
            calls=[
                Call(call.id, call.function.name, json.loads(call.function.arguments))
                for call in choice.message.tool_calls or []
            ],
            finish=choice.finish_reason,
            output_tokens=done.usage.completion_tokens,
            pieces=pieces,
            **self.cited(choice.message),
        )

    @staticmethod
    def cited(message):
        cited = [annotation.url_citation for annotation in message.annotations or []]
        passage = lambda one: message.content[one.start_index : one.end_index]
        return {
            "citations": [(passage(one), one.url, one.title) for one in cited if one.end_index],
            "sources": [(one.url, one.title) for one in cited if not one.end_index],
        }

    def say(self, text):
        self.messages.append({"role": "user", "content": text})

    def give(self, results):
        self.messages += [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in results]

    def parse(self, shape):
        done = self.sdk.chat.completions.parse(messages=self.messages, response_format=shape, **self.settings)
        return done.choices[0].message.parsed


class Responses:
    sdk, classes = Chat.sdk, Chat.classes
    failure = (Chat.failure, FailedEvent)
    finishes = {"text": "completed", "tools": "completed"}

    def __init__(self, asked):
        content = asked.prompt
        if asked.image:
            picture = {"type": "input_image", "image_url": "data:image/png;base64," + PNG, "detail": "auto"}
            content = [{"type": "input_text", "text": asked.prompt}, picture]
        self.settings = {"model": asked.model, "store": False}
        if asked.tools:
            function = {"type": "function", "description": "…", "parameters": WEATHER, "strict": True}
            self.settings["tools"] = [{"name": name, **function} for name in TOOLS]
        if asked.thinks:
            self.settings["include"] = ["reasoning.encrypted_content"]
            self.settings["reasoning"] = {"effort": "medium", "summary": "auto"}
        if asked.runs == "search":
            self.settings["tools"] = [{"type": "web_search"}]
            self.settings["include"] = ["web_search_call.action.sources"]
        if asked.runs == "code":
            self.settings["tools"] = [{"type": "code_interpreter", "container": {"type": "auto"}}]
            self.settings["include"] = ["code_interpreter_call.outputs"]
        self.input = [{"role": "user", "content": content}]

    def ask(self, streams=False):
        pieces = 0
        if streams:
            with self.sdk.responses.stream(input=self.input, **self.settings) as stream:
                for event in stream:
                    pieces += event.type == "response.output_text.delta"
                    if event.type == "response.failed":
                        raise FailedEvent(event.response.error)
                done = stream.get_final_response()
        else:
            done = self.sdk.responses.create(input=self.input, **self.settings)
        self.input += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in done.output]
        summaries = [item.summary for item in done.output if item.type == "reasoning"]
        return Answer(
            text=done.output_text,
            thinking="".join(part.text for summary in summaries for part in summary),
            calls=[
                Call(item.call_id, item.name, json.loads(item.arguments))
                for item in done.output
                if item.type == "function_call"
            ],
            finish=done.status,
            output_tokens=done.usage.output_tokens,
            pieces=pieces,
            **self.cited(done.output),
        )

    @staticmethod
    def cited(output):
        found = {"citations": [], "sources": [], "ran": []}
        for item in output:
            if item.type == "message":
                for part in item.content:
                    passage = lambda one: part.text[one.start_index : one.end_index]
                    found["citations"] += [(passage(one), one.url, one.title) for one in part.annotations]
            elif item.type == "web_search_call":
                found["ran"].append(("search", item.action.query))
                found["sources"] += [(source.url, None) for source in item.action.sources or []]
            elif item.type == "code_interpreter_call":
                logs = "".join(output.logs for output in item.outputs or [])
                found["ran"].append(("code", item.code, logs))
        return found

    def say(self, text):
        self.input.append({"role": "user", "content": text})

    def give(self, results):
        output = lambda call, text: {"type": "function_call_output", "call_id": call.id, "output": text}
        self.input += [output(call, text) for call, text in results]

    def parse(self, shape):
        return self.sdk.responses.parse(input=self.input, text_format=shape, **self.settings).output_parsed


class Messages:
    sdk = anthropic.Anthropic(
        api_key=KEY, base_url=GATEWAY, max_retries=0, timeout=TIMEOUT,
        http_client=anthropic.DefaultHttpxClient(**HOOKS),
    )
    failure = anthropic.APIError
    classes = {
        400: anthropic.BadRequestError, 401: anthropic.AuthenticationError, 403: anthropic.PermissionDeniedError,
        404: anthropic.NotFoundError, 429: anthropic.RateLimitError, 500: anthropic.InternalServerError,
        # As its provider says it where bytes pass through, else as Anthropic does.
        503: (anthropic.ServiceUnavailableError, anthropic.OverloadedError),
    }
    finishes = {"text": "end_turn", "tools": "tool_use"}

    def __init__(self, asked):
        content = asked.prompt
        if asked.image:
            source = {"type": "base64", "media_type": "image/png", "data": PNG}
            content = [{"type": "text", "text": asked.prompt}, {"type": "image", "source": source}]
        self.settings = {"model": asked.model, "max_tokens": 4096}
        if asked.tools:
            self.settings["tools"] = [
                {"name": name, "description": "…", "input_schema": WEATHER} for name in TOOLS
            ]
        if asked.thinks:
            self.settings["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        if asked.runs == "search":
            self.settings["tools"] = [{"type": "web_search_20250305", "name": "web_search"}]
        if asked.runs == "code":
            self.settings["tools"] = [{"type": "code_execution_20250825", "name": "code_execution"}]
        self.messages = [{"role": "user", "content": content}]

    def ask(self, streams=False):
        pieces = 0
        if streams:
            with self.sdk.messages.stream(messages=self.messages, **self.settings) as stream:
                pieces = sum(event.type == "text" for event in stream)
                done = stream.get_final_message()
        else:
            done = self.sdk.messages.create(messages=self.messages, **self.settings)
        self.messages.append({"role": "assistant", "content": done.content})
        return Answer(
            text="".join(block.text for block in done.content if block.type == "text"),
            thinking="".join(block.thinking for block in done.content if block.type == "thinking"),
            calls=[Call(block.id, block.name, block.input) for block in done.content if block.type == "tool_use"],
            finish=done.stop_reason,
            output_tokens=done.usage.output_tokens,
            pieces=pieces,
            **self.cited(done.content),
        )

    @staticmethod
    def cited(content):
        found, asked = {"citations": [], "sources": [], "ran": []}, {}
        for block in content:
            if block.type == "text":
                found["citations"] += [(block.text, one.url, one.title) for one in block.citations or []]
            elif block.type == "server_tool_use":
                asked[block.id] = block.input
            elif block.type == "web_search_tool_result":
                found["ran"].append(("search", asked[block.tool_use_id].get("query")))
                found["sources"] += [(page.url, page.title) for page in block.content]
            elif block.type.endswith("code_execution_tool_result"):
                code = asked[block.tool_use_id]
                found["ran"].append(("code", code.get("code") or code.get("command"), block.content.stdout))
        return found

    def say(self, text):
        self.messages.append({"role": "user", "content": text})

    def give(self, results):
        result = lambda call, text: {"type": "tool_result", "tool_use_id": call.id, "content": text}
        self.messages.append({"role": "user", "content": [result(call, text) for call, text in results]})

    def parse(self, shape):
        return self.sdk.messages.parse(messages=self.messages, output_format=shape, **self.settings).parsed_output


class Gemini:
    sdk = genai.Client(
        api_key=KEY,
        http_options=types.HttpOptions(
            base_url=GATEWAY, timeout=int(TIMEOUT * 1000), client_args=HOOKS,
            retry_options=types.HttpRetryOptions(attempts=1),
        ),
    )
    failure = errors.APIError
    classes = {status: errors.ClientError for status in (400, 401, 403, 404, 429)} | {
        status: errors.ServerError for status in (500, 503)
    }
    finishes = {"text": "STOP", "tools": "STOP"}

    def __init__(self, asked):
        parts = [types.Part(text=asked.prompt)]
        if asked.image:
            parts.append(types.Part.from_bytes(data=base64.b64decode(PNG), mime_type="image/png"))
        self.model = asked.model
        self.config = {"automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True)}
        if asked.tools:
            declare = lambda name: types.FunctionDeclaration(
                name=name, description="…", parameters_json_schema=WEATHER
            )
            self.config["tools"] = [types.Tool(function_declarations=[declare(name) for name in TOOLS])]
        if asked.thinks:
            self.config["thinking_config"] = types.ThinkingConfig(include_thoughts=True, thinking_budget=2048)
        if asked.runs == "search":
            self.config["tools"] = [types.Tool(google_search=types.GoogleSearch())]
        if asked.runs == "code":
            self.config["tools"] = [types.Tool(code_execution=types.ToolCodeExecution())]
        self.contents = [types.Content(role="user", parts=parts)]

    def ask(self, streams=False):
        request = {"model": self.model, "contents": self.contents, "config": self.config}
        if streams:
            chunks = list(self.sdk.models.generate_content_stream(**request))
        else:
            chunks = [self.sdk.models.generate_content(**request)]
        candidates = [candidate for chunk in chunks for candidate in chunk.candidates or []]
        contents = [candidate.content for candidate in candidates if candidate.content]
        parts = [part for content in contents for part in content.parts or []]
        self.contents.append(types.Content(role="model", parts=parts))
        texts = [part.text for part in parts if part.text and not part.thought]
        calls = [part.function_call for part in parts if part.function_call]
        return Answer(
            text="".join(texts),
            thinking="".join(part.text for part in parts if part.text and part.thought),
            calls=[Call(call.id, call.name, call.args) for call in calls],
            finish=candidates[-1].finish_reason.value,
            output_tokens=chunks[-1].usage_metadata.candidates_token_count,
            pieces=len(texts),
            **self.cited(candidates, "".join(texts).encode(), parts),
        )

    @staticmethod
    def cited(candidates, said, parts):
        grounding = candidates[-1].grounding_metadata or types.GroundingMetadata()
        pages = [(chunk.web.uri, chunk.web.title) for chunk in grounding.grounding_chunks or []]
        citations, cited = [], set()
        for support in grounding.grounding_supports or []:
            segment = support.segment
            passage = said[segment.start_index or 0 : segment.end_index].decode()
            assert passage == segment.text
            citations += [(passage, *pages[place]) for place in support.grounding_chunk_indices]
            cited |= set(support.grounding_chunk_indices)
        ran = [("search", *part.tool_call.args["queries"]) for part in parts if part.tool_call]
        codes = [part.executable_code.code for part in parts if part.executable_code]
        outputs = [part.code_execution_result.output for part in parts if part.code_execution_result]
        ran += [("code", code, output) for code, output in zip(codes, outputs, strict=True)]
        return {"citations": citations, "sources": [page for n, page in enumerate(pages) if n not in cited], "ran": ran}

    def say(self, text):
        self.contents.append(types.Content(role="user", parts=[types.Part(text=text)]))

    def give(self, results):
        response = lambda call, text: types.FunctionResponse(id=call.id, name=call.name, response={"output": text})
        parts = [types.Part(function_response=response(call, text)) for call, text in results]
        self.contents.append(types.Content(role="user", parts=parts))

    def parse(self, shape):
        config = self.config | {"response_mime_type": "application/json", "response_schema": shape}
        return self.sdk.models.generate_content(model=self.model, contents=self.contents, config=config).parsed


CLIENTS = {"chat": Chat, "responses": Responses, "messages": Messages, "gemini": Gemini}

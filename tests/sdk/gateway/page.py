"""Writes docs/conformance.md from what the SDK tests of a run found, or checks that it says the same.

Usage: page.py FOLDER [--check]   with the results of the run in FOLDER
"""

import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "conformance.md"
LANGUAGES = ("python", "node")
DIALECTS = {"chat": "Chat", "responses": "Responses", "messages": "Messages", "gemini": "Gemini"}
CASES = {
    "text": "a question and its answer",
    "stream": "the same as a stream, read by the SDK's accumulator",
    "tools": "the model calls a tool, gets its result, and answers",
    "parallel": "the model calls two tools in one stream, with interleaved arguments",
    "thinking": "three tool turns with thinking; the provider gets its sealed reasoning back and checks it",
    "image": "a picture",
    "structured": "an answer that follows a schema, through the SDK's typed helper if it has one",
    "cited": "the provider searches, complete and streamed: every source arrives with its address, its title, and the passage that it supports",
    "hosted": "the provider runs a search and code, complete and streamed, each with a second turn that the provider accepts",
    "error": "each failure of the provider (400, 401, 403, 404, 429, 500, 503) raises the SDK's exception class for it",
}
HEAD = """# Conformance

This page shows what works when the official SDKs for Python and Node reach a provider of each dialect through the gateway. The tests write it
(`tests/sdk/run write`); they run with every change (`tests/sdk/run`) and fail if the page is out of date. The provider is the simulator
([sim.md](sim.md)), which checks requests as the real APIs do.

| SDK | Python | Node |
| --- | --- | --- |
| Chat Completions, Responses | `openai` | `openai` |
| Messages | `anthropic` | `@anthropic-ai/sdk` |
| Gemini | `google-genai` | `@google/genai` |

The cases:

"""
LOSSES = """
Each number stands for something that could not be carried, in the words of the header `x-ikigai-losses`. Losses in the middle of a stream are
only in the gateway's log.

"""
SEARCHES = """
## Citations and tools that the provider runs

In *cited* and *hosted*, the Chat provider is OpenAI's search model for the Chat SDK, and for the other SDKs a server with OpenRouter's search. The
sources of the latter are not tied to a passage: they arrive as the results of a search, or as chunks without a passage. Chat Completions has no tool
for code, so *hosted* has only a search there, and a Chat provider answers without running code, which is a loss. Cited passages are those that the
provider names: claims for Messages and Gemini, printed links for OpenAI. In streams from Responses and Gemini to the Messages SDK they are wider,
because there a citation covers a whole block: the claim with its link, or the whole text. The Responses SDK does not keep other providers' sealed
search results; the second turn goes on without them.

The AI SDK (`ai` with its providers for OpenAI, Anthropic and Google), which checks every answer against a schema, gets the same results through the
gateway, for all pairs, complete and streamed. It and the official SDKs for Python also read 77 recorded answers of this kind, each translated into
the three other dialects, if the recordings are available.
"""
FAULTS = """
## Faults

Every fault of the simulator (`ikigai sim --help`) is tried with every Python SDK and every provider's dialect, complete and streamed. Each
becomes an exception of the SDK, or a complete answer if the fault does no harm. No fault leads to a truncated answer or a hang:
the gateway gives up on a silent provider after `timeouts.first_byte` and `timeouts.idle`. In a stream that passes through, an event with
broken content reaches the SDK unchanged, which then fails as it does without the gateway.

With their own retries on, the Python SDKs of OpenAI and Anthropic send a request once if the provider may have done its work (a connection that
broke, no answer in time), and again if the provider refused it (429, 503), complete and streamed.

## Agent programs

`./test --agents` runs Claude Code, Codex, Gemini CLI and opencode through the gateway, each with a provider of every dialect, on a task of
three turns. It is not part of every run, because it installs them from npm. Name the gateway's models after the models that answer: the programs
send what they think a model accepts, and if both sides speak the same dialect, that passes through.

Claude Code's `-p` prints the last block of an answer. If a Gemini model signs its text, that is the block that carries the signature, so
nothing is printed; `--output-format stream-json` shows the text.

## Other clients

These were tried once by hand against providers of all four dialects: text, streams, tools and structured output with each, and for most of
them also parallel calls, thinking over a tool turn, a picture and errors.

- Python: LangChain (`langchain-openai` 1.7.3 with Chat and Responses, `langchain-anthropic` 1.7.7, `langchain-google-genai` 4.4.2), Pydantic AI
  2.68.0, the OpenAI Agents SDK 0.24.0, LiteLLM 1.106.2 as a client (`openai/`, `openai/responses/`, `anthropic/`, `gemini/`, `azure/`), LlamaIndex
  0.14.25 (`llms-openai` 0.8.3, `llms-google-genai` 0.11.3), Agno 3.1.10, Semantic Kernel 1.45.0 (OpenAI, Anthropic, Google), smolagents 1.26.0
  (also as a client of Azure), Mirascope 2.8.2, Haystack 3.4.0 (OpenAI Chat and Responses, `anthropic-haystack` 8.0.1, `google-genai-haystack`
  7.0.0), Strands Agents 1.62.0, Google ADK 2.13.0, Agent Framework 1.23.0, AutoGen 0.7.5 (OpenAI and Azure); structured output alone:
  Instructor 1.17.0 with OpenAI and Anthropic; text alone: DSPy 3.4.1; text, streams and tools: CrewAI 1.15.30 with OpenAI, `groq` 1.7.0,
  `mistralai` 3.7.0, `llm` 0.36, and `openai` 0.28.1 with `functions`; text alone: `AzureOpenAI` of `openai` 3.51.0, and
  `google-genai` 3.3.0 with `vertexai=True`.
- Node: LangChain (`@langchain/openai` 1.5.8, `anthropic` 1.5.11, `google-genai` 2.3.2), `@openai/agents` 0.20.0, the AI SDK 6.0.326
  (`@ai-sdk/openai` 3.0.141 with Chat and Responses, `anthropic` 3.0.138, `google` 3.0.141, `openai-compatible` 2.0.87), and `runTools`, `parse` and
  `stream` of `openai` 6.49.0; text alone: `token.js` 0.7.1.
- Rust: `genai` 0.7.2 (OpenAI Chat and Responses, Anthropic, Gemini), `async-openai` 0.43.0 (Chat and Responses), `rig-core` 0.46.0 (OpenAI Chat
  and Responses, Anthropic, Gemini), with thinking over three tool turns.
- Agent programs, each on the task of `./test --agents`: pi 0.73.1 in all four dialects; opencode 1.18.33 with the AI SDK's providers for
  Anthropic and Google; Cline 3.0.65 with `openai` and Continue 1.5.47 with `openai` and `anthropic`, for some of
  the providers. aider 0.86.2 was only tried with a question.

What does not work, or not quietly:

- `llama-index-llms-anthropic` 0.12.3 and Mirascope's tools for Anthropic fail in themselves with the newest `anthropic` (`Cannot instantiate
  typing.Union`), and so does AutoGen's client for Anthropic (`unexpected keyword argument 'temperature'`).
- Agent Framework's client for Responses continues a tool turn with `previous_response_id`, which works only if the provider speaks Responses.
  Its documentation says that `"store": False` makes it send the whole conversation; that was not tried.
- Mirascope could not read a Responses stream from a Gemini model that signs a streamed text (`text_end_chunk while not processing text`), nor,
  for Gemini, thinking without a text (`Inside thought part with no text content`). Since then, such signatures are no longer in empty parts;
  it was not tried again.
- `google-genai-haystack` sends back nothing but what carries a signature. With thinking of a Messages or Responses model that has a text, that
  is the thinking, so the call is missing from the next turn, which is refused. In streams it loses parallel calls, whatever the provider.
- `genai` sends reasoning back to Responses without its summary, and the signature of a Messages model's thinking is valid only with its text
  (`Invalid signature in thinking block`). Without `with_capture_reasoning_content` there is no text to lose, and it works. For Gemini it puts
  the result of a tool into an object of its own, with `name` and `content`; the model gets that object, as it does without the gateway.
- `mistralai` reads answers and streams, but not the lists of models and embeddings, which Mistral spells differently.
- Agno and the AI SDK take an unknown name that begins with `claude-` for the newest model, and send what only that accepts (adaptive thinking,
  128,000 tokens). Name the gateway's models after the models that answer.
- `rig-core` goes by the name, too: for one that it does not know, it sends `max_tokens` to Chat Completions, adaptive thinking to Messages and
  `thinkingLevel` to Gemini.
- `langchain-anthropic` warns of an "unexpected tool content block" when a Gemini model signs a streamed text: the signature is in a
  `redacted_thinking` block, without tools unexpected there. The text is complete.
- The AI SDK warns of thinking without a signature from Gemini models ("Reasoning parts without encrypted content", "unsupported reasoning
  metadata") and leaves it out of the next turn. The signature is on the call, and goes back.
"""


def general(loss):
    """A loss without the numbers of messages and tools."""
    return re.sub(r"\[\d+\]", "[…]", loss)


def page(found):
    numbers = {}

    def cell(inbound, upstream, case):
        """`✓` with the numbers of its losses, for one language or for both."""
        marks = {}
        for language in LANGUAGES:
            losses = found[language].get(f"{inbound} {upstream} {case}")
            if losses is None:
                marks[language] = "✗"
                continue
            mine = sorted({numbers.setdefault(general(loss), len(numbers) + 1) for loss in losses})
            marks[language] = " ".join(["✓", *[f"<sup>{number}</sup>" for number in mine]])
        if len(set(marks.values())) == 1:
            return marks["python"]
        return " · ".join(f"{marks[language]} {language.capitalize()}" for language in LANGUAGES)

    lines = [HEAD]
    lines += [f"- *{case}*: {told}\n" for case, told in CASES.items()]
    for inbound, name in DIALECTS.items():
        lines.append(f"\n## {name} SDK\n\n| provider | {' | '.join(CASES)} |\n| --- |{' --- |' * len(CASES)}\n")
        for upstream, provider in DIALECTS.items():
            cells = " | ".join(cell(inbound, upstream, case) for case in CASES)
            lines.append(f"| {provider} | {cells} |\n")
    if numbers:
        lines.append("\n## Losses\n" + LOSSES)
        lines += [f"{number}. {loss}\n" for loss, number in numbers.items()]
    return "".join(lines + [SEARCHES, FAULTS])


def main(folder, *options):
    found = {language: json.loads(pathlib.Path(folder, f"{language}.json").read_text()) for language in LANGUAGES}
    cells = {f"{inbound} {upstream} {case}" for inbound in DIALECTS for upstream in DIALECTS for case in CASES}
    for language in LANGUAGES:
        if unknown := found[language].keys() ^ cells:
            sys.exit(f"{language}: these cells are not on the page, or were not run: {', '.join(sorted(unknown))}")
    text = page(found)
    if "--check" not in options:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        sys.exit("docs/conformance.md is out of date; write it with: tests/sdk/run write")


main(*sys.argv[1:])

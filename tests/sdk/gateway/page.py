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
    "stream": "the same in a stream, read by the SDK's accumulator",
    "tools": "a tool is called, its result sent back, and answered",
    "parallel": "two tools are called in one stream, their arguments in turns",
    "thinking": "three tool turns with thinking; the provider gets its sealed reasoning back, and checks it",
    "image": "a picture",
    "structured": "an answer to a schema, through the SDK's typed helper where it has one",
    "cited": "the provider searches, whole and streamed: every source arrives with its address and title, and the passage that rests on it",
    "hosted": "a search and code that the provider runs, whole and streamed, each with a second turn that the provider accepts",
    "error": "each failure of the provider (400, 401, 403, 404, 429, 500, 503) raises the SDK's class for it",
}
HEAD = """# Conformance

What the official SDKs for Python and Node get through the gateway, from a provider of every dialect. This page is written by the tests
(`tests/sdk/run write`), which run with every change (`tests/sdk/run`) and fail when it is out of date. The provider is the simulator
([sim.md](sim.md)), which checks requests as the real APIs do.

| SDK | Python | Node |
| --- | --- | --- |
| Chat Completions, Responses | `openai` | `openai` |
| Messages | `anthropic` | `@anthropic-ai/sdk` |
| Gemini | `google-genai` | `@google/genai` |

The cases:

"""
LOSSES = """
A number stands for what could not be carried, as the header `x-ikigai-losses` of the answers names it. What a stream loses behind its head is
in the gateway's log alone.

"""
SEARCHES = """
## Citations and tools that the provider runs

In *cited* and *hosted*, the provider of Chat is OpenAI's search model for the Chat SDK, and for the others a server with OpenRouter's search, whose sources are tied to
no passage: they arrive as the results of a search, or as chunks without a passage. Chat Completions has no tool for code, so *hosted* has a search alone there,
and a provider of Chat answers without running code, which is a loss. Cited passages are those that the provider names: claims for
Messages and Gemini, printed links for OpenAI. In streams from Responses and Gemini to the Messages SDK they are wider, as a citation is on a whole block there:
the claim with its link, or the whole text. The Responses SDK keeps no sealed search results of other providers; the second turn goes on without them.

The AI SDK (`ai` with its providers for OpenAI, Anthropic and Google), which checks every answer against a schema, gets the same through the gateway, for all
pairs, whole and streamed. It and the official SDKs for Python also read 77 recorded answers of this kind, each translated into the
three other dialects, where the recordings are at hand.
"""
FAULTS = """
## Faults

Every fault of the simulator (`ikigai sim --help`) is tried with every SDK for Python, every provider's dialect, whole and streamed. Each
becomes an exception of the SDK, or a complete answer where the fault does no harm. None becomes a short answer, and none a hang:
the gateway gives up a silent provider after `timeouts.first_byte` and `timeouts.idle`. In a stream that passes through, an event whose
content is broken reaches the SDK as it came, which then fails as it does without the gateway.

## Agent programs

`./test --agents` runs Claude Code, Codex, Gemini CLI and opencode through the gateway, each with a provider of every dialect, on a task of
three turns. It is not part of every run, because it installs them from npm. Name the models of the gateway after what answers: the programs
send what they think a model takes, and where both sides speak the same dialect that passes through.

Claude Code's `-p` prints the last block of an answer. Where a Gemini model signs its text, that is the block that carries the signature, so
nothing is printed; `--output-format stream-json` shows the text.

## Other clients

These were tried by hand, each against a provider of every dialect: text, streams, two tool turns, calls in parallel, thinking over a tool turn,
structured output, a picture, errors.

- Python: LangChain (`langchain-openai` 1.7.3 with Chat and Responses, `langchain-anthropic` 1.7.7, `langchain-google-genai` 4.4.2), Pydantic AI
  2.66.0, the OpenAI Agents SDK 0.24.0, LiteLLM 1.106.2 as a client (`openai/`, `openai/responses/`, `anthropic/`, `gemini/`), LlamaIndex 0.14.25
  (`llms-openai` 0.8.3, `llms-google-genai` 0.11.3); structured output alone: Instructor 1.17.0 with OpenAI and Anthropic.
- Node: LangChain (`@langchain/openai` 1.5.8, `anthropic` 1.5.11, `google-genai` 2.3.2), `@openai/agents` 0.20.0, `@ai-sdk/openai-compatible` 2.0.87,
  and `runTools`, `parse` and `stream` of `openai` 6.49.0.
- Qwen Code 0.15.10, on one tool turn, to Chat, Messages and Gemini.

What does not work, or not quietly:

- `llama-index-llms-anthropic` 0.12.3 fails in itself with the newest `anthropic` (`Cannot instantiate typing.Union`).
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

// The official SDKs behind one face: a conversation that asks, streamed or whole, and is given the results of tools.

import Anthropic from '@anthropic-ai/sdk';
import { ApiError, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { PNG, WEATHER } from './common.mjs';
import { GATEWAY, KEY, TOOLS } from './house.mjs';

const timeout = 20_000;
const openai = new OpenAI({ apiKey: KEY, baseURL: `${GATEWAY}/v1`, maxRetries: 0, timeout });
const anthropic = new Anthropic({ apiKey: KEY, baseURL: GATEWAY, maxRetries: 0, timeout });
const google = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: GATEWAY, timeout } });

const classesOf = (SDK) => ({
  400: SDK.BadRequestError, 401: SDK.AuthenticationError, 403: SDK.PermissionDeniedError, 404: SDK.NotFoundError,
  429: SDK.RateLimitError, 500: SDK.InternalServerError, 503: SDK.InternalServerError,
});
const hasClass = (SDK) => (error, status) => error instanceof classesOf(SDK)[status];
const url = `data:image/png;base64,${PNG}`;

// A tool that is none of OpenAI's: its SDK checks those that it is given, so this one is put into the request behind it.
const SEARCH = { type: 'openrouter:web_search' };
const searching = new OpenAI({
  apiKey: KEY, baseURL: `${GATEWAY}/v1`, maxRetries: 0, timeout,
  fetch: (to, init) => fetch(to, { ...init, body: JSON.stringify({ ...JSON.parse(init.body), tools: [SEARCH] }) }),
});

class Chat {
  static isError = hasClass(OpenAI);
  static finishes = { text: 'stop', tools: 'tool_calls' };

  constructor({ model, prompt, tools, thinks, image, runs }) {
    const picture = { type: 'image_url', image_url: { url } };
    const offer = (name) => ({ type: 'function', function: { name, parameters: WEATHER, strict: true } });
    this.messages = [{ role: 'user', content: image ? [{ type: 'text', text: prompt }, picture] : prompt }];
    this.settings = { model, tools: tools && TOOLS.map(offer), reasoning_effort: thinks && 'medium' };
    const own = model === 'search-openai';
    if (runs === 'search' && own) this.settings.web_search_options = {};
    this.openai = runs === 'search' && !own ? searching : openai;
  }

  async ask({ streams = false } = {}) {
    const request = { ...this.settings, messages: this.messages };
    let pieces = 0;
    let done;
    if (streams) {
      const stream = this.openai.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
      stream.on('content', () => (pieces += 1));
      done = await stream.finalChatCompletion();
    } else {
      done = await this.openai.chat.completions.create(request);
    }
    const { message, finish_reason: finish } = done.choices[0];
    this.messages.push(message);
    return {
      text: message.content ?? '',
      thinking: message.reasoning_content ?? '',
      calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
        id, name, arguments: JSON.parse(args),
      })),
      finish,
      outputTokens: done.usage.completion_tokens,
      pieces,
      ...Chat.cited(message),
    };
  }

  static cited({ content, annotations = [] }) {
    const cited = annotations.map((annotation) => annotation.url_citation);
    const passage = (one) => [...content].slice(one.start_index, one.end_index).join('');
    return {
      citations: cited.filter((one) => one.end_index).map((one) => [passage(one), one.url, one.title]),
      sources: cited.filter((one) => !one.end_index).map((one) => [one.url, one.title]),
      ran: [],
    };
  }

  say(content) {
    this.messages.push({ role: 'user', content });
  }

  give(results) {
    this.messages.push(...results.map(([call, content]) => ({ role: 'tool', tool_call_id: call.id, content })));
  }

  async parse(shape) {
    const response_format = zodResponseFormat(shape, 'invoice');
    const done = await openai.chat.completions.parse({ ...this.settings, messages: this.messages, response_format });
    return done.choices[0].message.parsed;
  }
}

class Responses {
  static isError = hasClass(OpenAI);
  static finishes = { text: 'completed', tools: 'completed' };

  constructor({ model, prompt, tools, thinks, image, runs }) {
    const parts = [{ type: 'input_text', text: prompt }, { type: 'input_image', image_url: url, detail: 'auto' }];
    this.input = [{ role: 'user', content: image ? parts : prompt }];
    this.settings = {
      model,
      store: false,
      tools: tools && TOOLS.map((name) => ({ type: 'function', name, parameters: WEATHER, strict: true })),
      include: thinks && ['reasoning.encrypted_content'],
      reasoning: thinks && { effort: 'medium', summary: 'auto' },
    };
    if (runs === 'search') {
      Object.assign(this.settings, { tools: [{ type: 'web_search' }], include: ['web_search_call.action.sources'] });
    }
    if (runs === 'code') {
      const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }];
      Object.assign(this.settings, { tools, include: ['code_interpreter_call.outputs'] });
    }
  }

  async ask({ streams = false } = {}) {
    const request = { ...this.settings, input: this.input };
    let pieces = 0;
    let done;
    if (streams) {
      const stream = openai.responses.stream(request);
      stream.on('response.output_text.delta', () => (pieces += 1));
      done = await stream.finalResponse();
    } else {
      done = await openai.responses.create(request);
    }
    this.input.push(...done.output.map(({ parsed_arguments, ...item }) => item));
    const of = (type) => done.output.filter((item) => item.type === type);
    return {
      text: done.output_text,
      thinking: of('reasoning').flatMap((item) => item.summary.map((part) => part.text)).join(''),
      calls: of('function_call').map((item) => ({
        id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments),
      })),
      finish: done.status,
      outputTokens: done.usage.output_tokens,
      pieces,
      ...Responses.cited(done.output),
    };
  }

  static cited(output) {
    const of = (type) => output.filter((item) => item.type === type);
    const passage = (text, one) => [...text].slice(one.start_index, one.end_index).join('');
    const parts = of('message').flatMap((item) => item.content);
    const searches = of('web_search_call');
    const logs = (item) => (item.outputs ?? []).map((output) => output.logs).join('');
    return {
      citations: parts.flatMap(({ text, annotations }) =>
        annotations.map((one) => [passage(text, one), one.url, one.title]),
      ),
      sources: searches.flatMap(({ action }) => (action.sources ?? []).map((source) => [source.url, null])),
      ran: [
        ...searches.map((item) => ['search', item.action.query]),
        ...of('code_interpreter_call').map((item) => ['code', item.code, logs(item)]),
      ],
    };
  }

  say(content) {
    this.input.push({ role: 'user', content });
  }

  give(results) {
    const output = ([call, text]) => ({ type: 'function_call_output', call_id: call.id, output: text });
    this.input.push(...results.map(output));
  }

  async parse(shape) {
    const text = { format: zodTextFormat(shape, 'invoice') };
    return (await openai.responses.parse({ ...this.settings, input: this.input, text })).output_parsed;
  }
}

class Messages {
  static isError = hasClass(Anthropic);
  static finishes = { text: 'end_turn', tools: 'tool_use' };

  constructor({ model, prompt, tools, thinks, image, runs }) {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };
    this.messages = [{ role: 'user', content: image ? [{ type: 'text', text: prompt }, picture] : prompt }];
    this.settings = {
      model,
      max_tokens: 4096,
      tools: tools && TOOLS.map((name) => ({ name, description: '…', input_schema: WEATHER })),
      thinking: thinks && { type: 'enabled', budget_tokens: 2048 },
    };
    if (runs === 'search') this.settings.tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    if (runs === 'code') this.settings.tools = [{ type: 'code_execution_20250825', name: 'code_execution' }];
  }

  async ask({ streams = false } = {}) {
    const request = { ...this.settings, messages: this.messages };
    let pieces = 0;
    let done;
    if (streams) {
      const stream = anthropic.messages.stream(request);
      stream.on('text', () => (pieces += 1));
      done = await stream.finalMessage();
    } else {
      done = await anthropic.messages.create(request);
    }
    this.messages.push({ role: 'assistant', content: done.content });
    const of = (type) => done.content.filter((block) => block.type === type);
    return {
      text: of('text').map((block) => block.text).join(''),
      thinking: of('thinking').map((block) => block.thinking).join(''),
      calls: of('tool_use').map(({ id, name, input }) => ({ id, name, arguments: input })),
      finish: done.stop_reason,
      outputTokens: done.usage.output_tokens,
      pieces,
      ...Messages.cited(done.content),
    };
  }

  static cited(content) {
    const found = { citations: [], sources: [], ran: [] };
    const asked = {};
    for (const block of content) {
      if (block.type === 'text') {
        found.citations.push(...(block.citations ?? []).map((one) => [block.text, one.url, one.title]));
      } else if (block.type === 'server_tool_use') {
        asked[block.id] = block.input;
      } else if (block.type === 'web_search_tool_result') {
        found.ran.push(['search', asked[block.tool_use_id].query]);
        found.sources.push(...block.content.map((page) => [page.url, page.title]));
      } else if (block.type.endsWith('code_execution_tool_result')) {
        const { code, command } = asked[block.tool_use_id];
        found.ran.push(['code', code ?? command, block.content.stdout]);
      }
    }
    return found;
  }

  say(content) {
    this.messages.push({ role: 'user', content });
  }

  give(results) {
    const result = ([call, content]) => ({ type: 'tool_result', tool_use_id: call.id, content });
    this.messages.push({ role: 'user', content: results.map(result) });
  }

  async parse(shape, schema) {
    const output_config = { format: { type: 'json_schema', schema } };
    const done = await anthropic.messages.create({ ...this.settings, messages: this.messages, output_config });
    return shape.parse(JSON.parse(done.content.at(-1).text));
  }
}

class Gemini {
  static isError = (error, status) => error instanceof ApiError && error.status === status;
  static finishes = { text: 'STOP', tools: 'STOP' };

  constructor({ model, prompt, tools, thinks, image, runs }) {
    const parts = [{ text: prompt }];
    if (image) parts.push({ inlineData: { mimeType: 'image/png', data: PNG } });
    const functionDeclarations = TOOLS.map((name) => ({ name, parametersJsonSchema: WEATHER }));
    this.model = model;
    this.contents = [{ role: 'user', parts }];
    this.config = {
      tools: tools && [{ functionDeclarations }],
      thinkingConfig: thinks && { includeThoughts: true, thinkingBudget: 2048 },
    };
    if (runs === 'search') this.config.tools = [{ googleSearch: {} }];
    if (runs === 'code') this.config.tools = [{ codeExecution: {} }];
  }

  async ask({ streams = false } = {}) {
    const request = { model: this.model, contents: this.contents, config: this.config };
    const chunks = [];
    if (streams) {
      for await (const chunk of await google.models.generateContentStream(request)) chunks.push(chunk);
    } else {
      chunks.push(await google.models.generateContent(request));
    }
    const candidates = chunks.flatMap((chunk) => chunk.candidates ?? []);
    const parts = candidates.flatMap((candidate) => candidate.content?.parts ?? []);
    this.contents.push({ role: 'model', parts });
    const texts = parts.filter((part) => part.text && !part.thought);
    return {
      text: texts.map((part) => part.text).join(''),
      thinking: parts.filter((part) => part.text && part.thought).map((part) => part.text).join(''),
      calls: parts
        .filter((part) => part.functionCall)
        .map(({ functionCall: { id, name, args } }) => ({ id, name, arguments: args })),
      finish: candidates.at(-1).finishReason,
      outputTokens: chunks.at(-1).usageMetadata.candidatesTokenCount,
      pieces: texts.length,
      ...Gemini.cited(candidates.at(-1), Buffer.from(texts.map((part) => part.text).join('')), parts),
    };
  }

  static cited({ groundingMetadata: grounding = {} }, said, parts) {
    const pages = (grounding.groundingChunks ?? []).map(({ web }) => [web.uri, web.title]);
    const citations = [];
    const cited = new Set();
    for (const { segment, groundingChunkIndices: places } of grounding.groundingSupports ?? []) {
      const passage = said.subarray(segment.startIndex ?? 0, segment.endIndex).toString();
      if (passage !== segment.text) throw new Error(`the segment is ${segment.text}, its range ${passage}`);
      citations.push(...places.map((place) => [passage, ...pages[place]]));
      places.forEach((place) => cited.add(place));
    }
    const codes = parts.filter((part) => part.executableCode);
    const results = parts.filter((part) => part.codeExecutionResult);
    return {
      citations,
      sources: pages.filter((_, place) => !cited.has(place)),
      ran: [
        ...parts.filter((part) => part.toolCall).map((part) => ['search', ...part.toolCall.args.queries]),
        ...codes.map((part, n) => ['code', part.executableCode.code, results[n].codeExecutionResult.output]),
      ],
    };
  }

  say(text) {
    this.contents.push({ role: 'user', parts: [{ text }] });
  }

  give(results) {
    const response = ([{ id, name }, output]) => ({ functionResponse: { id, name, response: { output } } });
    this.contents.push({ role: 'user', parts: results.map(response) });
  }

  async parse(shape, schema) {
    const config = { ...this.config, responseMimeType: 'application/json', responseJsonSchema: schema };
    const done = await google.models.generateContent({ model: this.model, contents: this.contents, config });
    return shape.parse(JSON.parse(done.text));
  }
}

export const CLIENTS = { chat: Chat, responses: Responses, messages: Messages, gemini: Gemini };

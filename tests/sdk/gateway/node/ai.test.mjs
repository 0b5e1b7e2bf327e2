// The AI SDK, which checks every answer against a schema: through the gateway to a provider of every dialect, and with
// recorded answers that were translated.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText } from 'ai';
import { DIALECTS, GATEWAY, KEY, PAGES, reset, searching, told } from './house.mjs';

const SEARCH = 'Please search for fjords.';
// What makes a Chat client search, which the SDK has no word for.
const OPENROUTER = { tools: [{ type: 'openrouter:web_search' }] };
const OPENAI = { web_search_options: {} };

// The provider of each dialect, and its own tools. `more` is put into every request.
const asking = (more) => (to, init) => fetch(to, { ...init, body: JSON.stringify({ ...JSON.parse(init.body), ...more }) });
const settings = (path, more = {}) => ({ apiKey: KEY, baseURL: `${GATEWAY}/${path}`, fetch: asking(more) });
const openai = createOpenAI(settings('v1'));
const anthropic = createAnthropic(settings('v1'));
const google = createGoogleGenerativeAI(settings('v1beta'));
const CLIENTS = {
  chat: (name) => createOpenAI(settings('v1', name === 'search-openai' ? OPENAI : OPENROUTER)).chat(name),
  responses: (name) => openai.responses(name),
  messages: (name) => anthropic(name),
  // It offers its tools to models of the family alone.
  gemini: (name) => google(`gemini-2.5-pro-${name}`),
};
const TOOLS = {
  search: {
    responses: { web_search: openai.tools.webSearch({}) },
    messages: { web_search: anthropic.tools.webSearch_20250305({}) },
    gemini: { google_search: google.tools.googleSearch({}) },
  },
  code: {
    responses: { code_interpreter: openai.tools.codeInterpreter({}) },
    messages: { code_execution: anthropic.tools.codeExecution_20250825({}) },
    gemini: { code_execution: google.tools.codeExecution({}) },
  },
};

// An answer in one piece or as a stream, as one thing.
async function ask(options, streams) {
  if (!streams) {
    const { text, sources, toolCalls, toolResults, response, finishReason } = await generateText(options);
    return { text, sources, toolCalls, toolResults, messages: response.messages, finishReason };
  }
  const failures = [];
  const done = streamText({ ...options, onError: ({ error }) => failures.push(error) });
  await done.consumeStream();
  assert.deepEqual(failures, []);
  return {
    text: await done.text, sources: await done.sources, toolCalls: await done.toolCalls,
    toolResults: await done.toolResults, messages: (await done.response).messages, finishReason: await done.finishReason,
  };
}

// A question, and another one behind its answer.
async function talk(model, tools, prompt, streams) {
  const question = { role: 'user', content: prompt };
  const options = { model, tools, maxRetries: 0 };
  const answer = await ask({ ...options, messages: [question] }, streams);
  assert.equal(answer.finishReason, 'stop');
  assert.deepEqual(answer.toolCalls.filter((call) => call.invalid), []);
  const next = { role: 'user', content: 'Thanks. What is 2+2?' };
  const { text } = await ask({ ...options, messages: [question, ...answer.messages, next] }, streams);
  assert.equal(text, '2+2 = 4');
  return answer;
}

for (const inbound of DIALECTS) {
  for (const upstream of DIALECTS) {
    for (const streams of [false, true]) {
      const way = `AI SDK, ${inbound} to ${upstream}, ${streams ? 'stream' : 'whole'}`;
      test(`${way}: a cited answer and a second turn`, async () => {
        await reset();
        const model = CLIENTS[inbound](searching(inbound, upstream));
        const { text, sources } = await talk(model, TOOLS.search[inbound], SEARCH, streams);
        assert.match(text, /^Here is what the web says about “fjords”/);
        const found = new Map(sources.map(({ url, title }) => [url, title]));
        const cited = upstream === 'chat' && inbound !== 'chat' ? PAGES : told(upstream).map(([, ...page]) => page);
        for (const [url, title] of cited) {
          // The SDK takes sources from searches where there are some: Responses has the address alone there, and
          // without what OpenAI adds to it in a text.
          const plain = url.replace(/[?&]utm_source=openai$/, '');
          assert.ok(found.has(url) || found.has(plain), `${url} is not in ${JSON.stringify(sources)}`);
          if (inbound !== 'responses') assert.equal(found.get(url), title);
        }
      });
      if (inbound === 'chat' || upstream === 'chat') continue;
      test(`${way}: code and a second turn`, async () => {
        await reset();
        const model = CLIENTS[inbound](`to-${upstream}`);
        const { text, toolCalls, toolResults } = await talk(model, TOOLS.code[inbound], 'Run `print(6*7)`', streams);
        assert.equal(text, 'The code printed: 42');
        assert.equal(toolCalls.length, 1);
        assert.match(JSON.stringify(toolCalls[0].input), /print\(6\*7\)/);
        assert.match(JSON.stringify(toolResults[0].output), /42\\n/);
      });
    }
  }
}

// What the provider of the AI SDK makes of these bytes.
const READERS = {
  'openai-chat': (fetch) => createOpenAI({ apiKey: KEY, fetch }).chat('m'),
  'openai-responses': (fetch) => createOpenAI({ apiKey: KEY, fetch }).responses('m'),
  anthropic: (fetch) => createAnthropic({ apiKey: KEY, fetch })('m'),
  gemini: (fetch) => createGoogleGenerativeAI({ apiKey: KEY, fetch })('gemini-2.5-pro'),
};
const folder = process.env.IKIGAI_TRANSLATED;
const skip = folder ? false : 'there are no recorded exchanges here';
for (const dialect of Object.keys(READERS)) {
  test(`AI SDK: translated recordings in ${dialect}`, { skip }, async () => {
    const wrong = [];
    const files = readdirSync(folder).filter((file) => file.split('.')[1] === dialect);
    for (const file of files) {
      const streams = file.endsWith('.sse');
      const headers = { 'content-type': streams ? 'text/event-stream' : 'application/json' };
      const model = READERS[dialect](async () => new Response(readFileSync(`${folder}/${file}`), { headers }));
      const prompt = [{ role: 'user', content: [{ type: 'text', text: 'x' }] }];
      try {
        if (streams) {
          for await (const part of (await model.doStream({ prompt })).stream) {
            if (part.type === 'error') throw part.error;
          }
        } else {
          await model.doGenerate({ prompt });
        }
      } catch (error) {
        wrong.push(`${file}: ${String(error?.cause?.message ?? error?.message ?? JSON.stringify(error)).slice(-400)}`);
      }
    }
    assert.ok(files.length > 40, `${files.length} files`);
    assert.deepEqual(wrong, []);
  });
}

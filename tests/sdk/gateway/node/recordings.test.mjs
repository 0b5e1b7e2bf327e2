// Recorded answers with citations and tools that providers run, translated: the official SDKs read every one of them.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';

const apiKey = 'k';
const messages = [{ role: 'user', content: 'x' }];

// What is read of an answer.
const READERS = {
  'openai-chat': async (fetch, streams) => {
    const { chat } = new OpenAI({ apiKey, fetch, maxRetries: 0 });
    if (!streams) return (await chat.completions.create({ model: 'm', messages })).choices;
    return (await chat.completions.stream({ model: 'm', messages }).finalChatCompletion()).choices;
  },
  'openai-responses': async (fetch, streams) => {
    const { responses } = new OpenAI({ apiKey, fetch, maxRetries: 0 });
    if (!streams) return (await responses.create({ model: 'm', input: 'x' })).output;
    return (await responses.stream({ model: 'm', input: 'x' }).finalResponse()).output;
  },
  anthropic: async (fetch, streams) => {
    const client = new Anthropic({ apiKey, fetch, maxRetries: 0 });
    const asked = { model: 'm', max_tokens: 9, messages };
    if (!streams) return (await client.messages.create(asked)).content;
    return (await client.messages.stream(asked).finalMessage()).content;
  },
  // This one takes no other way to send, so the global one is its.
  gemini: async (fetch, streams) => {
    const { models } = new GoogleGenAI({ apiKey });
    const before = globalThis.fetch;
    globalThis.fetch = fetch;
    try {
      if (!streams) return (await models.generateContent({ model: 'm', contents: 'x' })).candidates;
      const found = [];
      for await (const chunk of await models.generateContentStream({ model: 'm', contents: 'x' })) {
        found.push(...(chunk.candidates ?? []));
      }
      return found;
    } finally {
      globalThis.fetch = before;
    }
  },
};

const folder = process.env.IKIGAI_TRANSLATED;
const skip = folder ? false : 'there are no recorded exchanges here';
for (const [dialect, read] of Object.entries(READERS)) {
  test(`translated recordings in ${dialect}`, { skip }, async () => {
    const files = readdirSync(folder).filter((file) => file.split('.')[1] === dialect);
    const wrong = [];
    let said = 0;
    for (const file of files) {
      const streams = file.endsWith('.sse');
      const headers = { 'content-type': streams ? 'text/event-stream' : 'application/json' };
      try {
        const found = await read(async () => new Response(readFileSync(`${folder}/${file}`), { headers }), streams);
        said += found.length > 0 ? 1 : 0;
      } catch (error) {
        wrong.push(`${file}: ${String(error?.message ?? error).slice(0, 400)}`);
      }
    }
    assert.ok(files.length > 40, `${files.length} files`);
    assert.deepEqual(wrong, []);
    // One holds nothing but a call that the client runs, for which not every dialect has a form.
    assert.ok(said >= files.length - 1, `${said} of ${files.length} say something`);
  });
}

// Every SDK through the gateway to a provider of every dialect. A case is one function of `CASES`.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { z } from 'zod';
import { CLIENTS } from './clients.mjs';
import { TWENTY } from './common.mjs';
import { DIALECTS, TOOLS, expect, losses, received, reset } from './house.mjs';

const Invoice = z.object({ number: z.number().int(), amount: z.number(), currency: z.string() });
const SCHEMA = {
  type: 'object',
  properties: { number: { type: 'integer' }, amount: { type: 'number' }, currency: { type: 'string' } },
  required: ['number', 'amount', 'currency'],
  additionalProperties: false,
};

// Where each provider's sealed reasoning stands in the request that brings it back.
const STATE = { responses: '"encrypted_content":', messages: '"signature":', gemini: '"thoughtSignature":' };

const CASES = {
  async text(Client, model) {
    const { text, finish, outputTokens } = await new Client({ model, prompt: 'What is 2+2?' }).ask();
    assert.deepEqual([text, finish], ['2+2 = 4', Client.finishes.text]);
    assert.ok(outputTokens > 0);
  },

  async stream(Client, model) {
    const answer = await new Client({ model, prompt: 'count to 20' }).ask({ streams: true });
    assert.deepEqual([answer.text, answer.finish], [TWENTY, Client.finishes.text]);
    assert.ok(answer.pieces > 3 && answer.outputTokens > 0);
  },

  async tools(Client, model) {
    const talk = new Client({ model, prompt: 'Call get_weather with city="Oslo".', tools: true });
    const first = await talk.ask();
    assert.equal(first.finish, Client.finishes.tools);
    assert.deepEqual(first.calls.map((call) => [call.name, call.arguments]), [['get_weather', { city: 'Oslo' }]]);
    talk.give([[first.calls[0], '4 °C']]);
    const { text, calls, finish } = await talk.ask();
    assert.deepEqual([text, calls, finish], ['get_weather answered: 4 °C', [], Client.finishes.text]);
  },

  async parallel(Client, model) {
    const calls = TOOLS.map((name) => ({ name, arguments: { city: `${name} of a city with a long name` } }));
    await expect({ tool_calls: calls, interleaved: true });
    const talk = new Client({ model, prompt: 'Both, please.', tools: true });
    const first = await talk.ask({ streams: true });
    assert.deepEqual(first.calls.map((call) => ({ name: call.name, arguments: call.arguments })), calls);
    assert.equal(first.finish, Client.finishes.tools);
    talk.give(first.calls.map((call) => [call, call.name.slice(4)]));
    const last = await talk.ask({ streams: true });
    assert.equal(last.text, 'get_weather answered: weather; get_time answered: time');
  },

  async thinking(Client, model, upstream) {
    const steps = [['get_weather', 'Oslo'], ['get_time', 'Oslo'], ['get_weather', 'Bergen']];
    const prompt = steps.map(([name, city]) => `call ${name} with city="${city}"`).join(' then ');
    const talk = new Client({ model, prompt, tools: true, thinks: true });
    const thoughts = [];
    for (const [place, [name, city]] of steps.entries()) {
      const { calls, thinking } = await talk.ask({ streams: place % 2 === 0 });
      assert.deepEqual(calls.map((call) => [call.name, call.arguments]), [[name, { city }]]);
      thoughts.push(thinking !== '');
      talk.give([[calls[0], `fine ${place}`]]);
    }
    assert.equal((await talk.ask()).text, 'get_weather answered: fine 2');
    // Chat Completions of OpenAI tells no thoughts.
    assert.deepEqual(thoughts, Array(3).fill(upstream !== 'chat'));
    // The provider got back the state of each of its turns, and checked it.
    const last = JSON.stringify((await received()).at(-1));
    assert.equal(upstream in STATE ? last.split(STATE[upstream]).length - 1 : 3, 3, last);
  },

  async image(Client, model) {
    const { text } = await new Client({ model, prompt: 'Look', image: true }).ask();
    assert.match(text, /^I see an image \(image\/png, /);
  },

  async structured(Client, model) {
    const prompt = 'number=4711, amount=120.5, currency "EUR"';
    const parsed = await new Client({ model, prompt }).parse(Invoice, SCHEMA);
    assert.deepEqual(parsed, { number: 4711, amount: 120.5, currency: 'EUR' });
  },

  async error(Client, model) {
    for (const status of [400, 401, 403, 404, 429, 500, 503]) {
      for (const streams of [false, true]) {
        await expect({ fault: `status=${status}` });
        await assert.rejects(new Client({ model, prompt: 'x' }).ask({ streams }), (error) => {
          assert.ok(Client.isError(error, status), `${status}, streams: ${streams}: ${error}`);
          assert.match(error.message, /\(simulated\)/);
          return true;
        });
      }
    }
  },
};

// What was lost in each cell, for the page about conformance.
const results = {};
after(() => {
  const folder = process.env.IKIGAI_CONFORMANCE;
  if (folder) writeFileSync(`${folder}/node.json`, JSON.stringify(results));
});

for (const inbound of DIALECTS) {
  for (const upstream of DIALECTS) {
    for (const [name, run] of Object.entries(CASES)) {
      test(`${inbound} to ${upstream}: ${name}`, async () => {
        await reset();
        losses.length = 0;
        await run(CLIENTS[inbound], `to-${upstream}`, upstream);
        results[`${inbound} ${upstream} ${name}`] = [...new Set(losses)].sort();
      });
    }
  }
}

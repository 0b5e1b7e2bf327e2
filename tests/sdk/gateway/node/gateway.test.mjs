// Every SDK through the gateway to a provider of every dialect. A case is one function of `CASES`.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { z } from 'zod';
import { CLIENTS } from './clients.mjs';
import { TWENTY } from './common.mjs';
import { DIALECTS, PAGES, TOOLS, expect, losses, received, reset, searching, told } from './house.mjs';

const Invoice = z.object({ number: z.number().int(), amount: z.number(), currency: z.string() });
const SCHEMA = {
  type: 'object',
  properties: { number: { type: 'integer' }, amount: { type: 'number' }, currency: { type: 'string' } },
  required: ['number', 'amount', 'currency'],
  additionalProperties: false,
};

const SEARCH = 'Please search for fjords.';

// Where the provider's own state of a search stands in the request that brings it back.
const SEARCHED = { messages: '"encrypted_content":', responses: '"web_search_call"' };

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

  async cited(Client, _, upstream, inbound) {
    for (const streams of [false, true]) {
      const talk = new Client({ model: searching(inbound, upstream), prompt: SEARCH, runs: 'search' });
      const { text, finish, citations, sources } = await talk.ask({ streams });
      assert.match(text, /Here is what the web says about “fjords”\. The encyclopedia describes/);
      assert.equal(finish, Client.finishes.text);
      if (upstream === 'chat' && inbound !== 'chat') {
        // Sources without passages; Responses has no titles for them.
        assert.deepEqual(citations, []);
        assert.deepEqual(sources, PAGES.map(([url, title]) => [url, inbound === 'responses' ? null : title]));
        continue;
      }
      const expected = told(upstream);
      // In a stream of blocks, what is told behind a text is on the block that was open.
      if (streams && inbound === 'messages' && ['responses', 'gemini'].includes(upstream)) {
        for (const [place, cited] of citations.entries()) {
          assert.ok(cited[0].includes(expected[place]?.[0]), `${cited[0]}: ${expected[place]}`);
          cited[0] = expected[place][0];
        }
      }
      assert.deepEqual(citations, expected);
    }
  },

  async hosted(Client, model, upstream, inbound) {
    for (const streams of [false, true]) {
      const talk = new Client({ model: searching(inbound, upstream), prompt: SEARCH, runs: 'search' });
      const { ran } = await talk.ask({ streams });
      if (upstream in SEARCHED) assert.deepEqual(ran, inbound === 'chat' ? [] : [['search', 'fjords']]);
      talk.say('Thanks. What is 2+2?');
      assert.equal((await talk.ask({ streams })).text, '2+2 = 4');
      // Responses has no field for the state of others.
      if (upstream in SEARCHED && (inbound === upstream || inbound !== 'responses')) {
        const last = JSON.stringify((await received()).at(-1));
        assert.ok(last.includes(SEARCHED[upstream]), last);
      }
      // Chat Completions has no tool for code.
      if (inbound === 'chat') continue;
      const second = new Client({ model, prompt: 'Run `print(6*7)`', runs: 'code' });
      const answer = await second.ask({ streams });
      const printed = ['The code printed: 42', [['code', 'print(6*7)', '42\n']]];
      assert.deepEqual([answer.text, answer.ran], upstream === 'chat' ? ['(6*7) = 42', []] : printed);
      second.say('Thanks. What is 2+2?');
      assert.equal((await second.ask({ streams })).text, '2+2 = 4');
    }
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
        await run(CLIENTS[inbound], `to-${upstream}`, upstream, inbound);
        results[`${inbound} ${upstream} ${name}`] = [...new Set(losses)].sort();
      });
    }
  }
}

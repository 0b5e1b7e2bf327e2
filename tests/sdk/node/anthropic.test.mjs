import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { FILLED, PEOPLE, PNG, STEPS, TWENTY, URL, WEATHER, WRITTEN, post, received } from './common.mjs';

const client = new Anthropic({ apiKey: 'key', baseURL: URL, maxRetries: 0 });
const model = 'claude-sonnet-4-5';
const names = ['get_weather', 'get_time'];
const tools = names.map((name) => ({ name, description: '…', input_schema: WEATHER }));
const user = (content) => ({ role: 'user', content });
const ask = (content, more = {}, options = {}) =>
  client.messages.create({ model, max_tokens: 1024, messages: [user(content)], ...more }, options);

beforeEach(() => post('/_sim/reset'));

test('text', async () => {
  const answer = await ask('What is 2+2?');
  assert.equal(answer.content[0].text, '2+2 = 4');
  assert.equal(answer.stop_reason, 'end_turn');
});

test('a stream with the accumulator', async () => {
  const stream = client.messages.stream({ model, max_tokens: 1024, messages: [user('count to 20')] });
  let text = '';
  stream.on('text', (piece) => (text += piece));
  assert.equal((await stream.finalMessage()).content[0].text, TWENTY);
  assert.equal(text, TWENTY);
});

test('thinking with a tool loop over three turns', async () => {
  const settings = { model, max_tokens: 4096, tools, thinking: { type: 'enabled', budget_tokens: 2048 } };
  const messages = [user('Call get_weather with city="Oslo" then call get_time with city="Oslo".')];
  for (const name of names) {
    const answer = await client.messages.stream({ ...settings, messages }).finalMessage();
    assert.deepEqual(answer.content.map((block) => block.type), ['thinking', 'tool_use']);
    const [thinking, call] = answer.content;
    assert.ok(thinking.signature);
    assert.deepEqual([call.name, call.input], [name, { city: 'Oslo' }]);
    messages.push({ role: 'assistant', content: answer.content });
    messages.push(user([{ type: 'tool_result', tool_use_id: call.id, content: 'fine' }]));
  }
  const last = await client.messages.create({ ...settings, messages });
  assert.equal(last.content.at(-1).text, 'get_time answered: fine');
  messages[1].content[0].thinking = 'something else';
  await assert.rejects(client.messages.create({ ...settings, messages }), Anthropic.BadRequestError);
});

test('the tool runner streams thinking and three turns of tools', async () => {
  const seen = [];
  const runner = client.beta.messages.toolRunner({
    model,
    max_tokens: 4096,
    stream: true,
    thinking: { type: 'enabled', budget_tokens: 2048 },
    messages: [user(PEOPLE)],
    tools: names.map((name) =>
      betaTool({
        name,
        description: '…',
        inputSchema: WEATHER,
        run: (given) => {
          seen.push([name, given]);
          return 'fine';
        },
      }),
    ),
  });
  let streamed = '';
  for await (const stream of runner) {
    for await (const event of stream) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') streamed += event.delta.text;
    }
  }
  assert.deepEqual([seen, streamed], [STEPS, 'get_weather answered: fine']);
});

test('a schema in the prompt is filled', async () => {
  assert.deepEqual(JSON.parse((await ask(WRITTEN)).content[0].text), FILLED);
});

test('parallel tools', async () => {
  const answer = await ask('Use get_weather and get_time for Bergen.', { tools });
  assert.deepEqual(answer.content.filter((block) => block.type === 'tool_use').map((block) => block.name), names);
});

test('structured output', async () => {
  const schema = {
    type: 'object',
    properties: { number: { type: 'integer' }, currency: { type: 'string' } },
    required: ['number', 'currency'],
    additionalProperties: false,
  };
  const answer = await ask('number=4711, currency "EUR"', { output_config: { format: { type: 'json_schema', schema } } });
  assert.deepEqual(JSON.parse(answer.content[0].text), { number: 4711, currency: 'EUR' });
});

test('an image is seen', async () => {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } };
  const answer = await ask([{ type: 'text', text: 'Look' }, picture]);
  assert.match(answer.content[0].text, /^I see an image \(image\/png, /);
});

test('tokens are counted', async () => {
  const count = await client.messages.countTokens({ model, messages: [user('How many tokens?')] });
  assert.equal(count.input_tokens, (await ask('How many tokens?')).usage.input_tokens);
});

for (const [status, error] of [
  [400, Anthropic.BadRequestError],
  [401, Anthropic.AuthenticationError],
  [403, Anthropic.PermissionDeniedError],
  [404, Anthropic.NotFoundError],
  [429, Anthropic.RateLimitError],
  [500, Anthropic.InternalServerError],
]) {
  test(`an error ${status} has its class`, async () => {
    await assert.rejects(ask('x', {}, { headers: { 'x-sim-fault': `status=${status}` } }), error);
  });
}

test('retries are honoured', async () => {
  await post('/_sim/expect', { reply: [{ fault: 'status=529' }] });
  const patient = new Anthropic({ apiKey: 'key', baseURL: URL, maxRetries: 2 });
  const answer = await patient.messages.create({ model, max_tokens: 99, messages: [user('say hi')] });
  assert.equal(answer.content[0].text, 'hi');
  assert.equal((await received()).length, 2);
});

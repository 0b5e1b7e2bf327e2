import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import { FILLED, PEOPLE, PNG, STEPS, TWENTY, URL, WEATHER, WRITTEN, post, received } from './common.mjs';

const client = new OpenAI({ apiKey: 'key', baseURL: URL + '/v1', maxRetries: 0 });
const model = 'gpt-4.1';
const names = ['get_weather', 'get_time'];
const chatTools = names.map((name) => ({ type: 'function', function: { name, parameters: WEATHER, strict: true } }));
const tools = names.map((name) => ({ type: 'function', name, parameters: WEATHER, strict: true }));
const user = (content) => ({ role: 'user', content });
const Invoice = z.object({ number: z.number().int(), amount: z.number(), currency: z.string() });
const invoice = { number: 4711, amount: 120.5, currency: 'EUR' };
const prompt = 'number=4711, amount=120.5, currency "EUR"';

beforeEach(() => post('/_sim/reset'));

test('chat: text', async () => {
  const answer = await client.chat.completions.create({ model, messages: [user('What is 2+2?')] });
  assert.equal(answer.choices[0].message.content, '2+2 = 4');
});

test('chat: a stream with the accumulator', async () => {
  const stream = client.chat.completions.stream({ model, messages: [user('count to 20')] });
  let pieces = 0;
  stream.on('content', () => (pieces += 1));
  assert.equal(await stream.finalContent(), TWENTY);
  assert.ok(pieces > 3);
});

test('chat: the tool runner', async () => {
  const runner = client.chat.completions.runTools({
    model,
    messages: [user('Call get_weather with city="Oslo".')],
    tools: [
      {
        type: 'function',
        function: { name: 'get_weather', parameters: WEATHER, parse: JSON.parse, function: ({ city }) => `4 °C in ${city}` },
      },
    ],
  });
  assert.equal(await runner.finalContent(), 'get_weather answered: 4 °C in Oslo');
});

test('chat: the tool runner streams three turns', async () => {
  const seen = [];
  const runner = client.chat.completions.runTools({
    model,
    stream: true,
    messages: [user(PEOPLE)],
    tools: names.map((name) => ({
      type: 'function',
      function: {
        name,
        parameters: WEATHER,
        parse: JSON.parse,
        function: (given) => {
          seen.push([name, given]);
          return 'fine';
        },
      },
    })),
  });
  let streamed = '';
  runner.on('content', (piece) => (streamed += piece));
  assert.equal(await runner.finalContent(), 'get_weather answered: fine');
  assert.deepEqual([seen, streamed], [STEPS, 'get_weather answered: fine']);
});

test('chat: JSON mode with the schema in the prompt', async () => {
  const answer = await client.chat.completions.create({
    model, messages: [user(WRITTEN)], response_format: { type: 'json_object' },
  });
  assert.deepEqual(JSON.parse(answer.choices[0].message.content), FILLED);
});

test('chat: parallel tools, streamed', async () => {
  const stream = client.chat.completions.stream({
    model, messages: [user('Use get_weather and get_time for Bergen.')], tools: chatTools,
  });
  const { choices } = await stream.finalChatCompletion();
  assert.deepEqual(choices[0].message.tool_calls.map((call) => call.function.name), names);
});

test('chat: structured output with the typed helper', async () => {
  const answer = await client.chat.completions.parse({
    model, messages: [user(prompt)], response_format: zodResponseFormat(Invoice, 'invoice'),
  });
  assert.deepEqual(answer.choices[0].message.parsed, invoice);
});

test('chat: an image is seen', async () => {
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } };
  const answer = await client.chat.completions.create({
    model, messages: [user([{ type: 'text', text: 'Look' }, picture])],
  });
  assert.match(answer.choices[0].message.content, /^I see an image \(image\/png, /);
});

test('responses: text, and a stream with the accumulator', async () => {
  assert.equal((await client.responses.create({ model, input: 'What is 2+2?' })).output_text, '2+2 = 4');
  const stream = client.responses.stream({ model, input: 'count to 20' });
  let text = '';
  stream.on('response.output_text.delta', (event) => (text += event.delta));
  assert.equal((await stream.finalResponse()).output_text, TWENTY);
  assert.equal(text, TWENTY);
});

test('responses: thinking with a tool loop over three turns', async () => {
  const settings = {
    model: 'gpt-5.4', tools, store: false, include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'medium', summary: 'auto' },
  };
  const input = [user('Call get_weather with city="Oslo" then call get_time with city="Oslo".')];
  for (const name of names) {
    const answer = await client.responses.stream({ ...settings, input }).finalResponse();
    const call = answer.output.find((item) => item.type === 'function_call');
    assert.equal(call.name, name);
    assert.deepEqual(JSON.parse(call.arguments), { city: 'Oslo' });
    assert.ok(answer.output.find((item) => item.type === 'reasoning').encrypted_content);
    input.push(...answer.output.map(({ parsed_arguments, ...item }) => item));
    input.push({ type: 'function_call_output', call_id: call.call_id, output: 'fine' });
  }
  assert.equal((await client.responses.create({ ...settings, input })).output_text, 'get_time answered: fine');
});

test('responses: three turns of tools in the words of a person, streamed', async () => {
  const settings = {
    model: 'gpt-5.4', tools, store: false, include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'medium', summary: 'auto' },
  };
  const input = [user(PEOPLE)];
  const seen = [];
  for (;;) {
    const answer = await client.responses.stream({ ...settings, input }).finalResponse();
    const call = answer.output.find((item) => item.type === 'function_call');
    if (!call) {
      assert.deepEqual([seen, answer.output_text], [STEPS, 'get_weather answered: fine']);
      break;
    }
    seen.push([call.name, JSON.parse(call.arguments)]);
    input.push(...answer.output.map(({ parsed_arguments, ...item }) => item));
    input.push({ type: 'function_call_output', call_id: call.call_id, output: 'fine' });
  }
});

test('responses: structured output with the typed helper', async () => {
  const answer = await client.responses.parse({
    model, input: prompt, text: { format: zodTextFormat(Invoice, 'invoice') },
  });
  assert.deepEqual(answer.output_parsed, invoice);
});

test('responses: tokens are counted', async () => {
  assert.ok((await client.responses.inputTokens.count({ model, input: 'How many tokens?' })).input_tokens > 3);
});

test('embeddings', async () => {
  const answer = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b'], dimensions: 8 });
  assert.deepEqual(answer.data.map((item) => item.embedding.length), [8, 8]);
});

for (const [status, error] of [
  [400, OpenAI.BadRequestError],
  [401, OpenAI.AuthenticationError],
  [403, OpenAI.PermissionDeniedError],
  [404, OpenAI.NotFoundError],
  [429, OpenAI.RateLimitError],
  [500, OpenAI.InternalServerError],
]) {
  test(`an error ${status} has its class`, async () => {
    const headers = { 'x-sim-fault': `status=${status}` };
    await assert.rejects(client.chat.completions.create({ model, messages: [user('x')] }, { headers }), error);
  });
}

test('retries are honoured', async () => {
  await post('/_sim/expect', { reply: [{ fault: 'status=429,retry_after_ms=10' }] });
  const patient = new OpenAI({ apiKey: 'key', baseURL: URL + '/v1', maxRetries: 2 });
  assert.equal((await patient.responses.create({ model, input: 'say hi' })).output_text, 'hi');
  assert.equal((await received()).length, 2);
});

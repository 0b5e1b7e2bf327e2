import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import { FILLED, PEOPLE, PNG, STEPS, TWENTY, URL, WEATHER, WRITTEN, post } from './common.mjs';

const client = new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: URL } });
const model = 'gemini-2.5-flash';
const names = ['get_weather', 'get_time'];
const tools = [{ functionDeclarations: names.map((name) => ({ name, parametersJsonSchema: WEATHER })) }];
const ask = (contents, config = {}, which = model) => client.models.generateContent({ model: which, contents, config });

beforeEach(() => post('/_sim/reset'));

test('text', async () => {
  assert.equal((await ask('What is 2+2?')).text, '2+2 = 4');
});

test('a stream', async () => {
  let text = '';
  let chunks = 0;
  for await (const chunk of await client.models.generateContentStream({ model, contents: 'count to 20' })) {
    text += chunk.text ?? '';
    chunks += 1;
  }
  assert.equal(text, TWENTY);
  assert.ok(chunks > 3);
});

for (const which of ['gemini-2.5-pro', 'gemini-3-pro-preview']) {
  test(`thinking with a tool loop over three turns: ${which}`, async () => {
    const config = { tools, thinkingConfig: { includeThoughts: true } };
    const contents = [
      { role: 'user', parts: [{ text: 'Call get_weather with city="Oslo" then call get_time with city="Oslo".' }] },
    ];
    for (const name of names) {
      const answer = await ask(contents, config, which);
      const content = answer.candidates[0].content;
      const part = content.parts.find((part) => part.functionCall);
      assert.deepEqual([part.functionCall.name, part.functionCall.args], [name, { city: 'Oslo' }]);
      assert.ok(part.thoughtSignature);
      contents.push(content);
      contents.push({
        role: 'user',
        parts: [{ functionResponse: { id: part.functionCall.id, name, response: { output: 'fine' } } }],
      });
    }
    assert.equal((await ask(contents, config, which)).text, 'get_time answered: fine');
  });
}

for (const which of ['gemini-2.5-pro', 'gemini-3-pro-preview']) {
  test(`a chat streams thinking and three turns of tools: ${which}`, async () => {
    const config = { tools, thinkingConfig: { includeThoughts: true } };
    // The chat sends every streamed chunk back as a content of its own.
    const chat = client.chats.create({ model: which, config });
    const seen = [];
    let said = '';
    let message = PEOPLE;
    while (message) {
      const calls = [];
      for await (const chunk of await chat.sendMessageStream({ message })) {
        for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
          if (part.functionCall) calls.push(part.functionCall);
          if (part.text && !part.thought) said += part.text;
        }
      }
      seen.push(...calls.map(({ name, args }) => [name, args]));
      const answers = calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { output: 'fine' } } }));
      message = answers.length > 0 ? answers : null;
    }
    assert.deepEqual([seen, said], [STEPS, 'get_weather answered: fine']);
  });
}

test('JSON mode with the schema in the prompt', async () => {
  const answer = await ask(WRITTEN, { responseMimeType: 'application/json' });
  assert.deepEqual(JSON.parse(answer.text), FILLED);
});

test('parallel tools', async () => {
  const answer = await ask('Use get_weather and get_time for Bergen.', { tools });
  assert.deepEqual(answer.functionCalls.map((call) => call.name), names);
});

test('structured output', async () => {
  const responseJsonSchema = {
    type: 'object',
    properties: { number: { type: 'integer' }, currency: { type: 'string' } },
    required: ['number', 'currency'],
  };
  const answer = await ask('number=4711, currency "EUR"', { responseMimeType: 'application/json', responseJsonSchema });
  assert.deepEqual(JSON.parse(answer.text), { number: 4711, currency: 'EUR' });
});

test('an image is seen', async () => {
  const answer = await ask([{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: PNG } }]);
  assert.match(answer.text, /^I see an image \(image\/png, /);
});

test('tokens are counted, texts embedded', async () => {
  const { totalTokens } = await client.models.countTokens({ model, contents: 'How many tokens?' });
  assert.equal(totalTokens, (await ask('How many tokens?')).usageMetadata.promptTokenCount);
  const answer = await client.models.embedContent({
    model: 'gemini-embedding-001', contents: ['a', 'b'], config: { outputDimensionality: 8 },
  });
  assert.deepEqual(answer.embeddings.map((item) => item.values.length), [8, 8]);
});

for (const status of [400, 403, 404, 429, 500, 503]) {
  test(`an error ${status} has its class`, async () => {
    const httpOptions = { headers: { 'x-sim-fault': `status=${status}` } };
    await assert.rejects(ask('x', { httpOptions }), (error) => error instanceof ApiError && error.status === status);
  });
}

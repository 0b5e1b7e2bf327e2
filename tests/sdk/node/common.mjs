// The simulator that every test talks to: its address comes from the environment.

export const URL = process.env.IKIGAI_SIM_URL;
const headers = { authorization: `Bearer ${process.env.IKIGAI_SIM_TOKEN}`, 'content-type': 'application/json' };

export const WEATHER = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export const TWENTY = Array.from({ length: 20 }, (_, n) => n + 1).join(', ');

// Three turns of tools in the words of a person, and the calls they ask for.
export const PEOPLE =
  'Think it over, then look up the weather in Oslo with get_weather. After that, check get_time for Oslo too. ' +
  'Finally, could you use get_weather for Bergen?';
export const STEPS = [
  ['get_weather', { city: 'Oslo' }],
  ['get_time', { city: 'Oslo' }],
  ['get_weather', { city: 'Bergen' }],
];

// For a model without structured output: the schema is in the prompt.
export const WRITTEN =
  'Where does the invoice 4711 come from? It was sent by a shop in Bergen.\n' +
  'Answer in JSON that matches this schema:\n' +
  '{"type": "object", "properties": {"number": {"type": "integer"}, "city": {"type": "string"}}, "required": ["number", "city"]}';
export const FILLED = { number: 4711, city: 'Bergen' };

export async function post(path, body = {}) {
  const answer = await fetch(URL + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export async function received() {
  return (await (await fetch(URL + '/_sim/requests', { headers })).json()).requests;
}

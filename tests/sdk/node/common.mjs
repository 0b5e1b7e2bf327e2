// The simulator that every test talks to: its address comes from the environment.

export const URL = process.env.IKIGAI_SIM_URL;

export const WEATHER = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

export const TWENTY = Array.from({ length: 20 }, (_, n) => n + 1).join(', ');

export async function post(path, body = {}) {
  const answer = await fetch(URL + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export async function received() {
  return (await (await fetch(URL + '/_sim/requests')).json()).requests;
}

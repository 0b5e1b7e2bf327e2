// The simulator, the gateway before it, and what is said about both: the addresses come from the environment.

const SIM = process.env.IKIGAI_SIM_URL;
const TOKEN = process.env.IKIGAI_SIM_TOKEN;
export const GATEWAY = process.env.IKIGAI_GATEWAY_URL;
export const KEY = process.env.IKIGAI_GATEWAY_KEY;

export const DIALECTS = ['chat', 'responses', 'messages', 'gemini'];
export const TOOLS = ['get_weather', 'get_time'];

// What the gateway said it could not carry, in the answers since this list was last emptied.
export const losses = [];

// All SDKs use this function.
const { fetch } = globalThis;
globalThis.fetch = async (...request) => {
  const answer = await fetch(...request);
  const line = answer.headers.get('x-ikigai-losses');
  if (line) losses.push(...line.split(/; (?=\S+ at \S+: )/));
  return answer;
};

async function control(verb, body) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const request = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const answer = await fetch(`${SIM}/_sim/${verb}`, request);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

export const reset = () => control('reset', {});

// What the simulator answers next, in place of its own words.
export const expect = (...reply) => control('expect', { reply });

// The bodies of the requests that reached the simulator.
export const received = async () => (await control('requests')).requests.map((request) => request.body);

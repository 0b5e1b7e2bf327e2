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

// What the simulator finds about "fjords", and the passages that rest on it, by page.
export const PAGES = [
  ['https://encyclopedia.example/wiki/fjords', 'fjords – Encyclopedia'],
  ['https://news.example/2026/fjords?lang=en&page=1', '“fjords”: what is known'],
  ['https://blog.example/fjords', ''],
];
const CLAIMS = [
  ['The encyclopedia describes fjords in detail – with figures', 0],
  ['The news reported on it, too', 1],
  ['The news reported on it, too', 0],
];

// The citations of an answer, as the provider of each dialect tells them: passage, address, title.
export function told(upstream) {
  const host = (url) => url.split('/')[2];
  const redirect = (url) =>
    `https://vertexaisearch.cloud.google.com/grounding-api-redirect/${Buffer.from(url).toString('base64url')}`;
  const address = (url) => `${url}${url.includes('?') ? '&' : '?'}utm_source=openai`;
  return CLAIMS.map(([claim, place]) => {
    const [url, title] = PAGES[place];
    if (upstream === 'messages') return [claim, url, title];
    if (upstream === 'gemini') return [claim, redirect(url), host(url)];
    return [`([${host(url)}](${address(url)}))`, address(url), title];
  });
}

// The name of a model that searches. Others than OpenAI's clients are answered by a copy of its API.
export const searching = (inbound, upstream) =>
  upstream !== 'chat' ? `to-${upstream}` : inbound === 'chat' ? 'search-openai' : 'search-chat';

/**
 * What the model proxy adds to a first byte, and whether it passes many streams at once without a
 * stall; each beside the same requests sent to the model directly and through a bare forwarder, in
 * turns, within this run. The relay is the built one, a process of its own, with the store on disk
 * and a daily budget to keep to; model and client are in this process.
 */
import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { startScriptedModel } from '../support/scripted-model.ts';
import { median } from './figures.ts';
import { definePart, withOpened } from './part.ts';
import type { BenchRelay } from './place.ts';

/**
 * Requests that are counted, and those before them; streams at once, their words, and ms between
 * two words.
 */
const FULL = { rounds: 201, warmUp: 20, streams: 50, pieces: 100, everyMs: 20 };
const SMOKE: typeof FULL = { rounds: 3, warmUp: 1, streams: 2, pieces: 5, everyMs: 2 };
const ADDED_LIMIT_MS = 2;
const BUDGET_USD = 1_000;
/** Of a request as a client that works with tools and files sends it. */
const PROMPT = 'What shall we read tonight? '.repeat(1_500);

const body = JSON.stringify({
  model: 'claude-sonnet-5-5',
  max_tokens: 100,
  stream: true,
  messages: [{ role: 'user', content: PROMPT }],
});

/** When each piece of the answer came, in ms since it was asked for. */
function ask(url: string, agent: Agent): Promise<readonly number[]> {
  return new Promise((resolve, reject) => {
    const asked = performance.now();
    const times: number[] = [];
    const outgoing = request(
      `${url}/v1/messages`,
      {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${url} answered ${answer.statusCode ?? 0}`));
        answer.on('data', () => times.push(performance.now() - asked));
        answer.on('end', () => resolve(times));
        answer.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The longest time in which one of the streams brought nothing. */
async function longestGap(url: string, agent: Agent, count: number): Promise<number> {
  const streams = await Promise.all(Array.from({ length: count }, () => ask(url, agent)));
  return Math.max(...streams.flatMap((times) => times.slice(1).map((time, i) => time - (times[i] ?? time))));
}

/** A process that only passes on: what any proxy costs on this machine, as busy as it is. */
async function startForwarder(url: string): Promise<{ readonly url: string; stop(): void }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('forwarder.mjs', import.meta.url)), url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<string>((resolve, reject) => {
    child.once('error', reject);
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() };
}

async function join(relay: BenchRelay): Promise<string> {
  const set = await relay.fetch('/v1/config', {
    method: 'PUT',
    json: { coordination: {}, daily_budget_usd: BUDGET_USD },
  });
  if (!set.ok) throw new Error(`the budget was not taken: ${await set.text()}`);
  const made = madeCredentialSchema.parse(
    await (await relay.fetch('/api/credentials', { method: 'POST', json: { agentId: LEAD_ID, label: '' } })).json(),
  );
  return `${relay.url}/llm/${made.secret}`;
}

/** About 15 s. */
export const proxy = definePart({
  name: 'proxy',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  run: ({ rounds, warmUp, streams, pieces, everyMs }, place) =>
    withOpened(async (keep) => {
      const model = keep(await startScriptedModel(() => [{ say: 'Good morning.' }]), (one) => one.close());
      const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'a-key' };
      const relay = keep(await place.startRelay({ env }), (one) => one.stop());
      const forwarder = keep(await startForwarder(model.url), (one) => one.stop());
      const agent = keep(new Agent({ keepAlive: true }), (one) => one.destroy());
      const through = await join(relay);
      const first = { direct: new Array<number>(), forwarded: new Array<number>(), proxied: new Array<number>() };
      for (let i = 0; i < warmUp + rounds; i++) {
        const direct = await ask(model.url, agent);
        const forwarded = await ask(forwarder.url, agent);
        const proxied = await ask(through, agent);
        if (i < warmUp) continue;
        first.direct.push(direct[0] ?? Number.NaN);
        first.forwarded.push(forwarded[0] ?? Number.NaN);
        first.proxied.push(proxied[0] ?? Number.NaN);
      }
      const words = 'word '.repeat(pieces);
      model.follow(() => [{ say: words, chunk: Math.ceil(words.length / pieces), everyMs }]);
      const directGap = await longestGap(model.url, agent, streams);
      const forwardedGap = await longestGap(forwarder.url, agent, streams);
      const proxiedGap = await longestGap(through, agent, streams);
      const [direct, forwarded, proxied] = [median(first.direct), median(first.forwarded), median(first.proxied)];
      return {
        title: 'The model proxy',
        method: `median of ${rounds} requests of ${Math.round(body.length / 1_000)} KB each way in turns, over loopback, with a daily budget, store on disk`,
        figures: [
          {
            what: 'added to the first byte',
            value: proxied - direct,
            unit: 'ms',
            beside: { kind: 'limit', what: 'through the proxy, less directly', value: ADDED_LIMIT_MS },
          },
          {
            what: '  the same',
            value: proxied - direct,
            unit: 'ms',
            beside: {
              kind: 'peer',
              what: 'a bare forwarder, a process that only passes on',
              value: forwarded - direct,
            },
          },
          { what: 'first byte', value: proxied, unit: 'ms', beside: { kind: 'peer', what: 'directly', value: direct } },
          {
            what: `longest gap in ${streams} streams`,
            value: proxiedGap,
            unit: 'ms',
            beside: { kind: 'peer', what: `directly, a word every ${everyMs} ms`, value: directGap },
          },
          {
            what: '  the same',
            value: proxiedGap,
            unit: 'ms',
            beside: { kind: 'peer', what: 'through the bare forwarder', value: forwardedGap },
          },
        ],
      };
    }),
});

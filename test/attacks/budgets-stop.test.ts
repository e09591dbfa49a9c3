/**
 * A line to the model that dies at the moment at which somebody stops, ends or leaves what it is
 * for: to the relay that may look as if it had left a server that stops then; the server, which did
 * not notice, writes to its end and charges for that.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CostHold, RequestEnd } from '../../server/team/costs/contract.ts';
import { createAsk } from '../../server/agents/proxy/answer.ts';
import { createUpstream } from '../../server/agents/proxy/upstream.ts';
import { costOf, DEFAULT_PRICES, NO_COST } from '../../src/shared/domain/prices.ts';
import { agentRun } from '../support/runs.ts';
import { startDeafModel, type Said } from '../support/deaf-model.ts';
import { openSpenders, type Spenders } from '../support/spenders.ts';
import { storeFor } from '../support/store-for.ts';

const store = storeFor();
const MODEL = 'claude-opus-5-5';
const MOST_TOKENS = 4_000;
const SAID: readonly Said[] = ['nothing', 'head', 'words'];

/** How the line's death and the other thing fall together. */
const MOMENTS = {
  'just before': async (die: () => void, stop: () => unknown) => {
    die();
    await stop();
  },
  'a turn before': async (die: () => void, stop: () => unknown) => {
    die();
    await turn();
    await stop();
  },
  'just after': async (die: () => void, stop: () => unknown) => {
    const stopped = stop();
    die();
    await stopped;
  },
} as const;
const moments = Object.entries(MOMENTS).flatMap(([moment, fall]) => SAID.map((said) => [moment, said, fall] as const));

async function through(
  said: Said,
  run: (spenders: Spenders, die: () => void, underWay: () => Promise<void>) => Promise<void>,
) {
  const model = await startDeafModel(said);
  const spenders = await openSpenders(store(), model.url, { stopsWhenLeft: true });
  try {
    await run(spenders, model.die, () => expect.poll(model.underWay, { interval: 5 }).toBeGreaterThan(0));
    await spenders.team.host.end('ended');
    await expect.poll(model.underWay, { interval: 5 }).toBe(0);
    const counted = async () => (await spenders.team.costs.report(1)).today.costMicroUsd;
    await expect.poll(async () => (await counted()) - model.total(), { interval: 5 }).toBeGreaterThanOrEqual(0);
    expect(model.total()).toBeGreaterThan(0);
    expect(spenders.errors).toEqual([]);
  } finally {
    await spenders.close();
    await model.close();
  }
}

describe('A line that dies', () => {
  it.each(moments)('%s an answer in a session is stopped, with %s said of it, is counted', (_, said, fall) =>
    through(said, async ({ team, start }, die, underWay) => {
      await start(MODEL, MOST_TOKENS);
      await underWay();
      await sleep(20);
      await fall(die, () => team.host.stop('lead'));
    }),
  );

  it.each(moments)('%s a session ends, with %s said, is counted', (_, said, fall) =>
    through(said, async ({ team, start }, die, underWay) => {
      await start(MODEL, MOST_TOKENS);
      await underWay();
      await sleep(20);
      await fall(die, () => team.host.end('ended'));
    }),
  );

  it.each(moments)('%s a run is stopped, with %s said in it, is counted', (_, said, fall) =>
    through(said, async ({ team, mind, agentIds: [agentId = ''] }, die, underWay) => {
      const started = await team.runs.start(
        agentRun(mind, { identity: { agentId }, limits: { maxAnswerTokens: MOST_TOKENS } }),
      );
      if (!started.ok) throw new Error(started.refusal.why);
      await underWay();
      await sleep(20);
      await fall(die, () => team.runs.stop(agentId));
      await started.run.whenEnded;
    }),
  );

  it.each(
    moments.flatMap(([moment, said, fall]) => [true, false].map((stream) => [moment, said, stream, fall] as const)),
  )('%s a client of the proxy leaves, with %s said to it, is counted (streamed: %s)', (_, said, stream, fall) =>
    through(said, async ({ bases: [base = ''] }, die, underWay) => {
      const leaving = new AbortController();
      const body = JSON.stringify({ model: MODEL, max_tokens: MOST_TOKENS, stream, messages: [] });
      const asking = fetch(`${base}/v1/messages`, { method: 'POST', body, signal: leaving.signal })
        .then((response) => response.text())
        .catch(() => '');
      await underWay();
      await sleep(20);
      await fall(die, () => leaving.abort());
      await asking;
    }),
  );
});

/** An answer under way, and how it is left. */
type Leave = () => unknown;
const TOKENS = 64_000;
const ASKERS: Readonly<Record<string, (spenders: Spenders) => Promise<Leave>>> = {
  async 'a client of the proxy'({ bases: [base = ''] }) {
    const leaving = new AbortController();
    const body = JSON.stringify({ model: MODEL, max_tokens: TOKENS, stream: true, messages: [] });
    const asking = fetch(`${base}/v1/messages`, { method: 'POST', body, signal: leaving.signal })
      .then((response) => response.text())
      .catch(() => '');
    return () => {
      leaving.abort();
      return asking;
    };
  },
  async 'a session'({ start, team }) {
    await start(MODEL, TOKENS);
    return () => team.host.end('ended');
  },
  async 'a run'({ team, mind, agentIds: [agentId = ''] }) {
    const limits = { maxAnswerTokens: TOKENS };
    const started = await team.runs.start(
      agentRun(mind, { identity: { agentId }, mind: { answers: mind, model: MODEL }, limits }),
    );
    if (!started.ok) throw new Error(started.refusal.why);
    return () => {
      team.runs.stop(agentId);
      return started.run.whenEnded;
    };
  },
};

it.each(Object.entries(ASKERS).flatMap(([who, ask]) => SAID.map((said) => [who, said, ask] as const)))(
  'Of an answer that %s leaves while its line is whole, with %s said, no more is counted than any model writes in that time',
  async (_, said, ask) => {
    const model = await startDeafModel(said);
    const spenders = await openSpenders(store(), model.url, { stopsWhenLeft: true });
    try {
      const leave = await ask(spenders);
      await expect.poll(model.underWay, { interval: 5 }).toBeGreaterThan(0);
      await sleep(20);
      const left = model.underWay();
      await leave();
      await expect.poll(model.underWay, { interval: 5 }).toBe(0);
      const counted = async () => (await spenders.team.costs.report(1)).today.costMicroUsd;
      await expect.poll(counted).toBeGreaterThanOrEqual(model.total());
      const longest = { model: MODEL, inputTokens: 0, outputTokens: TOKENS, cacheReadTokens: 0, cacheWriteTokens: 0 };
      expect(await counted()).toBeLessThan((costOf(longest, DEFAULT_PRICES).microUsd * left) / 4);
      expect(spenders.errors).toEqual([]);
    } finally {
      await spenders.close();
      await model.close();
    }
  },
);

it.each([
  ['dies before it is left', true, undefined],
  ['is whole until then', false, expect.any(Number)],
] as const)('checks a connection that %s and that nobody reads before it closes it', async (_, dies, outputMost) => {
  const model = await startDeafModel('words');
  const upstream = createUpstream(model.url);
  const leaving = new AbortController();
  let end: RequestEnd | null = null;
  const hold: CostHold = {
    settle: (told) => Promise.resolve(void (end = told)),
    release: () => undefined,
    again: () => Promise.resolve(true),
    spent: () => NO_COST,
  };
  try {
    const ask = createAsk({ upstream, stopsWhenLeft: true, key: null, onError: () => undefined });
    const body = Buffer.from(JSON.stringify({ model: MODEL, max_tokens: MOST_TOKENS, stream: true }));
    const asked = await ask(
      { method: 'POST', path: '/v1/messages', headers: {}, body, signal: leaving.signal },
      { sessionId: null, model: MODEL, stream: true, hold },
    );
    if (!asked.ok) throw new Error(asked.error.message);
    await asked.answer.body.next();
    if (dies) model.die();
    leaving.abort();
    await asked.answer.body.return();
    expect(end).toMatchObject({ took: { whole: false } });
    expect((end as RequestEnd | null)?.took?.outputMost).toEqual(outputMost);
  } finally {
    upstream.close();
    await model.close();
  }
});

/**
 * What the relay adds to a wake, and whether the eight run side by side; next to a process for each
 * agent. The relay is the built one, a process of its own, with the store on disk; the model is a
 * server in this process, so that what is asked and what is heard are told by one clock.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import { SEAT_ORDER, seatColor } from '../../src/shared/domain/seat.ts';
import { writeWake, type AgentPayload } from '../../src/shared/domain/wake-payload.ts';
import { openEventSource, type OpenStream } from '../support/event-source.ts';
import { seatsCalled, startScriptedModel, type Script, type ScriptedModel } from '../support/scripted-model.ts';
import { median } from './figures.ts';
import { definePart, withOpened } from './part.ts';
import type { BenchRelay } from './place.ts';

const ADDED_LIMIT_MS = 50;
/** × eight bare calls in the same run. */
const ADDED_SHARE = 1.8;
const FIRST_LIMIT_MS = 60;
const SIDE_BY_SIDE_LIMIT_MS = 3000;
const ONE_AGENT = fileURLToPath(new URL('one-agent.mjs', import.meta.url));

/** Agents; wakes by minds without delay, by minds of `mindMs`, and by a process for each agent. */
const FULL = { agents: 8, rounds: 21, slowRounds: 3, processRounds: 5, mindMs: 2_000 };
const SMOKE: typeof FULL = { agents: 1, rounds: 2, slowRounds: 1, processRounds: 1, mindMs: 10 };

/** Souls and transcripts of the size that a long-lived team has. */
const teamOf = (agents: number): readonly AgentPayload[] =>
  SEAT_ORDER.slice(0, agents).map((position) => ({
    id: `agent-${position}`,
    name: `Agent ${position}`,
    ...seatColor(position),
    position,
    soul: 'I am somebody, and I chose this name myself. '.repeat(45),
    transcript: 'Ada (2026-11-21 08:52 UTC):\nWhat shall we read tonight? '.repeat(420),
  }));

/** Agents that think for so long before their first word, and a lead that calls them at once. */
const minds =
  (ms: number): Script =>
  ({ seat, last, results }) => {
    if (seat !== null) return [{ wait: ms }, { say: 'Good morning.' }];
    return results.length > 0 ? [{ say: 'Welcome.' }] : [{ call: 'spawn_team', input: { seats: seatsCalled(last) } }];
  };

/** When the lead, and when the last agent had been asked, of the requests from this one on. */
function askedSince(
  model: ScriptedModel,
  first: number,
  team: readonly AgentPayload[],
): { lead: number; last: number } {
  const requests = model.requests.slice(first);
  const agents = requests.filter((request) => request.seat !== null).map((request) => request.at);
  if (agents.length !== team.length) throw new Error(`${agents.length} agents were asked`);
  return { lead: requests.find((request) => request.seat === null)?.at ?? Number.NaN, last: Math.max(...agents) };
}

interface Wake {
  /** ms from posting the message to the last agent's request at the model. */
  readonly added: number;
  /** ms from posting the message to the last agent's first words at a browser. */
  readonly awake: number;
  /** And to the first agent's. */
  readonly first: number;
  /** Characters of all requests, and of the agents' alone. */
  readonly characters: { readonly all: number; readonly agents: number };
}

async function expectOk(response: Response): Promise<void> {
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  await response.body?.cancel();
}

async function wakeOnce(
  relay: BenchRelay,
  model: ScriptedModel,
  events: OpenStream,
  team: readonly AgentPayload[],
): Promise<Wake> {
  const asked = model.requests.length;
  const before = events.messages.length;
  const since = (kind: string) => events.messages.slice(before).filter((each) => each.event === kind);
  const lead = { name: 'Julian', soul: null, transcript: null };
  await expectOk(await relay.fetch('/api/sessions', { method: 'POST', json: { human: { name: 'Ada' }, lead } }));
  const posted = performance.now();
  await expectOk(
    await relay.fetch('/api/messages', { method: 'POST', json: { text: writeWake(team), clientId: randomUUID() } }),
  );
  await events.until(() => since('agent-awake').length > 0);
  const first = performance.now();
  await events.until(() => since('agent-awake').length === team.length);
  const awake = performance.now();
  await events.until(() => since('call-ended').length === 1);
  // The lead greets.
  await events.until(() => since('message').some(({ data }) => /"author":"lead"/.test(JSON.stringify(data))));
  await expectOk(await relay.fetch('/api/sessions/current', { method: 'DELETE' }));
  await events.until(() => since('session-ended').length === 1);
  const times = askedSince(model, asked, team);
  const lengths = (of: (seat: number | null) => boolean) =>
    model.requests
      .slice(asked)
      .filter(({ seat }) => of(seat))
      .reduce((sum, { body }) => sum + JSON.stringify(body).length, 0);
  return {
    added: times.last - posted,
    awake: awake - posted,
    first: first - posted,
    characters: { all: lengths(() => true), agents: lengths((seat) => seat !== null) },
  };
}

/** ms from starting a process for each agent to the last one's request at the model. */
async function processesOnce(model: ScriptedModel, team: readonly AgentPayload[]): Promise<number> {
  const asked = model.requests.length;
  const started = performance.now();
  const ends = team.map(({ soul }) => {
    const child = spawn(process.execPath, [ONE_AGENT, model.url, soul ?? ''], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) =>
        code === 0 ? resolve() : reject(new Error(`an agent's process ended with ${code}`)),
      );
    });
  });
  await Promise.all(ends);
  return askedSince(model, asked, team).last - started;
}

/**
 * ms from eight bare calls of the SDK, with the prompts of the agents of a wake before, to the last
 * one's request at the model.
 */
async function bareOnce(model: ScriptedModel, client: Anthropic, team: readonly AgentPayload[]): Promise<number> {
  const prompts = model.requests.filter(({ seat }) => seat !== null).slice(-team.length);
  const asked = model.requests.length;
  const started = performance.now();
  await Promise.all(
    prompts.map(({ system, first }) =>
      client.messages
        .stream({ model: 'agent', max_tokens: 1024, system, messages: [{ role: 'user', content: first }] })
        .finalMessage(),
    ),
  );
  return askedSince(model, asked, team).last - started;
}

async function repeat<T>(times: number, once: () => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let i = 0; i < times; i++) all.push(await once());
  return all;
}

/** About a minute. */
export const wake = definePart({
  name: 'wake',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  run: ({ agents, rounds, slowRounds, processRounds, mindMs }, place) =>
    withOpened(async (keep) => {
      const team = teamOf(agents);
      const model = keep(await startScriptedModel(minds(0)), (one) => one.close());
      const relay = keep(await place.startRelay({ env: { ANTHROPIC_BASE_URL: model.url } }), (one) => one.stop());
      const headers = await relay.headers();
      const events = keep(
        await openEventSource((signal) => fetch(`${relay.url}/api/events`, { headers, signal })),
        (one) => one.close(),
      );
      const [cold, ...warm] = await repeat(rounds, () => wakeOnce(relay, model, events, team));
      const unheated = await withOpened(async (keepOne) => {
        const other = keepOne(
          await place.startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ROOST_NO_WARM_UP: '1' } }),
          (one) => one.stop(),
        );
        const itsHeaders = await other.headers();
        const heard = keepOne(
          await openEventSource((signal) => fetch(`${other.url}/api/events`, { headers: itsHeaders, signal })),
          (one) => one.close(),
        );
        return (await wakeOnce(other, model, heard, team)).added;
      });
      const client = new Anthropic({ apiKey: 'none', authToken: null, baseURL: model.url, maxRetries: 0 });
      const bare = median((await repeat(rounds, () => bareOnce(model, client, team))).slice(1));
      const processes = median(await repeat(processRounds, () => processesOnce(model, team)));
      model.follow(minds(mindMs));
      const slow = await repeat(slowRounds, () => wakeOnce(relay, model, events, team));
      const added = median(warm.map(({ added: ms }) => ms));
      const awake = median(slow.map(({ awake: ms }) => ms));
      return {
        title: 'A wake of eight',
        method: `median of ${warm.length} wakes of one relay (${Math.round(writeWake(team).length / 1000)} KB each, model without delay over loopback, store on disk)`,
        figures: [
          {
            what: 'POST to the last request',
            value: added,
            unit: 'ms',
            beside: { kind: 'limit', what: 'the relay adds', value: ADDED_LIMIT_MS },
          },
          {
            what: '  the same',
            value: added,
            unit: 'ms',
            beside: { kind: 'peer', what: 'eight bare calls of the SDK, with the same prompts', value: bare },
          },
          {
            what: '  against them',
            value: added / bare,
            unit: '×',
            beside: { kind: 'limit', what: 'eight bare calls', value: ADDED_SHARE },
          },
          {
            what: '  the same',
            value: added,
            unit: 'ms',
            beside: {
              kind: 'peer',
              what: 'a process for each agent: Node and the SDK, nothing else',
              value: processes,
            },
          },
          {
            what: '  the first after starting',
            value: cold?.added ?? Number.NaN,
            unit: 'ms',
            beside: { kind: 'limit', what: 'the relay adds', value: FIRST_LIMIT_MS },
          },
          {
            what: '    the same',
            value: cold?.added ?? Number.NaN,
            unit: 'ms',
            beside: { kind: 'peer', what: 'without the made-up wake', value: unheated },
          },
          {
            what: `all awake, minds of ${mindMs / 1000} s`,
            value: awake,
            unit: 'ms',
            beside: { kind: 'limit', what: 'after the click', value: SIDE_BY_SIDE_LIMIT_MS },
          },
          {
            what: 'first words',
            value: median(slow.map(({ first }) => first)) / mindMs,
            unit: '×',
            beside: { kind: 'limit', what: 'one model call', value: 1.1 },
          },
          {
            what: 'characters sent',
            value: median(warm.map(({ characters }) => characters.all / characters.agents)),
            unit: '×',
            beside: { kind: 'limit', what: 'the agents’ own prompts', value: 1.15 },
          },
          {
            what: 'all awake',
            value: awake,
            unit: 'ms',
            beside: { kind: 'peer', what: 'one after the other', value: mindMs * team.length },
          },
        ],
      };
    }),
});

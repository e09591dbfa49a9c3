/**
 * A household that lives through many sessions: talks, wakes that are followed by nothing, agents that fail to wake,
 * messages as long as books, letters, a relay that is killed in mid-answer and comes back with another clock, and two
 * devices that take turns. The relay is a process of its own, the ledgers are real ones in a real browser, and what is
 * looked at is what the model was sent.
 */
import { quote } from '../../src/domain/quoting.ts';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { rosterOf, type Agent } from '../../src/domain/agent.ts';
import { isSeatPosition, LEAD_COLOR, LEAD_ID, LEAD_POSITION, seatColor, seatNumber } from '../../src/domain/seat.ts';
import { settingsOf } from '../../src/domain/settings.ts';
import { createClock } from '../../src/domain/stamp.ts';
import { writeSummon, writeWake } from '../../src/domain/wake-payload.ts';
import type { Doc } from '../../src/protocol/documents.ts';
import { eventSchema, type EventOf, type RoostEvent } from '../../src/protocol/events.ts';
import { documentsOf } from '../../src/protocol/intake.ts';
import { payloadOf, shareOf, startSessionBody } from '../../src/state/wake-material.ts';
import { openEventSource, type OpenStream } from '../support/event-source.ts';
import { openBench, ownerOf } from '../support/ledger-harness.ts';
import { freePort } from '../support/free-port.ts';
import { createRandom } from '../support/random.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type Script } from '../support/scripted-model.ts';
import { pick } from './pick.ts';
import { headersOf, type SignIn } from '../support/sign-in.ts';

const CAP = 8_000;
const DAY_MS = 86_400_000;
const SEATS = [0, 1] as const;
const BOOK = 'A long story, and nothing in it matters much. '.repeat(2_000);
const FACT = /⟦\d+⟧/g;
const PATIENCE_MS = 20_000;

/** What each agent was told, session by session, as the relay's events have it: an account of its own, in their order. */
function createOracle() {
  const heard = new Map<string, Map<string, Set<string>>>();
  const waiting = new Map<string, string>();
  const souls = new Map<string, string>();
  const note = (agentId: string, sessionId: string | null, text: string) => {
    if (sessionId === null) return;
    const facts = text.match(FACT) ?? [];
    if (facts.length === 0) return;
    const sessions = heard.get(agentId) ?? new Map<string, Set<string>>();
    heard.set(agentId, sessions);
    const held = sessions.get(sessionId) ?? new Set();
    // The session that was spoken in last stands last.
    sessions.delete(sessionId);
    sessions.set(sessionId, new Set([...held, ...facts]));
  };
  const textOf = ({ blocks }: EventOf<'message'>) =>
    blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('\n');
  return {
    hear(event: RoostEvent) {
      if (event.kind === 'agent-born') souls.set(event.agentId, event.soul);
      else if (event.kind === 'message-read') note(event.agentId, event.sessionId, waiting.get(event.messageId) ?? '');
      else if (event.kind === 'message' && event.role === 'user' && event.author !== 'relay') {
        if (event.waiting) waiting.set(event.messageId, textOf(event));
        else note(event.agentId, event.sessionId, textOf(event));
      }
    },
    lastFacts: (agentId: string) => [...([...(heard.get(agentId)?.values() ?? [])].at(-1) ?? [])],
    soulOf: (agentId: string) => souls.get(agentId) ?? null,
  };
}

const countOf = (text: string, part: string) => text.split(part).length - 1;

/** What is wrong with a prompt that woke somebody; empty where nothing is. */
function faultsOf(who: string, prompt: string, facts: readonly string[], soul: string | null): string[] {
  const transcript = /<previous-session>\n([\s\S]*?)\n<\/previous-session>/.exec(prompt)?.[1] ?? '';
  const twice = [...new Set(transcript.match(FACT) ?? [])].filter((fact) => countOf(transcript, fact) > 1);
  return [
    ...(transcript.length > CAP ? [`${who} is given ${transcript.length} characters`] : []),
    ...facts.filter((fact) => !transcript.includes(fact)).map((fact) => `${who} has lost ${fact}`),
    ...twice.map((fact) => `${who} is told ${fact} twice`),
    ...(soul !== null && countOf(prompt, quote(soul)) !== 1
      ? [`${who} is given its soul ${countOf(prompt, quote(soul))} times`]
      : []),
  ];
}

export interface LifeReport {
  readonly sessions: number;
  readonly wakes: number;
  readonly facts: number;
  readonly kills: number;
}

/** Lives `sessions` sessions. Rejects with what was wrong with a prompt, and after which session. */
export async function liveMemoryLife({
  seed,
  sessions,
}: {
  readonly seed: number;
  readonly sessions: number;
}): Promise<LifeReport> {
  const random = createRandom(seed);
  const chance = (of: number) => random() < of;
  const oracle = createOracle();
  const bench = await openBench();
  bench.relay.refuse(503);
  const homes = [await bench.household(), await bench.household()];
  const devices = await Promise.all(
    homes.map(async (home) => ({ owner: ownerOf(await home.tab()), pending: [] as Doc[] })),
  );
  const home = await createHome();
  const port = await freePort();
  const failing = new Set<number>();
  const report = { sessions: 0, wakes: 0, facts: 0, kills: 0 };

  const usual = teamScript({
    souls: { 1: 'I keep the light in seat one.', 2: 'I count the waves in seat two.' },
    names: { 1: 'Lyra', 2: 'Wren' },
  });
  const script: Script = (request) => {
    const { seat, last, body, results } = request;
    if (seat !== null && failing.has(seat) && body.messages.length === 1)
      return { fail: { status: 400, type: 'invalid_request_error', message: 'No.' } };
    // A call to the team and a prompt that wakes carry what was said before.
    const isNew =
      /^¶|\n¶/.test(last) && !/^\[(WAKE|SUMMON) AGENTS\]/.test(last) && (seat === null || body.messages.length > 1);
    if (!isNew)
      return results.length > 0 && seat !== null && body.messages.length > 3 ? [{ say: 'Done.' }] : usual(request);
    const asked = /¶(\w+)/.exec(last)?.[1];
    if (asked === 'slow') return [{ say: 'One word after another, slowly. '.repeat(100), chunk: 10, everyMs: 20 }];
    if (asked === 'write')
      return [{ call: 'message_agent', input: { to: 'Wren', message: `A letter with ${fact()}.` } }];
    return [{ say: 'Noted.' }];
  };
  const model = await startScriptedModel(script);
  const fact = () => `⟦${++report.facts}⟧`;

  let offset = 0;
  let cursor = 0;
  let signIn: SignIn | null = null;
  let opened: { readonly relay: TestRelay; readonly stream: OpenStream } | null = null;
  const line = () => {
    if (!opened) throw new Error('the relay does not run');
    return opened;
  };
  let read = 0;
  const events: RoostEvent[] = [];

  async function open(): Promise<void> {
    const skew = `data:text/javascript,${encodeURIComponent(`const now=Date.now;Date.now=()=>now()+(${offset})`)}`;
    const relay = await startRelay({
      home,
      port,
      env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test', NODE_OPTIONS: `--import=${skew}` },
    });
    // The browser stays who it is: another sign-in would be another household.
    signIn ??= await relay.signIn();
    const headers = headersOf(signIn);
    const stream = await openEventSource((signal) =>
      fetch(`${relay.url}/api/events?after=${cursor}`, { headers, signal }),
    );
    if (!stream.response.ok) throw new Error(`the events: ${stream.response.status}`);
    opened = { relay, stream };
    read = 0;
  }
  async function end(): Promise<void> {
    opened?.stream.close();
    await opened?.relay.stop();
  }
  function hear(): void {
    const { messages } = line().stream;
    for (; read < messages.length; read++) {
      const message = messages[read];
      if (message?.id === undefined) continue;
      const event = eventSchema.parse(message.data);
      cursor = Number(message.id);
      events.push(event);
      oracle.hear(event);
      for (const device of devices) device.pending.push(...documentsOf({ id: cursor, event }));
    }
  }
  async function until(what: string, enough: () => boolean): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    for (hear(); !enough(); hear()) {
      if (Date.now() > end)
        throw new Error(
          `waited for ${what}; the last events: ${events
            .slice(-12)
            .map((event) => JSON.stringify(event).slice(0, 160))
            .join('\n')}`,
        );
      await sleep(5);
    }
  }
  const countEvents = (kind: RoostEvent['kind']) => events.filter((event) => event.kind === kind).length;
  const untilMore = async (kind: RoostEvent['kind'], act: () => Promise<void>, more = 1) => {
    hear();
    const before = countEvents(kind);
    await act();
    await until(kind, () => countEvents(kind) >= before + more);
  };
  /** Nobody says anything any more, and nothing is under way. */
  const untilQuiet = () =>
    until('quiet', () => {
      const open = new Set<string>();
      let calls = 0;
      for (const event of events) {
        if (event.kind === 'answer-started') open.add(event.messageId);
        else if (event.kind === 'message') open.delete(event.messageId);
        else if (event.kind === 'call-started') calls += 1;
        else if (event.kind === 'call-ended') calls -= 1;
      }
      return open.size === 0 && calls <= 0;
    });
  async function call(path: string, method: string, json?: unknown): Promise<void> {
    const headers = {
      ...(signIn ? headersOf(signIn) : {}),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const response = await fetch(`${line().relay.url}${path}`, {
      method,
      headers,
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    await response.body?.cancel();
  }
  const post = (text: string, to = LEAD_ID) =>
    call('/api/messages', 'POST', { text, clientId: randomUUID(), ...(to === LEAD_ID ? {} : { to }) });

  /** As a device does: what it has not heard yet comes in any order, in a few pieces. */
  async function catchUp(device: (typeof devices)[number]): Promise<void> {
    const docs = pick(random, device.pending.splice(0), Infinity);
    const size = Math.max(1, Math.ceil(docs.length / 3));
    for (let from = 0; from < docs.length; from += size)
      await device.owner.call('append', docs.slice(from, from + size));
  }
  async function householdOf(device: (typeof devices)[number]) {
    const view = await device.owner.call('household');
    const roster = rosterOf(
      view.identities.map((one) => ({ ...one, id: one._id })),
      view.changes.map((one) => ({ ...one, id: one._id })),
    );
    return {
      roster,
      settings: settingsOf(view.settings.map(({ _id, key, value, at }) => ({ id: _id, key, value, at }))),
      newest: view.newest,
    };
  }
  async function sharesOf(device: (typeof devices)[number], agents: readonly Agent[]) {
    const { roster, settings } = await householdOf(device);
    const material = await device.owner.call('wakeMaterial', {
      agentIds: agents.map(({ agentId }) => agentId),
      cap: settings.transcriptCap,
    });
    return agents.map((agent) =>
      shareOf(
        agent,
        material.find(({ agentId }) => agentId === agent.agentId),
        roster,
        settings,
      ),
    );
  }
  async function begin(device: (typeof devices)[number]): Promise<void> {
    await catchUp(device);
    const { roster, settings, newest } = await householdOf(device);
    const [lead = null] = roster.lead ? await sharesOf(device, [roster.lead]) : [];
    await untilMore('session-started', () =>
      call('/api/sessions', 'POST', {
        ...startSessionBody(lead, roster, settings),
        ...(newest === '' ? {} : { after: newest, ahead: true }),
      }),
    );
  }

  /** Wakes them, and looks at what the model was sent for each. */
  async function wake(device: (typeof devices)[number], agents: readonly Agent[], after: string): Promise<void> {
    await catchUp(device);
    hear();
    const expected = [...agents, null].map((agent) => ({
      agent,
      facts: oracle.lastFacts(agent?.agentId ?? LEAD_ID),
      soul: agent ? oracle.soulOf(agent.agentId) : null,
    }));
    const payloads = (await sharesOf(device, agents)).flatMap((share) => payloadOf(share) ?? []);
    const from = model.requests.length;
    await untilMore('call-ended', () => post(writeWake(payloads)));
    await untilQuiet();
    report.wakes += 1;
    const requests = model.requests.slice(from);
    const faults = expected.flatMap(({ agent, facts, soul }) => {
      if (agent && isSeatPosition(agent.position)) {
        const seat = seatNumber(agent.position);
        const request = requests.find((one) => one.seat === seat && one.body.messages.length === 1);
        return request ? faultsOf(agent.name, request.first, facts, soul) : [`${agent.name} was not asked`];
      }
      // The lead's system prompt stands as it was when the session began.
      const request = requests.find((one) => one.seat === null);
      return !request || !isNewSession ? [] : faultsOf('the lead', request.system, facts, soul);
    });
    if (faults.length > 0) throw new Error(`${after}: ${faults.join('; ')}`);
  }
  let isNewSession = true;

  const clock = createClock({ now: Date.now, node: 'page' });
  const setting = (key: string, value: unknown): Doc => ({
    _id: `setting:${key}`,
    type: 'setting',
    schema: 1,
    at: clock.next(),
    key,
    value,
  });
  const beginning: Doc[] = [
    setting('transcriptCap', CAP),
    setting('wakeTimeoutMs', 5_000),
    setting('humanName', 'Ada'),
    {
      _id: 'agent-identity:lead',
      type: 'agent-identity',
      schema: 1,
      at: clock.next(),
      agentId: LEAD_ID,
      name: 'Julian',
      ...LEAD_COLOR,
      position: LEAD_POSITION,
      individuationArtifact: '',
      bornAt: Date.now(),
      bornSessionId: null,
    },
  ];

  try {
    for (const device of devices) device.pending.push(...beginning);
    await open();
    const [first] = devices;
    if (!first) throw new Error('there are two devices');
    await begin(first);
    await untilMore('call-ended', () =>
      post(writeSummon(SEATS.map((position) => ({ position, ...seatColor(position) })))),
    );
    await untilMore('session-ended', () => call('/api/sessions/current', 'DELETE'));

    for (let n = 1; n <= sessions; n++) {
      const after = `seed ${seed}, session ${n}`;
      const device = devices[chance(0.5) ? 0 : 1] ?? first;
      // What is said to somebody who sleeps waits for it.
      await begin(device);
      isNewSession = true;
      const { roster } = await householdOf(device);
      const team = [...roster.seats.values()];
      if (team.length !== SEATS.length) throw new Error(`${after}: ${team.length} agents are born`);
      const [lyra, wren] = team;
      if (!lyra || !wren) throw new Error('two are born');
      if (chance(0.15)) await post(`¶ While you slept: ${fact()}.`, pick(random, team, 1)[0]?.agentId);
      failing.clear();
      if (chance(0.15)) failing.add(pick(random, [1, 2], 1)[0] ?? 1);
      await wake(device, team, after);
      isNewSession = false;
      const awake = team.filter(({ position }) => isSeatPosition(position) && !failing.has(seatNumber(position)));
      failing.clear();

      // Half of all sessions are a wake and nothing more.
      if (chance(0.5)) {
        for (const to of pick(
          random,
          [LEAD_ID, ...awake.map(({ agentId }) => agentId)],
          1 + Math.floor(random() * 3),
        )) {
          for (let said = 1 + Math.floor(random() * 4); said > 0; said--)
            await untilMore('message', () => post(`¶ You should know ${fact()}.`, to), 2);
          for (let books = chance(0.2) ? 1 + Math.floor(random() * 3) : 0; books > 0; books--)
            await untilMore('message', () => post(`¶ ${fact()} ${BOOK}`, to), 2);
        }
        if (chance(0.3) && awake.includes(lyra))
          await untilMore('message', () => post('¶write to her.', lyra.agentId), 2);
        const [again] = awake;
        if (chance(0.2) && again) {
          await untilQuiet();
          await untilMore('agent-asleep', () => call(`/api/agents/${again.agentId}/sleep`, 'POST'));
          await wake(device, [again], `${after}, woken again in it`);
        }
        await untilQuiet();
      }
      if (chance(0.15) && awake.length > 0) {
        await untilMore('text', () => post(`¶slow ${fact()}`, awake[0]?.agentId));
        hear();
        line().stream.close();
        await line().relay.kill('SIGKILL');
        report.kills += 1;
        offset = Math.floor((random() - 0.5) * 4) * DAY_MS;
        await open();
        await until(
          'the end of the session',
          () =>
            events.at(-1)?.kind === 'session-ended' ||
            events.findLast((event) => event.kind === 'session-ended' || event.kind === 'session-started')?.kind ===
              'session-ended',
        );
      } else await untilMore('session-ended', () => call('/api/sessions/current', 'DELETE'));
      report.sessions += 1;
    }
    return report;
  } finally {
    await end();
    await model.close();
    await bench.close();
  }
}

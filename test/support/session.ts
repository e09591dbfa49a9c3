/**
 * A session host on a real store, before a scripted model: everything of the relay but HTTP.
 * Closing a household checks what must hold of every log and every request, whatever the test was
 * about.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { openEventLog, type OpenEventLog } from '../../server/log/index.ts';
import type { PostOutcome, SessionHost } from '../../server/agents/session/contract.ts';
import type { Inbox } from '../../server/team/inbox/index.ts';
import { createAnthropicMind, type AnthropicMindConfig, type Mind } from '../../server/agents/minds/index.ts';
import { SESSION_LIMITS, type SessionLimits } from '../../server/agents/session/settings.ts';
import type { Db, Store } from '../../server/store/index.ts';
import { type Scripts } from '../../server/schedules/index.ts';
import { createSealer } from '../../server/platform/sealer.ts';
import { SETS_NOTHING_ASIDE } from '../../server/platform/set-aside.ts';
import { openTeam, type Team } from '../../server/households/team.ts';
import { parseProtocol } from '../../src/shared/domain/prompts.ts';
import { SEAT_ORDER, seatColor, type SeatPosition } from '../../src/shared/domain/seat.ts';
import { writeSummon, writeWake, type AgentPayload } from '../../src/shared/domain/wake-payload.ts';
import type { EventKind, EventOf, RoostEvent, StoredEvent } from '../../src/shared/protocol/events.ts';
import type { PostMessage, StartSession } from '../../src/shared/protocol/http.ts';
import { createHurriedTimers } from './hurried-timers.ts';
import {
  startScriptedModel,
  teamScript,
  type Script,
  type ScriptedModel,
  type ScriptedRequest,
} from './scripted-model.ts';
import { brokenRequests, brokenRules } from './session-rules.ts';
import { createStorePlace, usualStore, type StoreKind, type StorePlace } from './stores.ts';

export const PROTOCOL = parseProtocol(readFileSync(new URL('../../CLAUDE.md', import.meta.url), 'utf8'));
const UNTIL_MS = 20_000;
const RETENTION_MS = 60_000;
/** ms between two time-outs that pass: what one has set off is answered before the next. */
const HURRY_EVERY_MS = 100;

export interface Household {
  readonly db: Db;
  /** Id of the home in it. */
  readonly home: string;
  readonly log: OpenEventLog;
  readonly inbox: Inbox;
  readonly host: SessionHost;
  readonly team: Team;
  /** Of a scripted household; throws for one with a mind of its own. */
  readonly model: ScriptedModel;
  /** Everything in the log, in order, but for what only says that something else has changed. */
  readonly events: readonly RoostEvent[];
  readonly stored: readonly StoredEvent[];
  /** How often a part has read the event log. */
  readonly logReads: () => number;
  /** What was logged as a warning or an error. */
  readonly logged: readonly string[];
  of<K extends EventKind>(kind: K): EventOf<K>[];
  start(more?: Partial<StartSession['lead']>, settings?: StartSession['settings']): Promise<string>;
  post(message: Omit<PostMessage, 'clientId'> & { clientId?: string }): Promise<PostOutcome>;
  wake(agents: readonly AgentPayload[]): Promise<PostOutcome>;
  summon(positions?: readonly SeatPosition[]): Promise<PostOutcome>;
  /** Rejects after a while with what is in the log. */
  until(enough: () => boolean): Promise<void>;
  untilQuiet(): Promise<void>;
  /** Timers of the household go off so many ms earlier. Its clock is not moved. */
  hurry(ms: number): void;
  /**
   * As `until`. Meanwhile nobody waits for time-outs of up to `ms`. Call it once everybody has
   * answered who will.
   */
  untilTimedOut(ms: number, enough: () => boolean): Promise<void>;
  requestsOf(seat: number | null): ScriptedRequest[];
  /**
   * The process is gone and another one begins on the same home; the session that ran is not ended.
   */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface Bench {
  open(options?: {
    script?: Script;
    mind?: Mind;
    mindConfig?: Partial<AnthropicMindConfig>;
    limits?: Partial<SessionLimits>;
    onError?: 'expected';
    now?: () => number;
    /** Left out: scripts are off. */
    scripts?: Scripts;
  }): Promise<Household>;
  close(): Promise<void>;
}

export const payload = (position: SeatPosition, more: Partial<AgentPayload> = {}): AgentPayload => ({
  id: `agent-${position}`,
  name: `Name ${position}`,
  ...seatColor(position),
  position,
  soul: `I am the one in place ${position}.`,
  transcript: `Ada (2026-11-21 08:52 UTC):\n> The word of place ${position} is heron.`,
  ...more,
});
export const team = (more: Partial<AgentPayload> = {}): AgentPayload[] =>
  SEAT_ORDER.map((position) => payload(position, more));

/** A promise that the test fulfils. */
export function createGate(): { readonly passed: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

/** All text of a message's blocks. */
export const wordsOf = (message: EventOf<'message'> | undefined): string =>
  (message?.blocks ?? []).map((block) => (block.kind === 'text' ? block.text : '')).join('');

export async function openSessionBench(kind: StoreKind = usualStore()): Promise<Bench> {
  const place: StorePlace = await createStorePlace(kind);
  const store: Store = await place.open();
  const open: Household[] = [];
  return {
    async open(options = {}) {
      const household = await openHousehold(store, options);
      open.push(household);
      return household;
    },
    async close() {
      for (const household of open) await household.close();
      await store.close();
      await place.remove();
    },
  };
}

async function openHousehold(
  store: Store,
  {
    script = teamScript(),
    mind: given,
    mindConfig = {},
    limits,
    onError,
    now = Date.now,
    scripts,
  }: NonNullable<Parameters<Bench['open']>[0]>,
): Promise<Household> {
  const relay = randomUUID();
  const scripted = given ? null : await startScriptedModel(script);
  const mind = given ?? createAnthropicMind({ key: 'a-key-for-tests', baseUrl: scripted?.url ?? null, ...mindConfig });
  const logged: string[] = [];
  const failures: unknown[] = [];
  const note = (message: string, fields?: unknown) => void logged.push(`${message} ${inspect(fields)}`);
  const checks = new Set<() => void>();
  const timers = createHurriedTimers();
  let stored: StoredEvent[] = [];
  let closed = false;
  let reads = 0;

  async function openRelay() {
    const log = await openEventLog({
      db: store.db,
      home: relay,
      now: Date.now,
      newId: randomUUID,
      onListenerError: (error) => failures.push(error),
    });
    stored = [...(await log.read(0, 1_000_000))];
    log.subscribe((item) => {
      stored.push(item);
      for (const check of checks) check();
    });
    const lifeline = mortal(log, () => void (reads += 1));
    const team = openTeam({
      db: store.db,
      home: relay,
      alone: store.kind === 'sqlite',
      log: lifeline.log,
      mind,
      protocol: PROTOCOL,
      now,
      newId: randomUUID,
      timers,
      logger: { warn: note, error: note },
      retentionMs: RETENTION_MS,
      sealer: createSealer(new Uint8Array(32).fill(7)),
      ...(scripts ? { scripts } : {}),
      limits: { ...SESSION_LIMITS, secondTryMs: 20, ...limits },
    });
    await SETS_NOTHING_ASIDE.run(team.recovery);
    return { log, team, die: lifeline.die };
  }
  let parts = await openRelay();

  const household: Household = {
    db: store.db,
    home: relay,
    get log() {
      return parts.log;
    },
    get inbox() {
      return parts.team.inbox;
    },
    get host() {
      return parts.team.host;
    },
    get team() {
      return parts.team;
    },
    get model() {
      if (!scripted) throw new Error('This household has a mind of its own.');
      return scripted;
    },
    get events() {
      return stored.flatMap(({ event }) => (event.kind === 'changed' ? [] : [event]));
    },
    get stored() {
      return stored;
    },
    logReads: () => reads,
    logged,
    of<K extends EventKind>(kind: K) {
      return stored.flatMap(({ event }) => (isKind(event, kind) ? [event] : []));
    },
    async start(more = {}, settings = {}) {
      const started = await parts.team.host.start({
        human: { name: 'Ada' },
        lead: { name: 'Julian', soul: 'I keep the door.', transcript: null, ...more },
        settings,
      });
      if (!started.ok) throw new Error('A session runs already.');
      return started.sessionId;
    },
    post: (message) => parts.team.host.post({ clientId: randomUUID(), ...message }),
    wake: (agents) => household.post({ text: writeWake(agents) }),
    summon: (positions = SEAT_ORDER) =>
      household.post({ text: writeSummon(positions.map((position) => ({ position, ...seatColor(position) }))) }),
    until: (enough) =>
      new Promise((resolve, reject) => {
        const done = (act: () => void) => {
          clearInterval(poll);
          clearTimeout(late);
          checks.delete(check);
          act();
        };
        const check = () => {
          if (enough()) done(resolve);
        };
        // Requests arrive without an event.
        const poll = setInterval(check, 5);
        const late = setTimeout(
          () =>
            done(() =>
              reject(new Error(`It did not come to that. The log:\n${summary(stored)}\n${logged.join('\n')}`)),
            ),
          UNTIL_MS,
        );
        checks.add(check);
        check();
      }),
    untilQuiet: () => household.until(() => isQuiet(household)),
    hurry: timers.hurry,
    async untilTimedOut(ms, enough) {
      const hurrying = setInterval(() => timers.hurry(ms), HURRY_EVERY_MS);
      try {
        await household.until(enough);
      } finally {
        clearInterval(hurrying);
      }
    },
    requestsOf: (seat) => household.model.requests.filter((request) => request.seat === seat),
    async restart() {
      parts.die();
      await parts.log.close();
      parts = await openRelay();
    },
    async close() {
      if (closed) return;
      closed = true;
      await parts.team.host.end('shutdown');
      await parts.team.close();
      await parts.log.close();
      await scripted?.close();
      await mind.close();
      const broken = [
        ...brokenRules(stored),
        ...brokenRequests(scripted?.requests ?? []),
        ...failures.map(String),
        ...(onError === 'expected' ? [] : logged),
      ];
      if (broken.length > 0)
        throw new Error(`What must always hold does not:\n${broken.join('\n')}\nThe log:\n${summary(stored)}`);
    },
  };
  return household;
}

/**
 * The log as a process sees it that may be killed: nothing that it writes after its death arrives,
 * or is answered.
 */
function mortal(log: OpenEventLog, onRead: () => void): { readonly log: OpenEventLog; die(): void } {
  let dead = false;
  const never = new Promise<never>(() => undefined);
  return {
    log: {
      ...log,
      read(...asked) {
        onRead();
        return log.read(...asked);
      },
      append: (events) => (dead ? never : log.append(events)),
      appendOnce: (clientId, events) => (dead ? never : log.appendOnce(clientId, events)),
    },
    die() {
      dead = true;
    },
  };
}

function isKind<K extends EventKind>(event: RoostEvent, kind: K): event is EventOf<K> {
  return event.kind === kind;
}

/** Nobody says anything, nobody is on the way. */
function isQuiet(household: Household): boolean {
  const { session, answering } = household.log.snapshot();
  const here = (event: { sessionId: string | null }) => event.sessionId === session?.sessionId;
  const calls = household.of('call-started').filter(here).length - household.of('call-ended').filter(here).length;
  return session !== null && answering.length === 0 && session.hatching.length === 0 && calls === 0;
}

const summary = (stored: readonly StoredEvent[]) =>
  stored.map(({ id, event }) => `${id} ${JSON.stringify(event).slice(0, 240)}`).join('\n');

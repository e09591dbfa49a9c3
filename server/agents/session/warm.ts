/**
 * A dry run of a WAKE of eight made-up agents, with all the steps of a real one. It uses the
 * relay's own parts where they only read, and stand-ins where they would write. The first wake of a
 * process works twice as long as the second, because code is compiled and the tools are described.
 * Nothing of the dry run is stored, announced or counted.
 */
import { NO_COST } from '../../../src/shared/domain/prices.ts';
import { momentText } from '../../../src/shared/domain/zone-days.ts';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import { LEAD_ID, SEAT_ORDER, seatColor } from '../../../src/shared/domain/seat.ts';
import { writeWake } from '../../../src/shared/domain/wake-payload.ts';
import { postMessageSchema, startSessionSchema, type StartSession } from '../../../src/shared/protocol/http.ts';
import type { SessionHost } from './contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { Caller } from '../../tools/index.ts';
import { sizeOfRequest, type Mind } from '../minds/index.ts';
import type { SessionHostDeps } from './context.ts';
import { createNoLog } from '../runs/dry-run.ts';
import { createWaiting } from '../runs/waiting.ts';
import { createTurns } from '../runs/turns.ts';
import { allowedTools, mindToolOf } from '../runs/team-tools.ts';

const WARM_SETTINGS = {
  /** Characters of a soul and of a conversation, typical of a team after a while. */
  soulChars: 2_000,
  conversationChars: 24_000,
} as const;

const text = (chars: number) => 'Nobody is here yet. '.repeat(chars / 20);
const WAKE = writeWake(
  SEAT_ORDER.map((position) => ({
    id: `warm-${position}`,
    name: `Agent ${position}`,
    ...seatColor(position),
    position,
    soul: text(WARM_SETTINGS.soulChars),
    transcript: text(WARM_SETTINGS.conversationChars),
  })),
);

/** The host's dependencies where they only read, and stand-ins otherwise. */
export function standIns(deps: SessionHostDeps, mind: Mind, onError: (error: unknown) => void): SessionHostDeps {
  const { inbox, pauses, costs, timers = realTimers } = deps;
  return {
    ...deps,
    mind,
    log: createNoLog(),
    turns: createTurns(timers),
    waiting: createWaiting(deps.now),
    inbox: {
      ...inbox,
      waiting: () => Promise.resolve([]),
      put: () => Promise.resolve(null),
      claim: () => Promise.resolve([]),
      release: () => Promise.resolve(),
    },
    pauses: {
      ...pauses,
      begin: () => undefined,
      join: () => Promise.resolve(),
      end: () => undefined,
      isPaused: () => false,
      wait: () => Promise.resolve('awake'),
      subscribe: () => () => undefined,
    },
    costs: {
      async check(request, signal) {
        const checked = await costs.check({ ...request, rehearsed: true }, signal);
        if (!checked.ok) return checked;
        const { release } = checked.hold;
        const settle = () => Promise.resolve(release());
        return { ok: true, hold: { release, settle, spent: () => NO_COST, again: () => Promise.resolve(false) } };
      },
    },
    wakePayloads: {
      begin: () => undefined,
      called: () => undefined,
      soulOf: () => undefined,
      withdrawn: () => undefined,
    },
    logger: { warn: (_message, fields) => onError(fields), error: (_message, fields) => onError(fields) },
  };
}

/**
 * Runs the queries that precede a request to a mind and that a dry run leaves out.
 */
export async function askStore({ costs, teamTools, inbox, log, configs, now }: SessionHostDeps): Promise<void> {
  const signal = new AbortController().signal;
  const caller: Caller = { agentId: LEAD_ID, sessionId: null, run: 'warm', kind: 'session', signal };
  const [check, { effective }] = await Promise.all([
    costs.check(
      {
        agentId: LEAD_ID,
        size: sizeOfRequest({ model: '', system: '', messages: [], tools: [], maxTokens: 0 }, false),
        rehearsed: true,
      },
      signal,
    ),
    configs.household(),
    allowedTools(teamTools.all(), caller),
    inbox.waiting(LEAD_ID, 1),
    log.written('warm'),
  ]);
  if (check.ok) check.hold.release();
  momentText(now(), effective.time_zone);
  teamTools.all().forEach(mindToolOf);
}

interface WakeOfNobody {
  readonly start: StartSession;
  readonly text: string;
  readonly clientId: string;
}

/**
 * Runs one wake as a dry run, from the start of its session to the end. `host`: made of the
 * stand-ins. Resolves early if `signal` aborts.
 */
export async function runWake(
  host: SessionHost,
  log: EventLog,
  { start, text: call, clientId }: WakeOfNobody,
  signal: AbortSignal,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  let stop: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    const said = { ended: false, greeted: false };
    stop = log.subscribe(({ event }) => {
      said.ended ||= event.kind === 'call-ended';
      said.greeted ||= event.kind === 'message' && event.author === LEAD_ID;
      if ((said.ended && said.greeted) || event.kind === 'session-ended') resolve();
    });
  });
  await host.start(start);
  await host.post(postMessageSchema.parse({ text: call, clientId }));
  await Promise.race([over, stopped]);
  stop();
  await host.end('ended');
}

/** Runs the wake of the made-up agents. Takes what `runWake` takes. */
export async function runMadeUpWake(host: SessionHost, log: EventLog, signal: AbortSignal): Promise<void> {
  const start = startSessionSchema.parse({
    human: { name: 'Nobody' },
    lead: { name: 'Lead', soul: null, transcript: null },
  });
  await runWake(host, log, { start, text: WAKE, clientId: 'warm' }, signal);
}

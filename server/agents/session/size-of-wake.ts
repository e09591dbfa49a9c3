/**
 * Measures the requests that a wake would send. The wake is a dry run through the session's own
 * code. Its mind measures each request and sends none. So the figure includes everything that a
 * real wake sends.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import { NO_COST } from '../../../src/shared/domain/prices.ts';
import { LEAD_ID, seatNumber } from '../../../src/shared/domain/seat.ts';
import { writeWake, type TeamCall } from '../../../src/shared/domain/wake-payload.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import type { SessionHost, WakeRequests } from '../../contracts/index.ts';
import { sizeOfRequest, type AgentMind, type Mind, type MindAnswer } from '../minds/index.ts';
import type { SessionHostDeps } from './context.ts';
import { runWake, standIns } from './warm.ts';

const says = (text: string): MindAnswer => ({ ok: true, blocks: [{ kind: 'text', text }], stop: 'end', usage: null });

/** Agents greet in one word. The lead makes its one call, and greets. */
function createMeasuringMind(mind: Mind, seats: readonly number[], onRequest: (one: Measured) => void): Mind {
  const current = mind.current?.() ?? mind;
  const mindOf = (agentId: AgentId): AgentMind => {
    let calls = 0;
    return {
      counts: 'reports',
      web: (model) => current.web?.(model) ?? false,
      searches: (model) => current.searches?.(model) ?? false,
      answer(request, { onText }) {
        const { bytes, model } = sizeOfRequest(request, current.searches?.(request.model) ?? false);
        onRequest({ agentId, model, bytes });
        calls += 1;
        if (agentId === LEAD_ID && calls === 1)
          return Promise.resolve({
            ok: true,
            blocks: [{ kind: 'tool-use', toolUseId: 'measured', name: 'spawn_team', input: { seats } }],
            stop: 'tools',
            usage: null,
          });
        onText('Hello.');
        return Promise.resolve(says('Hello.'));
      },
    };
  };
  const minds = new Map<AgentId, AgentMind>();
  return {
    models: (chosen) => current.models(chosen),
    of({ agentId }) {
      const one = minds.get(agentId) ?? mindOf(agentId);
      minds.set(agentId, one);
      return Promise.resolve(one);
    },
    answer: () => Promise.resolve(says('Hello.')),
    close: () => Promise.resolve(),
  };
}

interface Measured {
  readonly agentId: AgentId;
  readonly model: string;
  readonly bytes: number;
}

export interface SizeOfWakeDeps {
  readonly deps: SessionHostDeps;
  readonly createHost: (deps: SessionHostDeps) => SessionHost;
  /** The state at the start of the session, or of the one that runs. */
  readonly start: StartSession;
  readonly call: Extract<TeamCall, { kind: 'wake' }>;
  /** Characters in the lead's conversation, without the start of its session. */
  readonly leadHas: number;
}

/** Rejects if the relay cannot read the context of a wake, or if `signal` aborts. */
export async function sizeOfWake(
  { deps, createHost, start, call, leadHas }: SizeOfWakeDeps,
  signal: AbortSignal,
): Promise<readonly WakeRequests[]> {
  const sizes = new Map<AgentId, { readonly model: string; readonly bytes: number[] }>();
  let problem: unknown = null;
  const mind = createMeasuringMind(
    deps.mind,
    call.agents.map(({ position }) => seatNumber(position)),
    ({ agentId, model, bytes }) => {
      const one = sizes.get(agentId) ?? { model, bytes: [] };
      one.bytes.push(bytes + (agentId === LEAD_ID ? leadHas : 0));
      sizes.set(agentId, one);
    },
  );
  const nobody = standIns(deps, mind, (error) => (problem ??= error));
  const free = { release: () => undefined, settle: () => Promise.resolve(), spent: () => NO_COST };
  const measured: SessionHostDeps = {
    ...nobody,
    timers: deps.timers ?? realTimers,
    costs: {
      check: () => Promise.resolve({ ok: true, hold: { ...free, again: () => Promise.resolve(false) } }),
    },
  };
  await runWake(
    createHost(measured),
    measured.log,
    { start, text: writeWake(call.agents), clientId: 'measured' },
    signal,
  );
  signal.throwIfAborted();
  if (problem !== null) throw new Error('a wake could not be measured', { cause: problem });
  return [...sizes].map(([agentId, one]) => ({ agentId, ...one }));
}

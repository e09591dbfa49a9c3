/**
 * Measures the requests that a wake would send. The wake is a dry run through the session's own
 * code. Its mind measures each request and sends none. So the figure includes everything that a
 * real wake sends.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import { LEAD_ID, seatNumber } from '../../../src/shared/domain/seat.ts';
import { writeWake, type TeamCall } from '../../../src/shared/domain/wake-payload.ts';
import type { StartSession } from '../../../src/shared/protocol/http.ts';
import type { SessionHost } from './contract.ts';
import type { WakeRequests } from '../../team/costs/contract.ts';
import { createMeasuringMind, FREE } from '../runs/dry-run.ts';
import type { SessionHostDeps } from './context.ts';
import { runWake, standIns } from './warm.ts';

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
  const seats = call.agents.map(({ position }) => seatNumber(position));
  const mind = createMeasuringMind(
    deps.mind,
    ({ agentId, model, bytes }) => {
      const one = sizes.get(agentId) ?? { model, bytes: [] };
      one.bytes.push(bytes + (agentId === LEAD_ID ? leadHas : 0));
      sizes.set(agentId, one);
    },
    // Agents greet in one word. The lead makes its one call, and greets.
    (agentId, nth) =>
      agentId === LEAD_ID && nth === 1
        ? {
            ok: true,
            blocks: [{ kind: 'tool-use', toolUseId: 'measured', name: 'spawn_team', input: { seats } }],
            stop: 'tools',
            usage: null,
          }
        : null,
  );
  const nobody = standIns(deps, mind, (error) => (problem ??= error));
  const measured: SessionHostDeps = {
    ...nobody,
    timers: deps.timers ?? realTimers,
    costs: FREE,
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

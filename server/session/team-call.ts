/**
 * One wake or one summon, from the message to the last seat decided. Every seat of it ends in exactly one
 * of: here, or not here with a reason. `call-ended` is written together with the last of them.
 */
import { seatNumber } from '../../src/domain/seat.ts';
import type { AsleepReason, CallKind, RoostEvent } from '../../src/protocol/events.ts';
import type { SessionContext } from './context.ts';
import type { Present } from './presence.ts';
import { teamReport, type ReportLine } from './report.ts';

export type SeatOutcome = { readonly here: true } | { readonly here: false; readonly reason: AsleepReason };

export interface RunningCall {
  readonly wakeId: string;
  readonly kind: CallKind;
  /** Takes the agents of the call; once, before anything else. */
  seat(agents: readonly Present[]): void;
  /** The lead names seats (1–9): everybody named begins, in this tick; whoever is left out is declined. */
  spawn(seats: readonly number[]): { readonly ok: true } | { readonly ok: false; readonly reason: string };
  /** The lead has not called and will not: what to write. Nothing where it has. */
  abandon(reason: string): readonly RoostEvent[];
  /** A seat is decided: what to write beside its own event. */
  decided(agentId: string, outcome: SeatOutcome): readonly RoostEvent[];
  /** Whether every seat is decided. */
  over(): boolean;
  whenOver(): Promise<void>;
  /** The `[TEAM REPORT]` of what no earlier report has told. */
  report(): string;
}

export function createRunningCall({ context, wakeId, kind }: { context: SessionContext; wakeId: string; kind: CallKind }): RunningCall {
  const { sessionId, now, record } = context;
  const outcomes = new Map<string, SeatOutcome>();
  const reported = new Set<string>();
  let agents: readonly Present[] = [];
  let spawned = false;
  let error: string | null = null;
  let resolveOver: () => void = () => undefined;
  const whenOver = new Promise<void>((resolve) => (resolveOver = resolve));
  const over = () => outcomes.size === agents.length;
  const undecided = () => agents.filter((agent) => !outcomes.has(agent.agentId));

  function spawn(seats: readonly number[]): ReturnType<RunningCall['spawn']> {
    if (spawned) return { ok: false, reason: 'The team has been called already; one call of spawn_team is enough.' };
    const wrong = seats.filter((seat) => !agents.some((agent) => seatNumber(agent.position) === seat));
    if (wrong.length > 0) {
      const right = agents.map((agent) => seatNumber(agent.position)).join(', ');
      return { ok: false, reason: `Seat ${wrong.join(', ')} is not in the message. The seats in it are ${right}. Nobody was called; call spawn_team again with these.` };
    }
    spawned = true;
    const waiting = undecided();
    const named = waiting.filter((agent) => seats.includes(seatNumber(agent.position)));
    for (const agent of named) agent.begin();
    const leftOut = waiting.filter((agent) => !named.includes(agent));
    const events = leftOut.flatMap((agent) => agent.decline({ code: 'not-called', message: 'The lead left this seat out of its call.' }));
    if (events.length > 0) void record(events);
    return { ok: true };
  }

  return {
    wakeId,
    kind,
    seat(all) {
      agents = all;
    },
    spawn,
    abandon(reason) {
      if (spawned) return [];
      spawned = true;
      error = reason;
      return undecided().flatMap((agent) => agent.decline({ code: 'not-called', message: reason }));
    },
    decided(agentId, outcome) {
      if (outcomes.has(agentId)) return [];
      outcomes.set(agentId, outcome);
      if (!over()) return [];
      resolveOver();
      return [{ kind: 'call-ended', time: now(), sessionId, wakeId, error }];
    },
    over,
    whenOver: () => whenOver,
    report() {
      const lines = agents
        .filter((agent) => !reported.has(agent.agentId))
        .map((agent): ReportLine => ({ seat: seatNumber(agent.position), name: agent.name(), outcome: outcomes.get(agent.agentId) ?? null }));
      for (const agent of agents) if (outcomes.has(agent.agentId)) reported.add(agent.agentId);
      return teamReport(lines);
    },
  };
}


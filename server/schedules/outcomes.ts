/**
 * The outcome of an occurrence: what became of its run, and why it was skipped. How runs ended is
 * also read from the event log, so that the conversation and the history report the same outcome.
 */
import { endOfText } from '../../src/shared/domain/cut-middle.ts';
import type { AgentState, GateCheck } from '../../src/shared/domain/guardrails.ts';
import type { RunId } from '../../src/shared/domain/ids.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { tokensOf } from '../../src/shared/domain/request-cost.ts';
import type { OccurrenceEnd, SkipReason } from '../../src/shared/domain/schedule/timing.ts';
import { textOf } from '../../src/shared/domain/text-of.ts';
import type { EventOf } from '../../src/shared/protocol/events.ts';
import type { RunResult } from '../agents/runs/index.ts';
import type { EventLog } from '../log/index.ts';
import type { Worked } from './alone.ts';
import type { Performed } from './clock.ts';
import type { RoutineRun } from './mapping-contract.ts';
import { type Detail, type Ended, NO_DETAIL } from './rows.ts';

export const skipped = (reason: SkipReason, detail: string | null = null): Ended => ({
  end: { state: 'skipped', reason },
  detail: { ...NO_DETAIL, detail },
});
export const ended = (state: Exclude<OccurrenceEnd['state'], 'skipped'>, detail: Partial<Detail> = {}): Ended => ({
  end: { state, reason: null },
  detail: { ...NO_DETAIL, ...detail },
});

export const FORGOTTEN: Performed = { ...ended('cancelled'), forgets: true };

/** Why an agent in this state begins no run of a routine. Null: it may. */
export function busyText(state: AgentState): string | null {
  if (state === 'paused') return sentence`The agent is set to sleep in the session.`;
  return state === 'driven' ? sentence`A client drives it now.` : null;
}

type GateReason = Extract<SkipReason, 'switched-off' | 'blackout' | 'minutes' | 'concurrency' | 'agent-busy' | 'gate'>;
/** The skip reason for a check of the gate. */
export function reasonOf(check: GateCheck | null): GateReason {
  switch (check) {
    case 'disabled':
      return 'switched-off';
    case 'blackout':
    case 'minutes':
    case 'concurrency':
      return check;
    case 'idle':
      return 'agent-busy';
    default:
      return 'gate';
  }
}

/** The outcome of an occurrence from the result of its run. */
function endOfRun({
  outcome,
  reason,
  usage,
  costMicroUsd,
  estimated,
  said,
  overBudget,
  refusedForNow,
}: RunResult): Ended {
  // A run that reached the model before the budget ended counts as a run.
  if (overBudget && usage === null) return skipped('budget', reason);
  if (refusedForNow && usage === null) return skipped('model-refused', reason);
  const tokens = usage && tokensOf(usage);
  return ended(outcome, { said, detail: reason, tokens, costMicroUsd, estimated });
}

/**
 * A run whose claims all failed has failed, however its agent ended it. So the schedule is paused
 * after `failuresPause` of them, and costs nothing more.
 */
export function unlessNothingBegan(performed: Performed, claims: readonly (string | null)[]): Performed {
  const why = claims.at(-1) ?? null;
  if (!('end' in performed) || performed.end.state !== 'done' || why === null || claims.includes(null))
    return performed;
  return {
    ...performed,
    end: { state: 'failed', reason: null },
    detail: { ...performed.detail, detail: sentence`The work on its task could not begin. ${why}` },
  };
}

/** The outcome of an occurrence from its work. Null: an error inside the relay. */
export function performedBy(worked: Worked | null): Performed {
  if (worked === null) return ended('failed', { detail: 'Nothing was begun.' });
  if (worked.kind === 'ended') return endOfRun(worked.end);
  switch (worked.why) {
    case 'closing':
      return skipped('planned-stop');
    case 'not-ours':
      return skipped('overlap', 'Another process of this relay has it.');
    case 'budget':
      return skipped('budget', worked.detail);
    case 'read':
      return FORGOTTEN;
    case 'no-copy':
    case 'agent-busy':
      return skipped(worked.why);
    default:
      return worked satisfies never;
  }
}

/** Notes which mapping had the run for itself, and which tasks that were ready it left. */
export const withOwn = (
  performed: Performed,
  run: Pick<RoutineRun, 'own'> | null,
  left: string | null = null,
): Performed =>
  'end' in performed && run
    ? { ...performed, detail: { ...performed.detail, own: run.own, ...(left === null ? {} : { left }) } }
    : performed;

/** Events per read. */
const PAGE = 2_000;

/**
 * Outcomes of those runs that have ended according to the log. `saidChars`: most characters of the
 * last words.
 */
export async function endsInLog(
  log: Pick<EventLog, 'read'>,
  runIds: ReadonlySet<RunId>,
  saidChars: number,
): Promise<ReadonlyMap<string, Ended>> {
  const lastWords = new Map<string, string>();
  const over: EventOf<'run-ended'>[] = [];
  for (let after = 0; ;) {
    const page = await log.read(after, PAGE);
    for (const { event } of page) {
      if (event.kind === 'run-ended' && runIds.has(event.runId)) over.push(event);
      if (event.kind !== 'message' || event.runId === undefined || event.author !== event.agentId) continue;
      const text = textOf(event.blocks).trim();
      if (runIds.has(event.runId) && text !== '') lastWords.set(event.runId, endOfText(text, saidChars));
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.id;
  }
  return new Map(
    over.map((event) => [
      event.runId,
      endOfRun({ ...event, said: lastWords.get(event.runId) ?? null, overBudget: false, refusedForNow: false }),
    ]),
  );
}

/**
 * What an agent did alone, for when it wakes, and for its next turn where it is awake: it was
 * itself that did it, and it must know.
 */
import { cutMiddle } from '../../src/shared/domain/cut-middle.ts';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import { quote, titled } from '../../src/shared/domain/quoting.ts';
import type { Occurrence } from '../../src/shared/protocol/schedules.ts';
import type { Configs, Meanwhile } from '../contracts/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { ScheduleRows } from './rows.ts';

/**
 * Runs that are told of one by one, how far back, how many are counted, and characters of the last
 * words of each.
 */
const TOLD = { runs: 10, backMs: 30 * 86_400_000, lookedAt: 500, saidChars: 300 };

const OUTCOMES: Partial<Record<Occurrence['state'], string>> = {
  done: 'done',
  failed: 'failed',
  'timed-out': 'ended at its limit before it was done',
  crashed: 'cut off: the relay died',
  stopped: 'stopped',
};

export interface MeanwhileDeps {
  readonly rows: Pick<ScheduleRows, 'runs' | 'endsSince'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * Whether this agent was at work since then. Those of a team, which all wake in one go, are looked
 * for at once.
 */
function createWasAtWork(rows: MeanwhileDeps['rows']) {
  let asking: { earliest: number; readonly ends: Promise<ReadonlyMap<AgentId, number>> } | null = null;
  async function ask(): Promise<ReadonlyMap<AgentId, number>> {
    await new Promise((resolve) => setImmediate(resolve));
    const { earliest = 0 } = asking ?? {};
    asking = null;
    return await rows.endsSince(earliest);
  }
  return async (agentId: AgentId, since: number): Promise<boolean> => {
    asking ??= { earliest: since, ends: ask() };
    asking.earliest = Math.min(asking.earliest, since);
    return ((await asking.ends).get(agentId) ?? 0) > since;
  };
}

/** Resolves with a note for its mind, and up to when it tells; null: it did nothing since then. */
export function createMeanwhile({ rows, configs, now, logger }: MeanwhileDeps): Meanwhile {
  const wasAtWork = createWasAtWork(rows);
  return async (agentId, since, asleep) => {
    try {
      const time = now();
      const from = Math.max(since, time - TOLD.backMs);
      if (!(await wasAtWork(agentId, from))) return null;
      // Its own alone: however much the others did, or idled, nothing of it is pushed out.
      const own = await rows.runs({ agentId, before: time + 1, endedAfter: from, most: TOLD.lookedAt });
      if (own.length === 0) return null;
      const zone = (await configs.household()).effective.time_zone;
      const lines = own
        .slice(0, TOLD.runs)
        .reverse()
        .map(({ kind, name, startedAt, dueAt, state, said }) => {
          const what = kind === 'wake' ? `woken by ${titled(name)}` : `${kind} ${titled(name)}`;
          const head = `${what}, ${momentText(startedAt ?? dueAt, zone)}: ${OUTCOMES[state] ?? state}`;
          return said === null ? head : `${head}. Your last words:\n${quote(cutMiddle(said, TOLD.saidChars))}`;
        });
      // Of very many it is known that there are more.
      const least = own.length === TOLD.lookedAt ? 'at least ' : '';
      const more =
        own.length > TOLD.runs ? `\n${least}${own.length - TOLD.runs} runs before these are not told here.` : '';
      const isOlder =
        from > since && (await rows.runs({ agentId, before: from, endedAfter: since, most: 1 })).length > 0;
      const old = isOlder ? `\nWhat you did more than ${TOLD.backMs / 86_400_000} days ago is not told here.` : '';
      const often = own.length === 1 ? 'once' : `${least}${own.length} times`;
      const head = asleep
        ? `While you slept you were at work ${often}`
        : `Meanwhile you were at work by yourself ${often}`;
      return {
        text: `[${head}, without the human:]${old}${more}\n${lines.join('\n')}`,
        upTo: Math.max(...own.map(({ endedAt }) => endedAt ?? 0)),
      };
    } catch (error) {
      // No reason not to wake, nor not to answer.
      logger.error('what an agent did alone could not be read; it goes on without it', { error: String(error) });
      return null;
    }
  };
}

/** What an agent did alone while it slept, for when it wakes: it was itself that did it, and it must know. */
import { cutMiddle } from '../../src/domain/cut-middle.ts';
import type { AgentId } from '../../src/domain/ids.ts';
import { momentText } from '../../src/domain/moments.ts';
import { singleFlight } from '../../src/domain/platform/single-flight.ts';
import { quote, titled } from '../../src/domain/quoting.ts';
import type { Occurrence } from '../../src/protocol/schedules.ts';
import type { Configs } from '../contracts.ts';
import type { Logger } from '../runs/context.ts';
import type { ScheduleRows } from './rows.ts';

/** Runs that are told of one by one, how far back, how many are looked through for all agents, and characters of the last words of each. */
const TOLD = { runs: 10, backMs: 30 * 86_400_000, lookedAt: 500, saidChars: 300 };

const OUTCOMES: Partial<Record<Occurrence['state'], string>> = {
  done: 'done',
  failed: 'failed',
  'timed-out': 'not done in time',
  crashed: 'cut off: the relay died',
  stopped: 'stopped',
};

export interface MeanwhileDeps {
  readonly rows: Pick<ScheduleRows, 'between'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
}

/** Resolves with a note for its mind; null: it did nothing since then. Those who wake in one moment are told by one look. */
export function createMeanwhile({
  rows,
  configs,
  now,
  logger,
}: MeanwhileDeps): (agentId: AgentId, since: number) => Promise<string | null> {
  const look = singleFlight(async () => {
    const [all, { effective }] = await Promise.all([
      rows.between(now() - TOLD.backMs, now(), { most: TOLD.lookedAt }),
      configs.household(),
    ]);
    return { all, zone: effective.time_zone };
  });
  return async (agentId, since) => {
    try {
      const { all, zone } = await look();
      const own = all.filter(
        (each) =>
          each.agentId === agentId &&
          each.runId !== null &&
          each.state !== 'skipped' &&
          each.endedAt !== null &&
          each.endedAt > since,
      );
      if (own.length === 0) return null;
      const lines = own
        .slice(0, TOLD.runs)
        .reverse()
        .map(({ kind, name, startedAt, dueAt, state, said }) => {
          const what = kind === 'wake' ? `woken by ${titled(name)}` : `${kind} ${titled(name)}`;
          const head = `${what}, ${momentText(startedAt ?? dueAt, zone)}: ${OUTCOMES[state] ?? state}`;
          return said === null ? head : `${head}. Your last words:\n${quote(cutMiddle(said, TOLD.saidChars))}`;
        });
      const more = own.length > TOLD.runs ? `\n${own.length - TOLD.runs} runs before these are not told here.` : '';
      return `[While you slept you were at work ${own.length === 1 ? 'once' : `${own.length} times`}, without the human:]${more}\n${lines.join('\n')}`;
    } catch (error) {
      // No reason not to wake.
      logger.error('what an agent did alone could not be read; it wakes without it', { error: String(error) });
      return null;
    }
  };
}

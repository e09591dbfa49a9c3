/**
 * What came as a record and waits for the person's yes at this relay. Fetched with the part of the
 * page that shows it.
 */
import type { AskedRecord } from '../../shared/protocol/records.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQuery, type Query } from './query.ts';

interface Asked {
  readonly list: Query<readonly AskedRecord[]>;
  /** Why some were not taken, each reason once, in the relay's words. */
  answer(records: readonly AskedRecord[], yes: boolean): Promise<readonly string[]>;
}

function createAsked({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): Asked {
  const list = createQuery<readonly AskedRecord[]>({
    async ask() {
      const result = await reach((client) => client.askedRecords());
      return result.ok ? { ok: true, value: result.value.asked } : result;
    },
    changes,
    device,
    what: ['asked', 'attached', 'schedules', 'config'],
  });
  return {
    list,
    async answer(records, yes) {
      const answers = records.map(({ type, id, part, hash }) => ({ type, id, part, hash, yes }));
      const result = await reach((client) => client.answerAsked({ body: { answers } }));
      await list.again();
      if (!result.ok) return [problemText(result.problem)];
      const refused = result.value.outcomes.flatMap((each) => (each.outcome === 'refused' ? [each.why] : []));
      return [...new Set(refused)];
    },
  };
}

export const askedOf = onePerPage(createAsked);

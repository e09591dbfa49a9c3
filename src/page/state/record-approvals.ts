/** Records that wait for the person’s approval at this relay. */
import type { AskedRecord } from '../../shared/protocol/records.ts';
import { problemText } from './ports.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { createQuery, type Query } from './query.ts';

interface Asked {
  readonly list: Query<readonly AskedRecord[]>;
  /** Returns why some were not accepted, each reason once, in the relay's words. */
  answer(records: readonly AskedRecord[], yes: boolean): Promise<readonly string[]>;
}

function createAsked({ callRelay, changes, device }: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): Asked {
  const list = createQuery<readonly AskedRecord[]>({
    async ask() {
      const result = await callRelay((client) => client.recordApprovals());
      return result.ok ? { ok: true, value: result.value.asked } : result;
    },
    changes,
    device,
    what: ['asked', 'mcp-servers', 'schedules', 'config'],
  });
  return {
    list,
    async answer(records, yes) {
      const answers = records.map(({ type, id, part, hash }) => ({ type, id, part, hash, yes }));
      const result = await callRelay((client) => client.answerRecordApprovals({ body: { answers } }));
      await list.again();
      if (!result.ok) return [problemText(result.problem)];
      const refused = result.value.outcomes.flatMap((each) => (each.outcome === 'refused' ? [each.why] : []));
      return [...new Set(refused)];
    },
  };
}

export const askedOf = onePerPage(createAsked);

/**
 * Runs that somebody's wake began while its agent was absent: in the same account as those that
 * were due.
 */
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import type { Occurrence } from '../../src/shared/protocol/schedules.ts';
import type { Directory } from '../contracts/index.ts';
import { NOT_OURS, type Woken, type WokenRun } from './alone.ts';
import type { Leases } from './leases.ts';
import { performedBy } from './perform.ts';
import type { ScheduleRows } from './rows.ts';

export interface WokenDeps {
  readonly rows: Pick<ScheduleRows, 'woken' | 'begins' | 'end' | 'forgetHeld' | 'wakesSince'>;
  readonly leases: Pick<Leases, 'hold'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly onChange: (agentId: AgentId) => void;
  readonly now: () => number;
  readonly newId: () => string;
}

/** Wakes of one agent have one name in the account, as moments of one schedule do. */
const wakesOf = (agentId: AgentId) => `wakes of ${agentId}`.slice(0, LIMITS.id);

export function createWoken({ rows, leases, directory, onChange, now, newId }: WokenDeps): Woken {
  async function claimed(
    { scheduleId, agentId }: Pick<Occurrence, 'scheduleId' | 'agentId'>,
    called: Pick<Occurrence, 'kind' | 'name'>,
  ): Promise<WokenRun> {
    const claim = await rows.woken({ scheduleId, agentId, token: newId() }, called, now());
    const release = leases.hold(claim);
    onChange(agentId);
    return {
      begins: async (runId) => ((await rows.begins(claim, runId, now())) ? null : NOT_OURS),
      async end(worked) {
        try {
          const performed = performedBy(worked);
          if ('end' in performed)
            await (performed.forgets
              ? rows.forgetHeld(claim)
              : rows.end(claim, performed.end, performed.detail, now()));
        } finally {
          release();
          onChange(agentId);
        }
      },
    };
  }
  return {
    async begin(agentId, by, due) {
      const name = (await directory.all()).find((member) => member.agentId === by)?.name ?? by;
      return await claimed({ scheduleId: due?.scheduleId ?? wakesOf(agentId), agentId }, due ?? { kind: 'wake', name });
    },
    goOn: (one) => claimed(one, one),
    async carried(agentId, grantedAt) {
      const since = await rows.wakesSince(agentId, grantedAt);
      if (since.length === 0) return 'no';
      if (since.some(({ state }) => state === 'claimed')) return 'begins';
      // The relay ended over it. What its agent had read by then, nobody asks for again.
      const isCutOff = ({ state, reason }: (typeof since)[number]) => state === 'crashed' || reason === 'planned-stop';
      return since.every(isCutOff) ? 'cut-off' : 'yes';
    },
  };
}

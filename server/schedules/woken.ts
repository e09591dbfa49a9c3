/**
 * Runs started by a wake while the agent had no browser. They appear in the same history as
 * scheduled runs.
 */
import type { AgentId } from '../../src/shared/domain/ids.ts';
import type { Occurrence } from '../../src/shared/protocol/schedules.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import type { Directory } from '../team/directory/index.ts';
import type { ScheduleRows } from './rows.ts';
import type { Leases, Performed } from './clock.ts';
import { NOT_OURS, type Woken, type WokenRun } from './alone.ts';
import { performedBy } from './outcomes.ts';

interface WokenDeps {
  readonly rows: Pick<ScheduleRows, 'woken' | 'begins' | 'end' | 'forgetHeld' | 'wakesSince'>;
  readonly leases: Pick<Leases, 'hold'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly onChange: (agentId: AgentId) => void;
  readonly now: () => number;
  readonly newId: () => string;
}

/** All wakes of one agent share one id in the history, like the occurrences of a schedule. */
const wakesOf = (agentId: AgentId) => `wakes of ${agentId}`.slice(0, LIMITS.id);

export function createWoken({ rows, leases, directory, onChange, now, newId }: WokenDeps): Woken {
  async function claimed(
    { scheduleId, agentId }: Pick<Occurrence, 'scheduleId' | 'agentId'>,
    called: Pick<Occurrence, 'kind' | 'name'>,
  ): Promise<WokenRun> {
    const claim = await rows.woken({ scheduleId, agentId, token: newId() }, called, now());
    const release = leases.hold(claim);
    onChange(agentId);
    async function finish(performed: Performed): Promise<void> {
      try {
        if ('end' in performed)
          await (performed.forgets ? rows.forgetHeld(claim) : rows.end(claim, performed.end, performed.detail, now()));
      } finally {
        release();
        onChange(agentId);
      }
    }
    return {
      begins: async (runId) => ((await rows.begins(claim, runId, now())) ? null : NOT_OURS),
      end: (worked) => finish(performedBy(worked)),
      finish,
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
      // The relay stopped during the run. Messages that the agent had read by then are not
      // delivered again.
      const isCutOff = ({ state, reason }: (typeof since)[number]) => state === 'crashed' || reason === 'planned-stop';
      return since.every(isCutOff) ? 'cut-off' : 'yes';
    },
  };
}

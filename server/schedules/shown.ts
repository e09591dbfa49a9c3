/** Schedules as a page shows them: the next due time and the latest outcomes. */
import type { ProjectId } from '../../src/shared/domain/ids.ts';
import { type OccurrenceEnd, rowOf } from '../../src/shared/domain/schedule/timing.ts';
import type { Scheduled } from '../../src/shared/protocol/schedules.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Row, ScheduleRows } from './rows.ts';
import type { Clock } from './clock.ts';
import type { ScheduleLimits } from './settings.ts';
import type { Mappings } from './mapping-contract.ts';
import { offsetOf } from './preview.ts';

interface ShownDeps {
  readonly rows: Pick<ScheduleRows, 'endsOf' | 'waitingOf'>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly running: Clock['running'];
  readonly mappings: Pick<Mappings, 'projectsOf'>;
  readonly limits: Pick<ScheduleLimits, 'endsInARow' | 'failuresPause'>;
}

function warningOf(ends: readonly OccurrenceEnd[], most: number): string | null {
  const inARow = rowOf(ends, 'either');
  if (inARow < most) return null;
  return sentence`It was skipped or failed ${inARow} times in a row. Its history says why.`;
}

export function createShown({ rows, configs, running, mappings, limits }: ShownDeps) {
  function shown(
    row: Row,
    under: ReadonlyMap<string, number>,
    ends: readonly OccurrenceEnd[],
    most: number,
    waits: Scheduled['waits'],
    projectIds: readonly ProjectId[],
  ): Scheduled {
    return {
      scheduleId: row.scheduleId,
      version: row.version,
      schedule: row.schedule,
      nextAt: row.dueAt,
      offset: offsetOf(row),
      pausedWhy: row.pausedWhy,
      warning: warningOf(ends, most),
      skippedInARow: rowOf(ends, 'skipped'),
      failedInARow: rowOf(ends, 'failed'),
      position: row.position,
      created_at: row.createdAt,
      updated_at: row.updatedAt,
      running: under.get(row.scheduleId) ?? 0,
      elsewhere: row.elsewhere === null ? null : row.wanted ? 'asked' : 'due',
      ...(waits ? { waits } : {}),
      ...(projectIds.length > 0 ? { projectIds: [...projectIds] } : {}),
    };
  }
  async function allShown(which: readonly Row[]): Promise<Scheduled[]> {
    const ids = which.map(({ scheduleId }) => scheduleId);
    const [ends, waiting, projects] = await Promise.all([
      rows.endsOf(ids, limits.endsInARow),
      rows.waitingOf(ids),
      mappings.projectsOf(ids),
    ]);
    /** The oldest waiting occurrence of each schedule. */
    const waitsOf = new Map(
      waiting
        .toReversed()
        .map(({ scheduleId, dueAt: since, reason, detail }) => [scheduleId, { since, reason, detail }]),
    );
    const under = running();
    const agentIds = [...new Set(which.map(({ schedule }) => schedule.agentId))];
    const most = new Map(
      await Promise.all(
        agentIds.map(async (id) => [id, (await configs.agent(id)).effective.pulse_max_consecutive_skips] as const),
      ),
    );
    return which.map((row) =>
      shown(
        row,
        under,
        ends.get(row.scheduleId) ?? [],
        most.get(row.schedule.agentId) ?? limits.failuresPause,
        waitsOf.get(row.scheduleId),
        projects.get(row.scheduleId) ?? [],
      ),
    );
  }
  async function oneShown(row: Row | null): Promise<Scheduled | null> {
    return row && ((await allShown([row]))[0] ?? null);
  }

  return { allShown, oneShown };
}

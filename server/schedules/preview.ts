/** When things are due, by all that there is: for the clock, and for whoever looks at the hours to come. */
import { DEFAULT_LIMITS } from '../../src/domain/guardrails.ts';
import { spreadOffsets } from '../../src/domain/schedule/offsets.ts';
import { darkAt, darkSpans, momentsBetween, type Moment } from '../../src/domain/schedule/timeline.ts';
import type { CronClock, TimingContext } from '../../src/domain/schedule/timing.ts';
import type { Configs } from '../contracts.ts';
import { isOn, type Row, type ScheduleRows } from './rows.ts';

/** An agent is not woken then. */
export interface Dark {
  readonly agentId: string;
  readonly from: number;
  readonly to: number;
  readonly label: string;
}

export interface PreviewDeps {
  readonly rows: Pick<ScheduleRows, 'all'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  readonly cron: CronClock;
}

export function createPreview({ rows, configs, cron }: PreviewDeps) {
  /** Offsets that are given, by schedule. They follow from all that there is. */
  const offsetsOf = (all: readonly Pick<Row, 'scheduleId' | 'schedule'>[]) =>
    spreadOffsets(
      all.flatMap(({ scheduleId, schedule: { timing } }) =>
        timing.kind === 'every' ? [{ id: scheduleId, minutes: timing.minutes, offset: timing.offset }] : [],
      ),
    );
  const zoneOf = async () => (await configs.household()).effective.time_zone;
  async function readContext(more: readonly Pick<Row, 'scheduleId' | 'schedule'>[] = []) {
    const [zone, all] = await Promise.all([zoneOf(), rows.all()]);
    const offsets = offsetsOf([
      ...all.filter(({ scheduleId }) => more.every((one) => one.scheduleId !== scheduleId)),
      ...more,
    ]);
    const contextOf = ({ scheduleId }: Pick<Row, 'scheduleId'>): TimingContext => ({
      cron,
      zone,
      offset: offsets.get(scheduleId) ?? 0,
    });
    return { zone, all, offsets, contextOf };
  }
  async function blackoutsOf(agentIds: readonly string[]) {
    const known = new Map(
      await Promise.all(
        [...new Set(agentIds)].map(
          async (agentId) => [agentId, (await configs.agent(agentId)).effective.coordination.blackouts] as const,
        ),
      ),
    );
    return (agentId: string) => known.get(agentId) ?? DEFAULT_LIMITS.blackouts;
  }

  return {
    readContext,
    /** When each is due, and whether a moment passes by in the dark, as things are set now. */
    async readRules() {
      const { zone, all, contextOf } = await readContext();
      const of = await blackoutsOf(all.map(({ schedule }) => schedule.agentId));
      const isDark = ({ schedule }: Row, at: number) =>
        darkAt({ inDark: schedule.timing.kind === 'once' }, of(schedule.agentId), zone, at) !== null;
      return { contextOf, isDark };
    },
    async timeline(from: number, to: number, most: number): Promise<readonly Moment[]> {
      const { zone, all, offsets } = await readContext();
      return momentsBetween(
        all.map((row) => ({
          id: row.scheduleId,
          agentId: row.schedule.agentId,
          timing: row.schedule.timing,
          enabled: isOn(row),
          inDark: row.schedule.timing.kind === 'once',
        })),
        from,
        to,
        {
          cron,
          zone,
          offsetOf: (id) => offsets.get(id) ?? 0,
          blackoutsOf: await blackoutsOf(all.map(({ schedule }) => schedule.agentId)),
          most,
        },
      );
    },
    async blackouts(from: number, to: number): Promise<Dark[]> {
      const [zone, all] = await Promise.all([zoneOf(), rows.all()]);
      const agentIds = [...new Set(all.map(({ schedule }) => schedule.agentId))];
      const of = await blackoutsOf(agentIds);
      return agentIds.flatMap((agentId) =>
        darkSpans(of(agentId), zone, from, to).map((span) => ({ agentId, ...span })),
      );
    },
  };
}

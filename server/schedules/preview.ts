/** When schedules are due: for the clock, and for the timeline of the coming hours. */
import { setImmediate } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../../src/shared/domain/guardrails.ts';
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import {
  type CronClock,
  spreadOffsets,
  type Timing,
  type TimingContext,
} from '../../src/shared/domain/schedule/timing.ts';
import { darkAt, darkSpans, inOrder, type Moment, momentsBetween } from '../../src/shared/domain/schedule/timeline.ts';
import type { Schedule } from '../../src/shared/protocol/schedules.ts';
import type { Configs } from '../team/gate/configs.ts';
import { isOn, type Row, type ScheduleRows } from './rows.ts';

/** Most calendar-based moments in a timeline. Each of them is expensive to find. */
const SLOW_MOMENTS = 10_000;

/** A blackout of an agent. */
export interface Dark {
  readonly agentId: AgentId;
  readonly from: number;
  readonly to: number;
  readonly label: string;
}

interface PreviewDeps {
  readonly rows: Pick<ScheduleRows, 'all' | 'get' | 'ofInterval'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  readonly cron: CronClock;
}

/** Whether the schedule needs an offset assigned: it has an interval without its own offset. */
const needsOffset = (timing: Timing): timing is Extract<Timing, { kind: 'every' }> =>
  timing.kind === 'every' && timing.offset === null;
/** Offset of an interval in minutes: its own or the assigned one. */
export const offsetOf = ({ schedule: { timing }, givenOffset }: Pick<Row, 'schedule' | 'givenOffset'>): number | null =>
  timing.kind === 'every' ? (timing.offset ?? givenOffset ?? 0) : null;

/** Whether the person has set one specific time. */
const isOnce = ({ timing }: Schedule) => timing.kind === 'once';
/** Whether the schedule waits for the end of a blackout instead of being skipped. */
const waitsForBlackoutEnd = ({ kind }: Schedule) => kind === 'reminder';

/** Of the moments of a reminder in one blackout, the first is delivered at its end. */
const firstPerBlackout = (moments: readonly Moment[]): readonly Moment[] =>
  moments.map((moment, n) =>
    moment.dark !== null && (moments[n - 1]?.dark ?? null) === null ? { ...moment, dark: null } : moment,
  );

export type Preview = ReturnType<typeof createPreview>;

export function createPreview({ rows, configs, cron }: PreviewDeps) {
  const readZone = async () => (await configs.household()).effective.time_zone;
  const contextIn =
    (zone: string) =>
    ({ givenOffset }: Pick<Row, 'givenOffset'>): TimingContext => ({ cron, zone, offset: givenOffset ?? 0 });
  async function blackoutsOf(agentIds: readonly AgentId[]) {
    const blackouts = new Map(
      await Promise.all(
        [...new Set(agentIds)].map(
          async (agentId) => [agentId, (await configs.agent(agentId)).effective.coordination.blackouts] as const,
        ),
      ),
    );
    return (agentId: AgentId) => blackouts.get(agentId) ?? DEFAULT_LIMITS.blackouts;
  }

  return {
    readZone,
    readContext: async () => contextIn(await readZone()),
    /**
     * The assigned offset of a schedule, spread from those with the same interval. A schedule keeps
     * its offset, and the others stay unchanged.
     */
    async offsetFor(scheduleId: ScheduleId, timing: Timing): Promise<number | null> {
      if (!needsOffset(timing)) return null;
      const before = await rows.get(scheduleId);
      if (before && before.givenOffset !== null && needsOffset(before.schedule.timing))
        if (before.schedule.timing.minutes === timing.minutes) return before.givenOffset;
      const { minutes } = timing;
      const others = (await rows.ofInterval(minutes)).filter((row) => row.scheduleId !== scheduleId);
      const offsets = spreadOffsets([
        ...others.map((row) => ({ id: row.scheduleId, minutes, offset: offsetOf(row) })),
        { id: scheduleId, minutes, offset: null },
      ]);
      return offsets.get(scheduleId) ?? 0;
    },
    /**
     * Timing rules of these agents, and whether an occurrence falls into a blackout, by the current
     * settings.
     */
    async readRules(zone: string, agentIds: readonly AgentId[]) {
      const of = await blackoutsOf(agentIds);
      const isDark = ({ schedule }: Row, at: number) =>
        darkAt({ inDark: waitsForBlackoutEnd(schedule) || isOnce(schedule) }, of(schedule.agentId), zone, at) !== null;
      return { contextOf: contextIn(zone), isDark };
    },
    /** `onCut`: called for a schedule that may have more moments. */
    async timeline(
      from: number,
      to: number,
      most: number,
      onCut: () => void = () => undefined,
    ): Promise<readonly Moment[]> {
      const [zone, all] = await Promise.all([readZone(), rows.all()]);
      const blackouts = await blackoutsOf(all.map(({ schedule }) => schedule.agentId));
      const isSlow = ({ schedule: { timing } }: Row) => timing.kind === 'cron' || timing.kind === 'weekly';
      const share = Math.max(1, Math.floor(SLOW_MOMENTS / Math.max(1, all.filter(isSlow).length)));
      const moments: Moment[] = [];
      for (const row of all) {
        const { agentId, timing } = row.schedule;
        const one = {
          id: row.scheduleId,
          agentId,
          timing,
          enabled: isOn(row),
          inDark: isOnce(row.schedule),
        };
        const context = { cron, zone, offsetOf: () => row.givenOffset ?? 0, blackoutsOf: blackouts };
        const bound = isSlow(row) ? Math.min(most, share) : most;
        const own = momentsBetween([one], from, to, { ...context, most: bound });
        if (own.length >= bound) onCut();
        moments.push(...(waitsForBlackoutEnd(row.schedule) ? firstPerBlackout(own) : own));
        // Yields, so that a long list of one household does not block the others of the relay.
        if (isSlow(row)) await setImmediate();
      }
      return moments.sort(inOrder);
    },
    async blackouts(from: number, to: number): Promise<Dark[]> {
      const [zone, all] = await Promise.all([readZone(), rows.all()]);
      const agentIds = [...new Set(all.map(({ schedule }) => schedule.agentId))];
      const of = await blackoutsOf(agentIds);
      return agentIds.flatMap((agentId) =>
        darkSpans(of(agentId), zone, from, to).map((span) => ({ agentId, ...span })),
      );
    },
  };
}

/** Reasons why a schedule is refused, as sentences for people. */
import { titled } from '../../src/shared/domain/quoting.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import type { Timing } from '../../src/shared/domain/schedule/timing.ts';
import { cronProblem } from '../../src/shared/protocol/timing-arguments.ts';
import { WAITS_FOR_YES, type Schedule, type Scheduled, type ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import { isInnerHost } from '../execution/sandbox/index.ts';
import type { TeamTools } from '../agents/runs/team-tools.ts';
import type { Row, ScheduleRows } from './rows.ts';
import type { Scripts } from './scripts.ts';
import type { ScheduleLimits } from './settings.ts';

export type Written = { readonly ok: true; readonly scheduled: Scheduled } | Refused;

/** Nothing was changed. `reason`: a sentence for people. `field`: the field at fault, or null. */
export interface Refused {
  readonly ok: false;
  readonly field:
    | 'agentId'
    | 'name'
    | 'script'
    | 'hosts'
    | 'own_hosts'
    | 'tools'
    | 'timing.cron'
    | 'timing.at'
    | 'scheduleIds'
    | 'version'
    | null;
  readonly reason: string;
}

/** Fields of a schedule, with the tool arguments that set them. */
export const TIMED_ARGUMENTS: Readonly<Record<string, string>> = {
  name: 'name',
  'timing.cron': 'cron',
  'timing.at': 'at',
};
/** The refusal as text for an agent, with the argument at fault. */
export function refusalText({ field, reason }: Refused, args: Readonly<Record<string, string>>): string {
  const argument = field === null ? undefined : args[field];
  return argument === undefined ? reason : `\`${argument}\`: ${reason}`;
}

export interface RefusalDeps {
  readonly rows: Pick<ScheduleRows, 'named'>;
  readonly scripts: Pick<Scripts, 'refuseOwnHosts'>;
  /** Tools that an agent may be allowed to use. */
  readonly tools: Pick<TeamTools, 'all'>;
  readonly now: () => number;
}

const AWAY: Refused = {
  ok: false,
  field: null,
  reason: 'It is due at another relay of this household. Bring it here first, on the page under Schedule.',
};

const OF_LEAD: Refused = {
  ok: false,
  field: 'agentId',
  reason: 'The lead is there with the person, and has no routines.',
};

const WAITS: Refused = {
  ok: false,
  field: null,
  reason: 'It waits for your yes. Answer that first, at the top of the page.',
};

/** The schedule was changed after the version that this change is based on. */
export const CHANGED_ELSEWHERE: Refused = {
  ok: false,
  field: 'version',
  reason: 'The schedule was changed elsewhere.',
};

/** The agent has another schedule with this name. */
export const nameTaken = ({ name }: Pick<Schedule, 'name'>): Refused => ({
  ok: false,
  field: 'name',
  reason: `This agent has something called ${titled(name)} already. Choose another name.`,
});
/** The limit of schedules is reached. */
export const noRoom = ({ perAgent, perHousehold }: Pick<ScheduleLimits, 'perAgent' | 'perHousehold'>): Refused => ({
  ok: false,
  field: null,
  reason: `There is room for ${perAgent} of an agent and ${perHousehold} of the household. Take one away first.`,
});

/** Resolves with the reason, or null. `before`: the current schedule; null: it is new. */
export function createRefusals({ rows, scripts, tools, now }: RefusalDeps) {
  /** A one-off time in the past would never be due. */
  function refusedTiming(timing: Timing, before: Timing | null): Refused | null {
    if (timing.kind === 'cron') {
      const problem = cronProblem(timing.cron);
      return problem === null ? null : { ok: false, field: 'timing.cron', reason: `It is no cron text: ${problem}` };
    }
    if (timing.kind !== 'once' || timing.at > now()) return null;
    if (before?.kind === 'once' && before.at === timing.at) return null;
    return { ok: false, field: 'timing.at', reason: 'That time is in the past. Choose a later one.' };
  }
  async function refusedName(schedule: Schedule, own: string | null): Promise<Refused | null> {
    const other = await rows.named(schedule.agentId, schedule.name);
    return !other || other.scheduleId === own ? null : nameTaken(schedule);
  }
  function refusedTools(schedule: Schedule): Refused | null {
    if (schedule.kind !== 'routine') return null;
    const toolNames = new Set(tools.all().map(({ name }) => name));
    const unknown = (schedule.tools ?? []).filter((name) => !toolNames.has(name));
    if (unknown.length === 0) return null;
    const reason = `There is no tool called ${unknown.join(', ')}. There are ${[...toolNames].sort().join(', ')}.`;
    return { ok: false, field: 'tools', reason };
  }
  function refusedHosts({ hosts = [], own_hosts: ownHosts = [] }: ScheduleOf<'script'>): Refused | null {
    const inner = hosts.find(isInnerHost);
    if (inner !== undefined)
      return {
        ok: false,
        field: 'hosts',
        reason: sentence`${inner} is on the relay’s own machine or networks. Only the human can allow it, in the list of the relay machine’s hosts.`,
      };
    const reason = ownHosts.length === 0 ? null : scripts.refuseOwnHosts();
    return reason === null ? null : { ok: false, field: 'own_hosts', reason };
  }
  /** `problem`: why the script's text cannot be read. */
  function refusedScript(schedule: Schedule, problem: string | null): Refused | null {
    if (schedule.kind !== 'script') return null;
    if (schedule.enabled && problem !== null) return { ok: false, field: 'script', reason: problem };
    return refusedHosts(schedule);
  }

  return async (schedule: Schedule, before: Row | null, textProblem: string | null = null): Promise<Refused | null> =>
    (before !== null && before.elsewhere !== null ? AWAY : null) ??
    (before !== null && before.pausedWhy === WAITS_FOR_YES ? WAITS : null) ??
    (schedule.kind === 'routine' && schedule.agentId === LEAD_ID && schedule.enabled ? OF_LEAD : null) ??
    refusedTiming(schedule.timing, before?.schedule.timing ?? null) ??
    (await refusedName(schedule, before?.scheduleId ?? null)) ??
    refusedTools(schedule) ??
    refusedScript(schedule, textProblem);
}

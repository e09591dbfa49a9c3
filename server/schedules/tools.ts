/** What agents can do about their own time: come back later, see what is scheduled for them, and cancel it. */
import { z } from 'zod';
import { momentText } from '../../src/domain/moments.ts';
import { onOneLine, titled } from '../../src/domain/quoting.ts';
import type { AgentId } from '../../src/domain/ids.ts';
import { saidMoment } from '../../src/domain/schedule/said-moment.ts';
import { LEAD_ID } from '../../src/domain/seat.ts';
import { INTERVAL_BOUNDS, MINUTE_MS, type Timing } from '../../src/domain/schedule/timing.ts';
import { cronProblem } from '../../src/protocol/cron.ts';
import { SCHEDULE_BOUNDS, scheduleSchema, type Scheduled } from '../../src/protocol/schedules.ts';
import type { Configs, TeamTool } from '../contracts.ts';
import { defineTool, toolDone, toolError } from '../define-tool.ts';
import type { Proposals, Schedules } from './index.ts';

export interface ScheduleToolsDeps {
  readonly schedules: Pick<Schedules, 'list' | 'named' | 'add' | 'change' | 'remove' | 'freeName'>;
  readonly proposals: Pick<Proposals, 'add'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  readonly now: () => number;
}

const DAY_MS = 24 * 60 * MINUTE_MS;
/** ms: what an agent sets lies at most so far ahead. */
const FURTHEST_MS = 366 * DAY_MS;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: DAY_MS };
const DELAY = /^(\d{1,6})\s*(m|min|minutes?|h|hours?|d|days?)$/;

/** ms of `90 minutes`, `2h`, `1 day`; null where it is none. */
function delayOf(text: string): number | null {
  const [, count = '', unit = ''] = DELAY.exec(text.trim().toLowerCase()) ?? [];
  const size = UNITS[unit.charAt(0)];
  return size === undefined || count === '' ? null : Number(count) * size;
}

/** What a message is called that was given no name. */
function firstWords(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim();
  return line.length <= NAME_CHARS ? line : `${line.slice(0, NAME_CHARS - 1).trimEnd()}…`;
}
const NAME_CHARS = 40;

const timingText = (timing: Timing, zone: string): string => {
  switch (timing.kind) {
    case 'once':
      return `once, on ${momentText(timing.at, zone)}`;
    case 'every':
      return `every ${timing.minutes} minutes`;
    case 'cron':
      return `by ${JSON.stringify(timing.cron)} (${timing.zone ?? zone})`;
    case 'weekly':
      return `at ${timing.time} on ${timing.days.length === 0 ? 'every day' : timing.days.map((day) => DAYS[day]).join(', ')} (${timing.zone ?? zone})`;
    default:
      return timing satisfies never;
  }
};
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** What waits for its agent, and why. */
const waitsText = ({ schedule: { kind }, waits }: Scheduled, zone: string): string =>
  waits === undefined
    ? ''
    : `; ${kind === 'reminder' ? 'was due' : 'failed'} on ${momentText(waits.since, zone)}, and ${kind === 'reminder' ? 'waits' : 'that waits for you'}: ${waits.reason}${waits.detail === null ? '' : `. ${onOneLine(waits.detail)}`}`;

function lineOf(scheduled: Scheduled, zone: string): string {
  const { schedule, nextAt, pausedWhy, running, waits } = scheduled;
  const next =
    pausedWhy !== null
      ? `paused: ${onOneLine(pausedWhy)}`
      : nextAt === null
        ? schedule.kind === 'reminder' && (running > 0 || waits !== undefined)
          ? 'due now'
          : 'off'
        : `next on ${momentText(nextAt, zone)}`;
  return `- ${schedule.kind} ${titled(schedule.name)}, ${timingText(schedule.timing, zone)}; ${next}${waitsText(scheduled, zone)}`;
}

export function createScheduleTools({ schedules, proposals, configs, now }: ScheduleToolsDeps): readonly TeamTool[] {
  const zoneOf = async () => (await configs.household()).effective.time_zone;
  const listOf = async (agentId: AgentId, which: (scheduled: Scheduled) => boolean, none: string) => {
    const [all, zone] = await Promise.all([schedules.list(agentId), zoneOf()]);
    const shown = all.filter(which);
    return toolDone(shown.length === 0 ? none : shown.map((each) => lineOf(each, zone)).join('\n'));
  };
  return [
    defineTool({
      name: 'wake_later',
      description:
        'Leaves a message for yourself that comes back later, also while nobody is here. Say either `delay` or `at`. A name used before is set anew.',
      input: z.object({
        message: z.string().trim().min(1).max(SCHEDULE_BOUNDS.message),
        delay: z.string().optional().describe('such as `45 minutes` or `2 days`'),
        at: z
          .string()
          .optional()
          .describe(
            'such as 2026-12-24T09:00 or `friday 09:00`, by the human’s clock; with `Z` or an offset the moment itself',
          ),
        name: z.string().trim().min(1).max(SCHEDULE_BOUNDS.name).optional().describe('to cancel it by'),
      }),
      async run({ message, delay, at, name }, { agentId }) {
        if ((delay === undefined) === (at === undefined)) return toolError('Say either `delay` or `at`.');
        const zone = await zoneOf();
        const ms = delay === undefined ? null : delayOf(delay);
        const time = ms === null ? (at === undefined ? null : saidMoment(at, zone, now())) : now() + ms;
        if (time === null)
          return toolError(
            delay === undefined
              ? '`at` is no date and time such as 2026-12-24T09:00, `tomorrow 09:00` or `friday 09:00`.'
              : '`delay` is none such as `45 minutes`, `3 hours` or `2 days`.',
          );
        if (time <= now()) return toolError('That time is over already.');
        if (time > now() + FURTHEST_MS) return toolError('That is more than a year ahead.');
        const called = name ?? (await schedules.freeName(agentId, firstWords(message)));
        const reminder = {
          kind: 'reminder',
          agentId,
          name: called,
          message,
          timing: { kind: 'once', at: time },
        } as const;
        const before = await schedules.named(agentId, called);
        if (before && before.schedule.kind !== 'reminder')
          return toolError(`You have a ${before.schedule.kind} of that name. Choose another.`);
        const written = before ? await schedules.change(before.scheduleId, reminder) : await schedules.add(reminder);
        if (!written?.ok) return toolError(written ? written.reason : 'It was taken away just now. Try again.');
        return toolDone(
          `It comes back to you on ${momentText(time, zone)}, as ${titled(called)}. ${before ? 'The one of before is replaced.' : ''}`.trim(),
        );
      },
    }),
    defineTool({
      name: 'wake_cancel',
      description: 'Takes away a reminder, a script or a routine of yours, by its name.',
      input: z.object({ name: z.string().trim().min(1).max(SCHEDULE_BOUNDS.name) }),
      async run({ name }, { agentId }) {
        const found = await schedules.named(agentId, name);
        if (!found || !(await schedules.remove(found.scheduleId)))
          return toolError(`You have nothing scheduled as ${titled(name)}. wake_list tells what you have.`);
        return toolDone(`${titled(name)} is taken away.`);
      },
    }),
    defineTool({
      name: 'wake_list',
      description: 'What will come back to you: your reminders and scripts.',
      input: z.object({}),
      readOnly: true,
      run: (_input, { agentId }) =>
        listOf(agentId, ({ schedule }) => schedule.kind !== 'routine', 'Nothing is scheduled.'),
    }),
    defineTool({
      name: 'list_my_routines',
      description: 'The routines that the human has set for you, and when each is due next.',
      input: z.object({}),
      readOnly: true,
      run: (_input, { agentId }) =>
        listOf(agentId, ({ schedule }) => schedule.kind === 'routine', 'You have no routines.'),
    }),
    defineTool({
      name: 'propose_routine',
      description:
        'Asks the human for a routine of yours: something that you do by yourself at regular times. Nothing of it runs before the human has said yes. Say either `every_minutes` or `cron`.',
      input: z.object({
        name: z.string().trim().min(1).max(SCHEDULE_BOUNDS.name),
        instructions: z.string().trim().min(1).max(SCHEDULE_BOUNDS.instructions).describe('what you do then'),
        why: z.string().trim().min(1).max(SCHEDULE_BOUNDS.why).describe('for the human: what it is good for'),
        every_minutes: z.number().int().min(INTERVAL_BOUNDS.min).max(INTERVAL_BOUNDS.max).optional(),
        cron: z.string().max(200).optional().describe('five fields, such as `30 7 * * 1-5`, by the human’s clock'),
        only_if_something_waits: z.boolean().default(true).describe('it passes by where nothing is there for you'),
      }),
      allowed: async ({ agentId }) =>
        agentId !== LEAD_ID && (await configs.agent(agentId)).effective.coordination.may_propose_routines,
      async run({ name, instructions, why, every_minutes, cron, only_if_something_waits }, { agentId }) {
        if ((every_minutes === undefined) === (cron === undefined))
          return toolError('Say either `every_minutes` or `cron`.');
        const problem = cron === undefined ? null : cronProblem(cron);
        if (problem !== null) return toolError(`\`cron\` is no cron text: ${problem}`);
        const timing = cron === undefined ? { kind: 'every', minutes: every_minutes } : { kind: 'cron', cron };
        const when = only_if_something_waits ? 'something_waits' : 'always';
        const routine = scheduleSchema.parse({ kind: 'routine', agentId, name, instructions, timing, when });
        if (routine.kind !== 'routine') throw new Error('It is no routine.');
        const refused = await proposals.add(agentId, why, routine);
        return refused === null
          ? toolDone(`Your proposal ${titled(name)} waits for the human. Nothing of it runs before they have said yes.`)
          : toolError(refused);
      },
    }),
  ];
}

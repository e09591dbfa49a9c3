/**
 * Tools with which agents plan their own work: come back later, list what is scheduled for them,
 * and cancel it.
 */
import { z } from 'zod';
import { fileText } from '../../src/shared/domain/file-text.ts';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { isExactHost } from '../../src/shared/domain/network.ts';
import { onOneLine, titled } from '../../src/shared/domain/quoting.ts';
import {
  cronProblem,
  momentProblem,
  NO_MOMENT,
  parseSpan,
  parseTiming,
  type TimingArguments,
  utcText,
} from '../../src/shared/protocol/timing-arguments.ts';
import {
  CONTEXTS,
  SCHEDULE_BOUNDS,
  type Scheduled,
  type ScheduleOf,
  scheduleSchema,
  timingSchema,
} from '../../src/shared/protocol/schedules.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import { INTERVAL_BOUNDS, MINUTE_MS, parseMoment, type Timing } from '../../src/shared/domain/schedule/timing.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { isSameJson } from '../../src/shared/domain/platform/json.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Agreed, AnsweredCall, TeamTool, ToolOutcome } from '../tools/index.ts';
import { defineTool, toolDone, toolError } from '../tools/define-tool.ts';
import type { Db } from '../store/index.ts';
import type { Snapshots } from './snapshots.ts';
import type { Proposals, Schedules } from './index.ts';
import { refusalText, TIMED_ARGUMENTS } from './refusals.ts';
import type { ScriptFile, Scripts, TextQuestion } from './scripts.ts';

// Scripts that agents register themselves. The person must always consent first. They see the whole
// text, when it runs, what happens on failure, and which hosts it may reach. The text that they saw
// is the text that runs.

export const ACCEPT_SCRIPT = 'accept_script';

interface ScriptToolsDeps {
  readonly schedules: Pick<Schedules, 'add' | 'named' | 'accept' | 'declineText' | 'refuse'>;
  readonly scripts: Pick<Scripts, 'read' | 'refuseOwnHosts'>;
  readonly snapshots: Pick<Snapshots, 'allow'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly now: () => number;
}

const nameSchema = z.string().trim().min(1).max(SCHEDULE_BOUNDS.name);
const registerSchema = z.object({
  name: nameSchema.describe('a name that you have registered is replaced'),
  script_path: z.string().min(1).max(SCHEDULE_BOUNDS.path).describe('a bash file in your folder'),
  cron: z.string().max(200).optional().describe('five fields, in the human’s zone'),
  every: z.string().max(40).optional().describe('such as `10 minutes` or `2 hours`'),
  at: z.string().max(80).optional().describe('once, such as `tomorrow 09:00`'),
  on_failure: z.enum(['wake_agent', 'ignore']).default('ignore'),
  hosts: z
    .array(z.string())
    .max(SCHEDULE_BOUNDS.hosts)
    .default([])
    .describe('public hosts to reach, such as example.org; none: no network'),
});
const acceptSchema = z.object({
  schedule: z.string(),
  name: nameSchema,
  script_path: z.string().min(1).max(SCHEDULE_BOUNDS.path),
});
type Registered = z.infer<typeof registerSchema>;

/** Fields of the schedule, with the tool arguments that set them. */
const ARGUMENTS = {
  ...TIMED_ARGUMENTS,
  ...{ agentId: 'name', script: 'script_path', hosts: 'hosts', own_hosts: 'own_hosts' },
};

export function createScriptTools({ schedules, scripts, snapshots, configs, now }: ScriptToolsDeps) {
  /** The schedule for a script, and its file. A string: a reason for the agent. */
  async function read(
    agentId: AgentId,
    { name, script_path: path, on_failure, hosts, ...said }: Registered,
    ownHosts: readonly string[] = [],
  ): Promise<{ readonly schedule: ScheduleOf<'script'>; readonly file: ScriptFile } | string> {
    const { effective } = await configs.household();
    const due = parseTiming(said, effective.time_zone, now());
    if (!due.ok) return due.reason;
    const { timing } = due;
    const odd = hosts.find((host) => !isExactHost(host));
    if (odd !== undefined)
      return `\`hosts\`: ${JSON.stringify(odd)} is no host. Name each by its own name, such as example.org or example.org:8443.`;
    const file = await scripts.read(agentId, path);
    if (typeof file === 'string') return `\`script_path\`: ${file}`;
    if (fileText(file.text) === null)
      return '`script_path`: The file is not UTF-8 text, so it cannot be shown to the human.';
    const schedule = scheduleSchema.parse({
      ...{ kind: 'script', agentId, name, script: path, timing, on_failure },
      ...(hosts.length > 0 ? { hosts: [...new Set(hosts)] } : {}),
      ...(ownHosts.length > 0 ? { own_hosts: [...new Set(ownHosts)] } : {}),
    });
    if (schedule.kind !== 'script') throw new Error('It is no script.');
    const taken = await schedules.named(agentId, name);
    if (taken && taken.schedule.kind !== 'script')
      return `\`name\`: You have a ${taken.schedule.kind} of that name. Choose another.`;
    const refused = await schedules.refuse(schedule, file);
    return refused === null ? { schedule, file } : refusalText(refused, ARGUMENTS);
  }

  /** The file, if it is the one that the person saw. Null: it has changed since. */
  const seen = (file: ScriptFile, path: string, agreed: Agreed | undefined): ScriptFile | null =>
    agreed?.markOf(path) === `sha256:${file.sha256}` ? file : null;
  const CHANGED: ToolOutcome = { ...toolError('The file has changed since the human saw it.'), changed: true };

  const register = defineTool({
    name: 'wake_script',
    description:
      'Makes the relay run a bash script of yours at set times, without a model: a check that costs nothing while all is well. Give one of `cron`, `every` and `at`. Exit status 0 means well, 75 ends the schedule, any other is a failure, which wakes you if `on_failure` is `wake_agent`. The human must approve the script first, and again when its file changes. Until then the approved text runs.',
    input: registerSchema,
    async prepare(input, { agentId }) {
      const script = await read(agentId, input);
      if (typeof script === 'string') return toolError(`Nothing was asked. ${script}`);
      const { schedule, file } = script;
      const { timing } = schedule;
      return {
        input: {
          ...{ ...input, hosts: schedule.hosts ?? [], script_path: file.path },
          // Stored as an absolute time: `tomorrow` means another day when the person answers later.
          ...(timing.kind === 'once' ? { at: utcText(timing.at) } : {}),
        },
      };
    },
    asking: {
      keyOf: (input) => registerSchema.parse(input).name,
      refuseYes: (ownHosts) => (ownHosts.length === 0 ? null : scripts.refuseOwnHosts()),
    },
    async run(input, { agentId, agreed }) {
      const reading = await read(agentId, input, agreed?.ownHosts);
      if (typeof reading === 'string') return agreed ? toolError(`Nothing was set. ${reading}`) : toolError(reading);
      const file = seen(reading.file, input.script_path, agreed);
      if (!file) return CHANGED;
      const before = await schedules.named(agentId, input.name);
      const written = await schedules.add({ ...reading.schedule, enabled: true }, file);
      if (!written.ok) return toolError(`Nothing was set. ${refusalText(written, ARGUMENTS)}`);
      // The person enables something that runs, so its agent may store a snapshot for that.
      await snapshots.allow(agentId);
      const { hosts = [], own_hosts: ownHosts = [] } = reading.schedule;
      const reach = [...hosts, ...ownHosts].join(', ');
      return toolDone(
        `${titled(input.name)} runs from now on. It reaches ${reach === '' ? 'no network' : reach}.${before ? ' The one of before is replaced.' : ''}`,
      );
    },
  });

  /** The relay asks the person with this tool. Agents are not offered it. */
  const accept = defineTool({
    name: ACCEPT_SCRIPT,
    description: 'Replaces the approved text of a script.',
    input: acceptSchema,
    asking: {
      keyOf: (input) => acceptSchema.parse(input).schedule,
    },
    async run({ schedule, name, script_path: path }, { agentId, agreed }) {
      const file = await scripts.read(agentId, path);
      if (typeof file === 'string') return toolError(file);
      const accepted = seen(file, path, agreed);
      if (!accepted) return CHANGED;
      if (fileText(accepted.text) === null) return toolError('The file is not text, so the human cannot read it.');
      const written = await schedules.accept(schedule, accepted, agentId);
      if (!written) return toolError('The script is no longer scheduled, or is another script now.');
      return written.ok
        ? toolDone(`The new text of ${titled(name)} runs from now on.`)
        : toolError(refusalText(written, ARGUMENTS));
    },
  });

  return {
    /** Offered to agents. */
    tools: [register] as readonly TeamTool[],
    /** Used by the relay only. */
    accept,
    /**
     * Called when the person declines one of these calls. That text of the scheduled script is not
     * asked about again. Returns what to write in the transaction of the answer. Null: nothing.
     */
    async declined({ tool, agentId, input, markOf }: AnsweredCall): Promise<((within: Db) => Promise<void>) | null> {
      const registration = { [register.name]: registerSchema, [ACCEPT_SCRIPT]: acceptSchema }[tool]?.parse(input);
      const mark = registration && markOf(registration.script_path);
      if (!registration || mark === undefined) return null;
      const scheduleId =
        'schedule' in registration
          ? registration.schedule
          : (await schedules.named(agentId, registration.name))?.scheduleId;
      if (scheduleId === undefined) return null;
      return (within) => schedules.declineText(scheduleId, mark.replace(/^sha256:/, ''), within);
    },
  };
}

/** The input of a question about a new text. */
export const acceptInput = ({ scheduleId, name, path }: TextQuestion): z.infer<typeof acceptSchema> => ({
  schedule: scheduleId,
  name,
  script_path: path,
});

interface ScheduleToolsDeps {
  readonly schedules: Pick<Schedules, 'list' | 'named' | 'refuse' | 'add' | 'change' | 'remove' | 'freeName'>;
  readonly proposals: Pick<Proposals, 'add'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  readonly now: () => number;
}

/** A name for a message without one: its first words. */
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

/** What waits for the agent, and why. */
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

interface SaidReminder {
  readonly name: string;
  readonly message: string;
  readonly context?: ScheduleOf<'reminder'>['context'] | undefined;
}
/** Has no description in core tools: each character there is paid for with each request. */
const givenBefore = z.enum(CONTEXTS).optional();

/** The time after `delay` or at `at`, in ms since the epoch. A string: what is wrong. */
function saidTime(delay: string | undefined, at: string, zone: string, now: number): number | string {
  if (delay === undefined) {
    const time = parseMoment(at, zone, now);
    return time === null ? NO_MOMENT : (momentProblem(time, now) ?? time);
  }
  const ms = parseSpan(delay);
  if (ms === null) return '`delay` must be like `45 minutes`, `3 hours` or `2 days`.';
  if (ms < MINUTE_MS) return '`delay` is too short: the least is 1 minute.';
  return momentProblem(now + ms, now) ?? now + ms;
}

export function createScheduleTools({ schedules, proposals, configs, now }: ScheduleToolsDeps): readonly TeamTool[] {
  const zoneOf = async () => (await configs.household()).effective.time_zone;
  const listOf = async (agentId: AgentId, which: (scheduled: Scheduled) => boolean, none: string) => {
    const [all, zone] = await Promise.all([schedules.list(agentId), zoneOf()]);
    const shown = all.filter(which);
    return toolDone(shown.length === 0 ? none : shown.map((each) => lineOf(each, zone)).join('\n'));
  };
  /** The recurring reminder. A string: what is wrong. */
  async function recurring(
    { name, message, context = 'none', ...said }: TimingArguments & SaidReminder,
    agentId: AgentId,
  ): Promise<ScheduleOf<'reminder'> | string> {
    const read = parseTiming(said, await zoneOf(), now());
    return read.ok
      ? { kind: 'reminder', agentId, name, message, timing: timingSchema.parse(read.timing), context }
      : read.reason;
  }
  const dueText = async ({ schedule: { timing }, nextAt }: Scheduled) => {
    const zone = await zoneOf();
    return `It is due ${timingText(timing, zone)}${nextAt === null || timing.kind === 'once' ? '' : `, next on ${momentText(nextAt, zone)}`}.`;
  };
  return [
    defineTool({
      name: 'wake_later',
      description:
        'Leaves a message for yourself that comes back later, also while nobody is here. Give either `delay` or `at`. An existing name is replaced.',
      input: z.object({
        message: z.string().trim().min(1).max(SCHEDULE_BOUNDS.message),
        delay: z.string().optional().describe('such as `45 minutes` or `2 days`'),
        at: z.string().optional().describe('such as 2026-12-24T09:00 or `friday 09:00`, in the human’s zone'),
        name: z.string().trim().min(1).max(SCHEDULE_BOUNDS.name).optional(),
        context: givenBefore,
      }),
      async run({ message, delay, at, name, context = 'none' }, { agentId }) {
        if ((delay === undefined) === (at === undefined)) return toolError('Give either `delay` or `at`.');
        const zone = await zoneOf();
        const time = saidTime(delay, at ?? '', zone, now());
        if (typeof time === 'string') return toolError(time);
        const called = name ?? (await schedules.freeName(agentId, firstWords(message)));
        const reminder = {
          kind: 'reminder',
          agentId,
          name: called,
          message,
          timing: { kind: 'once', at: time },
          context,
        } as const;
        const before = await schedules.named(agentId, called);
        if (before && before.schedule.kind !== 'reminder')
          return toolError(`You have a ${before.schedule.kind} of that name. Choose another.`);
        const written = before ? await schedules.change(before.scheduleId, reminder) : await schedules.add(reminder);
        if (!written?.ok) return toolError(written ? written.reason : 'The reminder was removed just now. Try again.');
        return toolDone(
          `It comes back to you on ${momentText(time, zone)}, as ${titled(called)}. ${before ? 'The one of before is replaced.' : ''}`.trim(),
        );
      },
    }),
    defineTool({
      name: 'wake_schedule',
      description:
        'Brings a message back to you repeatedly, also while nobody is here. Give `cron`, `every` or `at`. The human is asked once. An existing name is replaced.',
      input: z.object({
        name: z.string().trim().min(1).max(SCHEDULE_BOUNDS.name),
        message: z.string().trim().min(1).max(SCHEDULE_BOUNDS.message),
        cron: z.string().max(200).optional().describe('five fields, in the human’s zone'),
        every: z.string().max(40).optional().describe('such as `30 minutes`'),
        at: z.string().max(80).optional().describe('once, such as `friday 09:00`'),
        context: givenBefore.describe('earlier words that you get'),
      }),
      async prepare(input, { agentId }) {
        const read = await recurring(input, agentId);
        if (typeof read === 'string') return toolError(read);
        const { timing } = read;
        const before = await schedules.named(agentId, input.name);
        if (before && before.pausedWhy === null && isSameJson(before.schedule, read))
          return toolDone(`It is set so already. ${await dueText(before)}`);
        const refused = await schedules.refuse(read);
        if (refused) return toolError(refusalText(refused, TIMED_ARGUMENTS));
        // Stored as an absolute time: `tomorrow` means another day when the person answers later.
        return { input: timing.kind === 'once' ? { ...input, at: utcText(timing.at) } : input };
      },
      async run(input, { agentId }) {
        const read = await recurring(input, agentId);
        if (typeof read === 'string') return toolError(read);
        const before = await schedules.named(agentId, input.name);
        const written = await schedules.add(read);
        if (!written.ok) return toolError(refusalText(written, TIMED_ARGUMENTS));
        return toolDone(
          `It comes back to you, as ${titled(input.name)}. ${await dueText(written.scheduled)}${before ? ' The one of before is replaced.' : ''}`,
        );
      },
    }),
    defineTool({
      name: 'wake_cancel',
      description: 'Removes a reminder, a script or a routine of yours, by its name.',
      input: z.object({ name: z.string().trim().min(1).max(SCHEDULE_BOUNDS.name) }),
      async run({ name }, { agentId }) {
        const found = await schedules.named(agentId, name);
        if (!found || !(await schedules.remove(found.scheduleId)))
          return toolError(`You have nothing scheduled as ${titled(name)}. wake_list tells what you have.`);
        return toolDone(`${titled(name)} is removed.`);
      },
    }),
    defineTool({
      name: 'wake_list',
      description: 'Lists your reminders and scripts.',
      input: z.object({}),
      readOnly: true,
      run: (_input, { agentId }) =>
        listOf(agentId, ({ schedule }) => schedule.kind !== 'routine', 'Nothing is scheduled.'),
    }),
    defineTool({
      name: 'list_my_routines',
      description: 'Lists the routines set for you by the human, and when each is due next.',
      input: z.object({}),
      readOnly: true,
      run: (_input, { agentId }) =>
        listOf(agentId, ({ schedule }) => schedule.kind === 'routine', 'You have no routines.'),
    }),
    defineTool({
      name: 'propose_routine',
      description:
        'Proposes a routine of yours to the human: work that you do by yourself at regular times. It does not run before the human says yes. Give either `every_minutes` or `cron`.',
      input: z.object({
        name: z.string().trim().min(1).max(SCHEDULE_BOUNDS.name),
        instructions: z.string().trim().min(1).max(SCHEDULE_BOUNDS.instructions).describe('what you then do'),
        why: z.string().trim().min(1).max(SCHEDULE_BOUNDS.why).describe('for the human: why it is useful'),
        every_minutes: z.number().int().min(INTERVAL_BOUNDS.min).max(INTERVAL_BOUNDS.max).optional(),
        cron: z.string().max(200).optional().describe('five fields, such as `30 7 * * 1-5`, in the human’s zone'),
        only_if_something_waits: z
          .boolean()
          .optional()
          .describe('skips a run if nothing waits for you; left out: true with `every_minutes`, false with `cron`'),
      }),
      allowed: async ({ agentId }) =>
        agentId !== LEAD_ID && (await configs.agent(agentId)).effective.coordination.may_propose_routines,
      async run({ name, instructions, why, every_minutes, cron, only_if_something_waits }, { agentId }) {
        if ((every_minutes === undefined) === (cron === undefined))
          return toolError('Give either `every_minutes` or `cron`.');
        const problem = cron === undefined ? null : cronProblem(cron);
        if (problem !== null) return toolError(`\`cron\` is not a valid cron expression: ${problem}`);
        const timing = cron === undefined ? { kind: 'every', minutes: every_minutes } : { kind: 'cron', cron };
        const when = (only_if_something_waits ?? cron === undefined) ? 'something_waits' : 'always';
        const routine = scheduleSchema.parse({ kind: 'routine', agentId, name, instructions, timing, when });
        if (routine.kind !== 'routine') throw new Error('It is no routine.');
        const refused = await proposals.add(agentId, why, routine);
        return refused === null
          ? toolDone(`Your proposal ${titled(name)} waits for the human. It does not run before they say yes.`)
          : toolError(refused);
      },
    }),
  ];
}

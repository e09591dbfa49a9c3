/**
 * Scripts that agents register by themselves, always behind the person's yes. The person sees the
 * whole text, when it runs, what happens when it fails and which hosts it may reach. What runs is
 * the text that they saw.
 */
import { z } from 'zod';
import { fileText } from '../../src/shared/domain/file-text.ts';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { isExactHost } from '../../src/shared/domain/network.ts';
import { titled } from '../../src/shared/domain/quoting.ts';
import { saidTiming, saidUtc } from '../../src/shared/protocol/said-timing.ts';
import { SCHEDULE_BOUNDS, scheduleSchema, type ScheduleOf } from '../../src/shared/protocol/schedules.ts';
import type { Agreed, AnsweredCall, Configs, TeamTool, ToolOutcome } from '../contracts/index.ts';
import { defineTool, toolDone, toolError } from '../contracts/define-tool.ts';
import type { Db } from '../store/index.ts';
import type { Copies } from './copies.ts';
import type { Schedules } from './index.ts';
import { refusalText, TIMED_ARGUMENTS } from './refusals.ts';
import type { TextQuestion } from './script-texts.ts';
import type { ScriptFile, Scripts } from './scripts.ts';

export const ACCEPT_SCRIPT = 'accept_script';

export interface ScriptToolsDeps {
  readonly schedules: Pick<Schedules, 'add' | 'named' | 'accept' | 'declineText' | 'refuse'>;
  readonly scripts: Pick<Scripts, 'look' | 'refuseOwnHosts'>;
  readonly copies: Pick<Copies, 'allow'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly now: () => number;
}

const nameSchema = z.string().trim().min(1).max(SCHEDULE_BOUNDS.name);
const registerSchema = z.object({
  name: nameSchema.describe('a name of yours that is registered already is set anew'),
  script_path: z.string().min(1).max(SCHEDULE_BOUNDS.path).describe('a file for bash in your folder'),
  cron: z.string().max(200).optional().describe('five fields, by the human’s clock'),
  every: z.string().max(40).optional().describe('such as `10 minutes` or `2 hours`'),
  at: z.string().max(80).optional().describe('once, such as `tomorrow 09:00`'),
  on_failure: z.enum(['wake_agent', 'ignore']).default('ignore'),
  hosts: z
    .array(z.string())
    .max(SCHEDULE_BOUNDS.hosts)
    .default([])
    .describe('public hosts that it reaches, such as example.org; none: no network'),
});
const acceptSchema = z.object({
  schedule: z.string(),
  name: nameSchema,
  script_path: z.string().min(1).max(SCHEDULE_BOUNDS.path),
});
type Registered = z.infer<typeof registerSchema>;

/** Fields of the schedule by their arguments. */
const ARGUMENTS = {
  ...TIMED_ARGUMENTS,
  ...{ agentId: 'name', script: 'script_path', hosts: 'hosts', own_hosts: 'own_hosts' },
};

export function createScriptTools({ schedules, scripts, copies, configs, now }: ScriptToolsDeps) {
  /** The script as it would be scheduled, with its file; a reason, in words for the agent. */
  async function read(
    agentId: AgentId,
    { name, script_path: path, on_failure, hosts, ...said }: Registered,
    ownHosts: readonly string[] = [],
  ): Promise<{ readonly schedule: ScheduleOf<'script'>; readonly file: ScriptFile } | string> {
    const { effective } = await configs.household();
    const due = saidTiming(said, effective.time_zone, now());
    if (!due.ok) return due.reason;
    const { timing } = due;
    const odd = hosts.find((host) => !isExactHost(host));
    if (odd !== undefined)
      return `\`hosts\`: ${JSON.stringify(odd)} is no host. Name each by its own name, such as example.org or example.org:8443.`;
    const file = await scripts.look(agentId, path);
    if (typeof file === 'string') return `\`script_path\`: ${file}`;
    if (fileText(file.text) === null)
      return '`script_path`: The file is no text in UTF-8, and so it cannot be shown to the human.';
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

  /** The file that the person has seen; null: it is another by now. */
  const seen = (file: ScriptFile, path: string, agreed: Agreed | undefined): ScriptFile | null =>
    agreed?.markOf(path) === `sha256:${file.sha256}` ? file : null;
  const CHANGED: ToolOutcome = { ...toolError('The file has changed since the human saw it.'), changed: true };

  const register = defineTool({
    name: 'wake_script',
    description:
      'Has the relay run a bash script of yours at set times, without asking a model: a check that costs nothing while all is well. Say one of `cron`, `every` and `at`. Exit status 0 is well, 75 ends it for good, and any other is a failure, which wakes you where `on_failure` is `wake_agent`. The human sees the script and says yes first. They are asked again when its file changes, and until then the text that they accepted runs.',
    input: registerSchema,
    async prepare(input, { agentId }) {
      const found = await read(agentId, input);
      if (typeof found === 'string') return toolError(`Nothing was asked. ${found}`);
      const { schedule, file } = found;
      const { timing } = schedule;
      return {
        input: {
          ...{ ...input, hosts: schedule.hosts ?? [], script_path: file.path },
          // As the moment itself: `tomorrow` is another day when the human looks.
          ...(timing.kind === 'once' ? { at: saidUtc(timing.at) } : {}),
        },
      };
    },
    asking: {
      keyOf: (input) => registerSchema.parse(input).name,
      refuseYes: (ownHosts) => (ownHosts.length === 0 ? null : scripts.refuseOwnHosts()),
    },
    async run(input, { agentId, agreed }) {
      const found = await read(agentId, input, agreed?.ownHosts);
      if (typeof found === 'string') return agreed ? toolError(`Nothing was set. ${found}`) : toolError(found);
      const file = seen(found.file, input.script_path, agreed);
      if (!file) return CHANGED;
      const before = await schedules.named(agentId, input.name);
      const written = await schedules.add({ ...found.schedule, enabled: true }, file);
      if (!written.ok) return toolError(`Nothing was set. ${refusalText(written, ARGUMENTS)}`);
      // Who lets something run lets its agent leave what it needs for that.
      await copies.allow(agentId);
      const { hosts = [], own_hosts: ownHosts = [] } = found.schedule;
      const reach = [...hosts, ...ownHosts].join(', ');
      return toolDone(
        `${titled(input.name)} runs from now on. It reaches ${reach === '' ? 'no network' : reach}.${before ? ' The one of before is replaced.' : ''}`,
      );
    },
  });

  /** The relay asks by it, and no agent is offered it. */
  const accept = defineTool({
    name: ACCEPT_SCRIPT,
    description: 'Another text of a script runs from now on.',
    input: acceptSchema,
    asking: {
      keyOf: (input) => acceptSchema.parse(input).schedule,
    },
    async run({ schedule, name, script_path: path }, { agentId, agreed }) {
      const file = await scripts.look(agentId, path);
      if (typeof file === 'string') return toolError(file);
      const accepted = seen(file, path, agreed);
      if (!accepted) return CHANGED;
      if (fileText(accepted.text) === null) return toolError('The file is no text, so nobody could look at it.');
      const written = await schedules.accept(schedule, accepted, agentId);
      if (!written) return toolError('It is scheduled no more, or is another script by now.');
      return written.ok
        ? toolDone(`The new text of ${titled(name)} runs from now on.`)
        : toolError(refusalText(written, ARGUMENTS));
    },
  });

  return {
    /** For agents. */
    tools: [register] as readonly TeamTool[],
    /** For the relay alone. */
    accept,
    /**
     * The person says no to a call of these: that text of the script that is scheduled is not asked
     * about again. Returns what is written in the transaction of their answer; null: nothing.
     */
    async declined({ tool, agentId, input, markOf }: AnsweredCall): Promise<((within: Db) => Promise<void>) | null> {
      const asked = { [register.name]: registerSchema, [ACCEPT_SCRIPT]: acceptSchema }[tool]?.parse(input);
      const mark = asked && markOf(asked.script_path);
      if (!asked || mark === undefined) return null;
      const scheduleId =
        'schedule' in asked ? asked.schedule : (await schedules.named(agentId, asked.name))?.scheduleId;
      if (scheduleId === undefined) return null;
      return (within) => schedules.declineText(scheduleId, mark.replace(/^sha256:/, ''), within);
    },
  };
}

/** The input of the question about another text. */
export const acceptInput = ({ scheduleId, name, path }: TextQuestion): z.infer<typeof acceptSchema> => ({
  schedule: scheduleId,
  name,
  script_path: path,
});

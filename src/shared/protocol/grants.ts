/** Grants: how far the person lets agents use their tools, for all agents and for each one. */
import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { NUMBERS, type NumberName } from '../domain/setting-table.ts';
import { isHost, MOST_HOSTS } from '../domain/network.ts';
import { DEFAULT_TOOLSETS, GRANTS } from '../domain/toolsets.ts';

const grant = z.enum(GRANTS);

/** Maximum characters of a command that is allowed verbatim. */
export const ALLOWED_COMMAND_MAX = 10_000;
/** Maximum number of such commands per agent. */
export const ALLOWED_COMMANDS_MAX = 200;

/** What a sandboxed program may reach of the network. */
export const networkSchema = z.union(
  [
    z.enum(['none', 'all']),
    z.array(z.string().refine(isHost, 'a host: example.org, example.org:8443, *.example.org')).max(MOST_HOSTS),
  ],
  {
    error: `none, all, or a list of at most ${MOST_HOSTS} hosts: example.org, example.org:8443, *.example.org`,
  },
);

const handBound = (name: NumberName) => z.number().int().min(NUMBERS[name].min).max(NUMBERS[name].max);

/** Only for a household: its programs all start on one machine. */
export const programsAtOnce = handBound('programs_at_once').describe(
  'ACP agents that are started at once if several wake; fewer while memory is short',
);

export const grants = {
  toolsets: z
    .strictObject({
      team: grant.describe('the agent writes to others, wakes them, and talks in threads'),
      schedule: grant.describe('the agent sets reminders, and proposes routines if it may'),
      projects: grant.describe('the agent takes tasks of its projects, and creates new ones'),
      files: grant.describe('the agent reads and writes in its own folder on the relay’s machine'),
      shell: grant.describe('the agent runs commands in a sandbox that sees its own folder'),
      web: grant.describe('the agent reads pages of the web, at addresses that it chooses'),
      attached: grant.describe('the agent uses tools of MCP servers that the person has approved'),
      mind: grant.describe('what an ACP agent that drives this agent asks for before it acts by itself'),
    })
    .partial()
    .describe('what the agent may do; off: it does not have these tools; ask: each call waits for the person'),
  tools: z
    .record(z.string().min(1).max(100), grant)
    .refine((tools) => Object.keys(tools).length <= 200, 'at most 200')
    .describe('grants for single tools; they override the grant of the tool’s set'),
  mind: z
    .string()
    .max(LIMITS.id)
    .nullable()
    .describe('the ACP agent on the relay’s machine that drives this agent; null: the connected models'),
  network: networkSchema.describe(
    'what the agent’s commands may reach: none; hosts by name, on ports 80 and 443 unless a port is given; or every public host',
  ),
  command_seconds: handBound('command_seconds').describe(
    'seconds that a command in the foreground may take; one in the background may take half an hour',
  ),
  workspace_megabytes: handBound('workspace_megabytes').describe(
    'how large all files of the agent’s folder together may be',
  ),
  shell_without_sandbox: z
    .boolean()
    .describe(
      'if there is no sandbox, the agent’s commands run with the rights of the relay’s user, and may do anything that this user may; set for one agent only, and only if the relay runs programs (`--scripts`)',
    ),
  allowed_commands: z
    .array(z.string().min(1).max(ALLOWED_COMMAND_MAX))
    .max(ALLOWED_COMMANDS_MAX)
    .describe('commands that the agent may run in exactly this form; every other command waits for the person'),
};

/** Values that apply if nothing is set. */
export const NO_GRANTS = {
  toolsets: { ...DEFAULT_TOOLSETS },
  tools: {},
  network: 'none' as const,
  command_seconds: NUMBERS.command_seconds.otherwise,
  workspace_megabytes: NUMBERS.workspace_megabytes.otherwise,
  shell_without_sandbox: false,
  allowed_commands: [],
  mind: null,
};

/** Grants: how far the person lets agents use their tools, for all agents and for each one. */
import { z } from 'zod';
import { LIMITS } from './limits.ts';
import { HAND_BOUNDS } from '../domain/guardrails.ts';
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

const handBound = (key: keyof typeof HAND_BOUNDS) =>
  z.number().int().min(HAND_BOUNDS[key].min).max(HAND_BOUNDS[key].max);

/** Only for a household: its programs all start on one machine. */
export const programsAtOnce = handBound('programs_at_once').describe(
  'ACP agents that are started at once, where several wake; fewer while memory is short',
);

export const grants = {
  toolsets: z
    .strictObject({
      team: grant.describe('it writes to others, wakes them, and talks in threads'),
      schedule: grant.describe('it sets reminders, and asks for routines where it may'),
      files: grant.describe('it reads and writes in its own folder on the relay’s machine'),
      shell: grant.describe('it runs commands in a sandbox that sees its own folder'),
      web: grant.describe('it reads pages of the web, at addresses of its choice'),
      attached: grant.describe('it uses what MCP servers offer, as far as the person has looked at it'),
      mind: grant.describe('what a program that is its mind asks for, before it does that itself'),
    })
    .partial()
    .describe('what it may do; off: the tools are not offered to it at all; ask: each call waits for the person'),
  tools: z
    .record(z.string().min(1).max(100), grant)
    .refine((tools) => Object.keys(tools).length <= 200, 'at most 200')
    .describe('of single tools, over their sets'),
  mind: z
    .string()
    .max(LIMITS.id)
    .nullable()
    .describe('the ACP agent of the relay’s machine that is its mind; null: the connected models'),
  network: networkSchema.describe(
    'what its commands may reach: none; hosts by name, on the ports 80 and 443 where none is said; or all that is public',
  ),
  command_seconds: handBound('command_seconds').describe(
    'how long a command may take that it waits for; one in the background may take half an hour',
  ),
  workspace_megabytes: handBound('workspace_megabytes').describe('what the files of its folder may take together'),
  shell_without_sandbox: z
    .boolean()
    .describe(
      'where there is no sandbox, its commands run as whoever started the relay, who may do anything with them; for one agent alone, and only where the relay runs programs (--scripts)',
    ),
  allowed_commands: z
    .array(z.string().min(1).max(ALLOWED_COMMAND_MAX))
    .max(ALLOWED_COMMANDS_MAX)
    .describe('commands that it may run exactly as they stand here, where each other one waits for the person'),
};

/** Values that apply if nothing is set. */
export const NO_GRANTS = {
  toolsets: { ...DEFAULT_TOOLSETS },
  tools: {},
  network: 'none' as const,
  command_seconds: HAND_BOUNDS.command_seconds.otherwise,
  workspace_megabytes: HAND_BOUNDS.workspace_megabytes.otherwise,
  shell_without_sandbox: false,
  allowed_commands: [],
  mind: null,
};

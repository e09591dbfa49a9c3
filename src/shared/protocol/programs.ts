/**
 * ACP agents on the relay's machine that can be an agent's mind: what a page is told about them,
 * and what it sends.
 */
import { z } from 'zod';
import { MCP_BOUNDS } from './mcp.ts';
import { argumentText, variableNameSchema } from './outward-texts.ts';
import { LIMITS } from './limits.ts';

/** Maximum characters of a program's name. */
const NAME = 60;

const command = argumentText(MCP_BOUNDS.command).trim().min(1);
const args = z.array(argumentText(MCP_BOUNDS.argument)).max(MCP_BOUNDS.args);
const throughRelay = z
  .boolean()
  .describe(
    'true: the ACP agent asks its model through this relay, by `ANTHROPIC_BASE_URL`; Roost counts every request and applies budgets. false: it uses its own sign-in, and Roost counts only what it reports',
  );

export const addProgramSchema = z.strictObject({
  name: z.string().trim().min(1).max(NAME).describe('name for people'),
  command: command.describe('a path, or a name that the relay looks up on its PATH'),
  args: args.default([]),
  env: z
    .record(variableNameSchema, argumentText(MCP_BOUNDS.value))
    .refine((all) => Object.keys(all).length <= MCP_BOUNDS.variables, `at most ${MCP_BOUNDS.variables}`)
    .default({})
    .describe('environment variables besides the few that every program needs; never returned'),
  throughRelay: throughRelay.default(false),
});
export type AddProgram = z.infer<typeof addProgramSchema>;

export const PROGRAM_FAULTS = ['not-installed', 'not-signed-in', 'died', 'hangs', 'nonsense', 'other'] as const;

const hasTools = z.boolean().nullable();

const stateSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('untried') }),
    z.object({ kind: z.literal('trying'), since: z.number().describe('ms since the epoch') }),
    z.object({
      kind: z.literal('answers'),
      at: z.number().describe('ms since the epoch'),
      ms: z.number().int(),
      is: z.string().describe('the name and version that the ACP agent reports'),
      tools: hasTools.describe(
        'whether the ACP agent has Roost’s own tools: true once its newest run has asked for their list; false if that run answered without asking, or the agent takes no tools over HTTP; null: not yet known',
      ),
    }),
    z.object({
      kind: z.literal('fails'),
      at: z.number(),
      why: z.enum(PROGRAM_FAULTS),
      message: z.string().describe('a sentence or two for people'),
    }),
  ])
  .describe('the outcome of its last start since the relay started');
export type ProgramState = z.infer<typeof stateSchema>;

const runningSchema = z.object({
  agentId: z.string().max(LIMITS.id),
  pid: z.number().int().nullable().describe('id of its process group; null: the start is queued'),
  state: z.enum(['waiting', 'starting', 'ready', 'working']),
  since: z.number().describe('ms since the epoch'),
  mode: z
    .object({ name: z.string(), asks: z.boolean().describe('the person is asked before it acts') })
    .nullable()
    .describe('id of its session; null: it has none, or has not started'),
  tools: hasTools.describe('this process has asked for the list of Roost’s own tools; null: not yet known'),
});

export const programSchema = z.object({
  programId: z.string().max(LIMITS.id),
  name: z.string(),
  where: z.string().describe('the command with its arguments'),
  variables: z.array(z.string()).describe('names of the variables that it is given'),
  throughRelay,
  state: stateSchema,
  running: z.array(runningSchema),
});
export type Program = z.infer<typeof programSchema>;

export const programsSchema = z.object({
  programs: z.array(programSchema),
  found: z
    .array(z.object({ name: z.string(), command: z.string(), args: z.array(z.string()) }))
    .describe('known ACP agents on the relay’s PATH that are not in `programs`'),
  allowed: z.boolean().describe('this relay runs programs for this household'),
  why: z.string().optional().describe('why the relay runs none, as a sentence; left out: it does'),
});
export type Programs = z.infer<typeof programsSchema>;

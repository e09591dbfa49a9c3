/**
 * ACP agents on the relay's machine that can be an agent's mind: what a page is told about them,
 * and what it sends.
 */
import { z } from 'zod';
import { ATTACHED_BOUNDS } from './attached.ts';
import { LIMITS } from './limits.ts';

/** Maximum characters of a program's name. */
const NAME = 60;

const command = z.string().trim().min(1).max(ATTACHED_BOUNDS.command);
const args = z.array(z.string().max(ATTACHED_BOUNDS.argument)).max(ATTACHED_BOUNDS.args);
const throughRelay = z
  .boolean()
  .describe(
    'it asks its model through this relay, by `ANTHROPIC_BASE_URL`: counted exactly, and held to budgets; else with its own sign-in, and only what it reports is counted',
  );

export const addProgramSchema = z.strictObject({
  name: z.string().trim().min(1).max(NAME).describe('as people read it'),
  command: command.describe('a path, or a name that is looked for on the relay’s PATH'),
  args: args.default([]),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/), z.string().max(ATTACHED_BOUNDS.value))
    .refine((all) => Object.keys(all).length <= ATTACHED_BOUNDS.variables, `at most ${ATTACHED_BOUNDS.variables}`)
    .default({})
    .describe('environment variables besides the few that every program needs; never told again'),
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
      is: z.string().describe('what it calls itself, with its version'),
      tools: hasTools.describe(
        'whether it has Roost’s own tools: true once its newest run has asked for their list, false where that run answered without, or it takes none over HTTP; null: not yet known',
      ),
    }),
    z.object({
      kind: z.literal('fails'),
      at: z.number(),
      why: z.enum(PROGRAM_FAULTS),
      message: z.string().describe('a sentence or two for people'),
    }),
  ])
  .describe('how its last start went, since the relay was started');
export type ProgramState = z.infer<typeof stateSchema>;

const runningSchema = z.object({
  agentId: z.string().max(LIMITS.id),
  pid: z.number().int().nullable().describe('of its process group; null: it waits for its turn to be started'),
  state: z.enum(['waiting', 'starting', 'ready', 'working']),
  since: z.number().describe('ms since the epoch'),
  mode: z
    .object({ name: z.string(), asks: z.boolean().describe('the person is asked before it acts') })
    .nullable()
    .describe('of its session; null: it has none, or is not started'),
  tools: hasTools.describe('this process has asked for the list of Roost’s own tools; null: not yet known'),
});

export const programSchema = z.object({
  programId: z.string().max(LIMITS.id),
  name: z.string(),
  where: z.string().describe('the command, with its arguments'),
  variables: z.array(z.string()).describe('names of variables that it is given'),
  throughRelay,
  state: stateSchema,
  running: z.array(runningSchema),
});
export type Program = z.infer<typeof programSchema>;

export const programsSchema = z.object({
  programs: z.array(programSchema),
  found: z
    .array(z.object({ name: z.string(), command: z.string(), args: z.array(z.string()) }))
    .describe('known agents that lie on the relay’s PATH and are not among the programs'),
  allowed: z.boolean().describe('this relay runs programs for this household'),
  why: z.string().optional().describe('why it does not, as a sentence; left out: it does'),
});
export type Programs = z.infer<typeof programsSchema>;

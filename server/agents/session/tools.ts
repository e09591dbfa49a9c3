/** The tools that the protocol names: what minds are told of them, and how their input is read. */
import { z } from 'zod';
import { checkName } from '../../../src/shared/domain/names.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { ToolOutcome } from '../../contracts/index.ts';
import type { MindTool } from '../minds/index.ts';
import type { OwnTools } from '../runs/toolbox.ts';
import { toolError } from '../../contracts/define-tool.ts';

const SPAWN_TEAM: MindTool = {
  name: 'spawn_team',
  description:
    'Joins the call that the human has made: the agents are on their way already. Answers with a [TEAM REPORT] when everyone has answered or failed.',
  properties: {
    seats: {
      type: 'array',
      items: { type: 'integer' },
      description: 'Seat numbers from 1 to 9 (position + 1). 5 is your own.',
    },
  },
  required: ['seats'],
};
export const CHOOSE_NAME: MindTool = {
  name: 'choose_name',
  description:
    'Takes a name as your own. At birth it is the name you are born with; later it is your name from now on.',
  properties: { name: { type: 'string', description: `The name, at most ${LIMITS.name} characters` } },
  required: ['name'],
};
export const WRITE_SOUL: MindTool = {
  name: 'write_soul',
  description:
    'Keeps this text as your soul: who you are, in your own words. It is given back to you whenever you wake. The earlier one is kept as well.',
  properties: { text: { type: 'string' } },
  required: ['text'],
};

export const LEAD_TOOLS: readonly MindTool[] = [SPAWN_TEAM, WRITE_SOUL];
export const AGENT_TOOLS: readonly MindTool[] = [CHOOSE_NAME, WRITE_SOUL];

/** As it is asked for: `checkName` says whether it can be had. */
export const nameSchema = z.string();
export const soulSchema = z
  .string()
  .max(LIMITS.soul, 'that is too long')
  .refine((text) => text.trim() !== '', 'a soul is not empty');

const callSchema = z.discriminatedUnion('tool', [
  // Whom it names changes nothing: the person has called them, and they are on their way.
  z.object({ tool: z.literal('spawn_team'), input: z.unknown() }),
  z.object({ tool: z.literal('choose_name'), input: z.object({ name: nameSchema }) }),
  z.object({
    tool: z.literal('write_soul'),
    input: z.object({ text: soulSchema }),
  }),
]);
/** A call that is read, its name as it is kept. */
export type ToolCall = z.infer<typeof callSchema>;

/**
 * Reads a call of one of these; the reason is a sentence for the mind, which may try again.
 * `human`: what the person is called.
 */
function readToolCall(
  name: string,
  input: unknown,
  human: string,
): { ok: true; call: ToolCall } | { ok: false; reason: string } {
  const parsed = callSchema.safeParse({ tool: name, input });
  if (parsed.success && parsed.data.tool === 'choose_name') {
    const checked = checkName(parsed.data.input.name, 'agent', human);
    return checked.ok ? { ok: true, call: { tool: 'choose_name', input: { name: checked.name } } } : checked;
  }
  if (parsed.success) return { ok: true, call: parsed.data };
  const problems = parsed.error.issues.map((issue) => `${issue.path.slice(1).join('.') || 'input'}: ${issue.message}`);
  return { ok: false, reason: `${name} could not be read. ${problems.join('; ')}.` };
}

/** These, for a speaker; `run` is given what could be read. */
export const ownTools = (
  definitions: readonly MindTool[],
  human: string,
  run: (call: ToolCall, signal: AbortSignal) => Promise<ToolOutcome> | ToolOutcome,
): OwnTools => ({
  definitions,
  run(name, input, signal) {
    const read = readToolCall(name, input, human);
    return read.ok ? run(read.call, signal) : toolError(read.reason);
  },
});

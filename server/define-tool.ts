/** Tools of the team, made from their parts, and how they answer: in words, for a mind. */
import type { z } from 'zod';
import type { Caller, TeamTool, ToolOutcome } from './contracts.ts';

/** `run` is given what its own schema has read. */
export function defineTool<Input extends z.ZodObject>(tool: {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly readOnly?: true;
  readonly waits?: true;
  readonly allowed?: (caller: Caller) => Promise<boolean>;
  readonly run: (input: z.infer<Input>, caller: Caller) => ReturnType<TeamTool['run']>;
}): TeamTool {
  const { name, description, input, readOnly = false, waits, allowed, run } = tool;
  return {
    name,
    description,
    input,
    readOnly,
    ...(waits ? { waits } : {}),
    ...(allowed ? { allowed } : {}),
    run: (given, caller) => run(input.parse(given), caller),
  };
}

/** The caller did something that cannot be done; it may try again. */
export const toolError = (text: string): ToolOutcome => ({ text, isError: true });
export const toolDone = (text: string): ToolOutcome => ({ text, isError: false });

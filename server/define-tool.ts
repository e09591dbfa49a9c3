/** Tools of the team, made from their parts. */
import type { z } from 'zod';
import type { Caller, TeamTool } from './contracts.ts';

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

/** Helpers that define the team's tools and their outcomes. An outcome is text for a model. */
import type { z } from 'zod';
import type { Asking, Caller, TeamTool, ToolOutcome } from './index.ts';

/** Longest name of an unknown argument in a message, in characters. */
const SHOWN_KEY = 80;

/**
 * `run` receives the parsed input. Unknown arguments are refused, so that a misspelt name is
 * noticed.
 */
export function defineTool<Input extends z.ZodObject>(tool: {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly readOnly?: true;
  readonly waits?: true;
  readonly allowed?: (caller: Caller) => Promise<boolean>;
  readonly prepare?: (
    input: z.infer<Input>,
    caller: Caller,
  ) => Promise<{ readonly input: z.input<Input> } | ToolOutcome>;
  readonly asking?: Asking;
  readonly run: (input: z.infer<Input>, caller: Caller) => ReturnType<TeamTool['run']>;
}): TeamTool {
  const { name, description, readOnly = false, waits, allowed, prepare, asking, run } = tool;
  const input = tool.input.strict();
  return {
    name,
    description,
    input,
    readOnly,
    ...(waits ? { waits } : {}),
    ...(allowed ? { allowed } : {}),
    ...(prepare ? { prepare: (given, caller) => prepare(tool.input.parse(given), caller) } : {}),
    ...(asking ? { asking } : {}),
    run: (given, caller) => run(tool.input.parse(given), caller),
  };
}

/** Explains to the caller why these arguments do not fit the tool. */
export function misfitsOf({ input }: Pick<TeamTool, 'input'>, { issues }: z.ZodError): string {
  const known = Object.keys(input.shape);
  return issues
    .map((issue) => {
      if (issue.code !== 'unrecognized_keys' || issue.path.length > 0)
        return `${issue.path.join('.') || 'input'}: ${issue.message}`;
      const unknown = issue.keys.map((key) => JSON.stringify(key.slice(0, SHOWN_KEY))).join(' or ');
      return `There is no argument ${unknown}; ${known.length === 0 ? 'it takes none' : `there are ${known.join(', ')}`}`;
    })
    .join('; ');
}

/** The caller asked for something impossible. The caller may try again. */
export const toolError = (text: string): ToolOutcome => ({ text, isError: true });
export const toolDone = (text: string): ToolOutcome => ({ text, isError: false });

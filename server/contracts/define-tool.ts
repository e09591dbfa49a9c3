/** Tools of the team, made from their parts, and how they answer: in words, for a mind. */
import type { z } from 'zod';
import type { Asking, Caller, TeamTool, ToolOutcome } from './index.ts';

/** Characters of an unknown argument's name that are shown. */
const SHOWN_KEY = 80;

/**
 * `run` is given what its schema has parsed. Unknown arguments are refused, so that a misspelt one
 * is not passed over.
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

/** Why these arguments do not fit the tool, in words for the caller. */
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

/** The caller did something that cannot be done; it may try again. */
export const toolError = (text: string): ToolOutcome => ({ text, isError: true });
export const toolDone = (text: string): ToolOutcome => ({ text, isError: false });

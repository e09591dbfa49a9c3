/** Tool calls of an answer and their outcomes, in words. Pure. */
import { t } from '../../language/t.ts';
import { type Argument, inWords, phraseOf } from '../text/tool-phrases.ts';
import type { ToolBlock } from './parts.ts';

type Called = Pick<ToolBlock, 'name' | 'input'>;

/** The argument of this name if it is a text, otherwise null. */
export function argument(input: unknown, key: string): string | null {
  if (typeof input !== 'object' || input === null || !(key in input)) return null;
  const value: unknown = Object.entries(input).find(([name]) => name === key)?.[1];
  return typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : null;
}

/**
 * The beginning of the result of a call that waits for the person. It is needed for blocks from
 * before `asks` existed, and for calls that an ACP agent reports.
 */
const ASKED = 'This waits for the human';

/** Whether this call only asked the person. */
export const isQuestion = ({ asks, result }: ToolBlock): boolean => asks ?? result?.startsWith(ASKED) ?? false;
/** The displayed name of an agent that a tool names by id, name or seat. */
export type NameOf = (reference: string) => string;
/** Arguments that refer to an agent. */
const WHOM: ReadonlySet<string> = new Set(['to', 'agent']);

/** Reads the arguments of a call, with agents by their names. */
export const argumentsOf =
  ({ name, input }: Called, nameOf: NameOf): Argument =>
  (key) => {
    const value = argument(input, key);
    return value !== null && WHOM.has(key) && name !== 'move_file' ? nameOf(value) : value;
  };

/** What the call did, if it succeeded. */
export const outcomePhrase = (tool: Called, nameOf: NameOf): string =>
  inWords(phraseOf(tool.name).did, argumentsOf(tool, nameOf));
/** What the call is doing. */
export function doesOf(tool: Called, nameOf: NameOf): string {
  const { does, did } = phraseOf(tool.name);
  return inWords(does ?? did, argumentsOf(tool, nameOf));
}

/** What the call would do. */
export const wantsOf = (tool: Called, nameOf: NameOf): string =>
  inWords(phraseOf(tool.name).wants, argumentsOf(tool, nameOf));

/** Describes a tool call in a few words. */
export function toolPhrase(tool: ToolBlock, nameOf: NameOf): string {
  if (isQuestion(tool)) return t`asked you: ${wantsOf(tool, nameOf)}`;
  if (tool.result === null) return doesOf(tool, nameOf);
  return tool.isError ? t`could not ${wantsOf(tool, nameOf)}` : outcomePhrase(tool, nameOf);
}

/** Phrases in one line. */
const IN_LINE = 6;

/** Calls of one tool in a row, in one phrase where the tool has one for several. */
function grouped(tools: readonly ToolBlock[], nameOf: NameOf): readonly { text: string; times: number }[] {
  const groups: { readonly name: string; readonly isPlain: boolean; text: string; times: number }[] = [];
  for (const tool of tools) {
    const isPlain = !tool.isError && tool.result !== null && !isQuestion(tool);
    const text = toolPhrase(tool, nameOf);
    const last = groups.at(-1);
    const many = phraseOf(tool.name).many;
    if (last?.text === text) last.times += 1;
    else if (last && many && last.name === tool.name && last.isPlain && isPlain) {
      last.times += 1;
      last.text = many(last.times);
    } else groups.push({ name: tool.name, isPlain, text, times: 1 });
  }
  return groups.map(({ name, text, times }) => {
    const many = phraseOf(name).many;
    return many && times > 1 && text === many(times) ? { text, times: 1 } : { text, times };
  });
}

/**
 * Summarises tool calls in one line. Repetitions are named once, and only the first few are listed.
 */
export function toolSummary(tools: readonly ToolBlock[], nameOf: NameOf): string {
  const phrases = grouped(tools, nameOf);
  const shown = phrases.length > IN_LINE ? phrases.slice(0, IN_LINE - 1) : phrases;
  const left = phrases.slice(shown.length).reduce((sum, { times }) => sum + times, 0);
  return [
    ...shown.map(({ text, times }) => (times > 1 ? t`${text}, ${times} times` : text)),
    ...(left > 0 ? [t`and ${left} more`] : []),
  ].join(' · ');
}

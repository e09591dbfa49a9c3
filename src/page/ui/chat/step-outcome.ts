/** What came of a tool call, as a person reads it, and the files that calls wrote. Pure. */
import { unquote } from '../../../shared/domain/quoting.ts';
import { t } from '../../language/t.ts';
import { asBeginning } from '../text/sizes.ts';
import { argument, isQuestion } from './tool-calls.ts';
import type { Step } from './doing.ts';
import type { ToolBlock } from './parts.ts';

export const STATES: Readonly<Record<Step['state'], string>> = {
  done: t`done`,
  failed: t`failed`,
  asked: t`asked you`,
  now: asBeginning(t`under way`),
};

export interface StepOutcome {
  /** How it ended, in a few words: “exit 0”; null: nothing to say. */
  readonly end: string | null;
  /** The exit status of a command; null: none is known. */
  readonly exit: number | null;
  /** How long it took, as the tool itself measured it; null: it did not. */
  readonly took: string | null;
  /** What the tool returned. */
  readonly output: string;
  /** The output matters to a person who did not ask for it: of a command, or of a failure. */
  readonly isShown: boolean;
  /** The first line of a long output that is shown; empty: none. */
  readonly firstLine: string;
  /** The person has not allowed this tool. */
  readonly isOff?: true;
}

/** What the relay tells an agent whose tool is switched off. It is written for the agent. */
const SWITCHED_OFF = /^There is no tool “[^”]*” here\. It is switched off\./;

/** The line that the relay puts before the output of a command. */
const COMMAND_END = /^\[([^\n]*)\](?:\n|$)/;
const EXIT = /^Exit status (\d+) after ([\d.,]+ s)\.$/;

/** How a command ended: from the relay's line before its output. */
function commandEnd(head: string): Pick<StepOutcome, 'end' | 'exit' | 'took'> {
  const [, status, took] = EXIT.exec(head) ?? [];
  if (status !== undefined && took !== undefined) return { end: t`exit ${status}`, exit: Number(status), took };
  const limit = /^Timed out after ([\d.]+ s)/.exec(head)?.[1];
  if (limit !== undefined) return { end: t`timed out`, exit: null, took: limit };
  if (head.startsWith('Stopped')) return { end: t`stopped`, exit: null, took: null };
  if (head.startsWith('Killed')) return { end: t`killed`, exit: null, took: null };
  return { end: head.endsWith('is still running.') ? t`still running` : null, exit: null, took: null };
}

const COMMANDS: readonly string[] = ['run_command', 'read_output', 'stop_command'];

function commandOutcome(result: string): Omit<StepOutcome, 'firstLine'> {
  const [whole = '', head = ''] = COMMAND_END.exec(result) ?? [];
  const rest = result.slice(whole.length);
  const output = rest === '[No output.]' || rest === '[No more output.]' ? '' : unquote(rest).trimEnd();
  return { ...commandEnd(head), output, isShown: true };
}

const NOTHING: StepOutcome = { end: null, exit: null, took: null, output: '', isShown: false, firstLine: '' };

/** The outcome of a call, from its name, its result and whether it failed. */
export function outcomeIn(name: string, result: string, isError: boolean): StepOutcome {
  if (isError && SWITCHED_OFF.test(result)) return { ...NOTHING, isOff: true };
  const found = COMMANDS.includes(name)
    ? commandOutcome(result)
    : { end: null, exit: null, took: null, output: unquote(result).trimEnd(), isShown: isError };
  return { ...found, firstLine: found.output.split('\n', 1)[0] ?? '' };
}

export function outcomeOf(tool: ToolBlock): StepOutcome {
  // What the agent is told of a question is no news to the person who is asked.
  if (tool.result === null || isQuestion(tool)) return NOTHING;
  return outcomeIn(tool.name, tool.result, tool.isError);
}

export interface WrittenFile {
  readonly path: string;
  /** Its first lines, or those of its last change. */
  readonly preview: string;
  /** More follows after the preview. */
  readonly more: boolean;
}

/** Lines and characters of a preview. */
const PREVIEW = { lines: 4, chars: 400 } as const;

/** The files that these calls wrote or changed, each once, as they were left. */
export function writtenFiles(tools: readonly ToolBlock[]): readonly WrittenFile[] {
  const files = new Map<string, WrittenFile>();
  for (const tool of tools) {
    const path = argument(tool.input, tool.name === 'move_file' ? 'from' : 'path');
    if (path === null || tool.result === null || tool.isError || isQuestion(tool)) continue;
    if (tool.name === 'delete_file' || tool.name === 'move_file') files.delete(path);
    const text = argument(
      tool.input,
      tool.name === 'write_file' ? 'content' : tool.name === 'edit_file' ? 'new_text' : '',
    );
    if (text === null) continue;
    const lines = text.trimEnd().split('\n');
    const preview = lines.slice(0, PREVIEW.lines).join('\n').slice(0, PREVIEW.chars);
    // The newest is last.
    files.delete(path);
    files.set(path, { path, preview, more: lines.length > PREVIEW.lines || text.length > PREVIEW.chars });
  }
  return [...files.values()];
}

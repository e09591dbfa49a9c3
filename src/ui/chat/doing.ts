/** What an agent does just now, and what it did before that in the same answer: as somebody would say it. Pure. */
import type { Block } from '../../protocol/documents.ts';
import { t } from '../../language/t.ts';
import { argument, argumentsOf, deedOf, isQuestion, type NameOf } from './deeds.ts';
import type { ToolBlock } from './parts.ts';

/** A call of a tool. */
export interface Step {
  readonly key: string;
  readonly text: string;
  readonly state: 'done' | 'failed' | 'asked' | 'now';
  /** ms since the epoch; null: not known. */
  readonly from: number | null;
  readonly until: number | null;
}

export interface Doing {
  readonly text: string;
  /** ms since the epoch: since when. */
  readonly from: number;
  /** It waits for somebody, and thinks nothing. */
  readonly waits: boolean;
}

/** Of an answer: when it began, and what it is made of so far. */
export interface Growing {
  readonly startedAt: number;
  readonly blocks: readonly Block[];
}

/** Waits of tools, by their names; `who`: whom it waits for, as people call them. */
const WAITS: Readonly<Record<string, (who: string) => string>> = {
  wait_for_message: () => t`waits for somebody to say something`,
  wait_for_mention: () => t`waits to be mentioned`,
  wait_for_agent: (who) => t`waits for ${who}`,
};
/** What is under way, of the tools that take their time; all others by what they will have done. */
const UNDER_WAY: Readonly<Record<string, (of: (key: string) => string | null) => string>> = {
  run_command: (of) => t`runs ${of('command') ?? t`a command`}`,
  fetch_page: () => t`reads a page of the web`,
  web_search: () => t`searches the web`,
  web_fetch: () => t`reads a page of the web`,
  write_file: (of) => t`writes ${of('path') ?? t`a file`}`,
  write_soul: () => t`writes down who they are`,
  send_message_to_thread: () => t`writes in a thread`,
  message_agent: (of) => t`writes to ${of('to') ?? t`another`}`,
  // It may still wait for a yes.
  mind__execute: (of) => `${of('command') ?? of('title') ?? t`a command`}…`,
};

const isTool = (block: Block): block is ToolBlock => block.kind === 'tool';
export const toolsOf = ({ blocks }: Growing): readonly ToolBlock[] => blocks.filter(isTool);
/** The call that has no result yet. */
export const underWay = (answer: Growing): ToolBlock | null =>
  toolsOf(answer).findLast(({ result }) => result === null) ?? null;

function textOf(tool: ToolBlock, nameOf: NameOf): string {
  const of = argumentsOf(tool, nameOf);
  const waits = WAITS[tool.name];
  if (waits) return waits(of('agent') ?? '');
  return UNDER_WAY[tool.name]?.(of) ?? `${deedOf(tool, nameOf)}…`;
}

export function doingOf(answer: Growing, nameOf: NameOf): Doing {
  const { blocks, startedAt } = answer;
  const tool = underWay(answer);
  if (tool) return { text: textOf(tool, nameOf), from: tool.startedAt ?? startedAt, waits: tool.name in WAITS };
  const from = toolsOf(answer).findLast(({ endedAt }) => endedAt !== undefined)?.endedAt ?? startedAt;
  return blocks.at(-1)?.kind === 'text'
    ? { text: t`writes`, from, waits: false }
    : { text: t`thinks`, from, waits: false };
}

/** Its calls, in order. */
export const stepsOf = (answer: Growing, nameOf: NameOf): readonly Step[] =>
  toolsOf(answer).map((tool) => ({
    key: tool.toolUseId,
    text: tool.result === null ? textOf(tool, nameOf) : deedOf(tool, nameOf),
    state: tool.result === null ? 'now' : isQuestion(tool) ? 'asked' : tool.isError ? 'failed' : 'done',
    from: tool.startedAt ?? null,
    until: tool.endedAt ?? null,
  }));

/** Is something of this answer about that thread? It was read, waited in or written in there. */
export const isAbout = (answer: Growing, threadId: string): boolean =>
  toolsOf(answer).some(
    ({ input, result }) => argument(input, 'threadId') === threadId || result?.includes(`id ${threadId},`) === true,
  );

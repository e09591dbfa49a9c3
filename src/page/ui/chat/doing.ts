/** What an agent is doing now, and the earlier steps of the same answer, in words. Pure. */
import type { Block } from '../../../shared/protocol/documents.ts';
import { t } from '../../language/t.ts';
import { argument, argumentsOf, deedOf, isQuestion, type NameOf } from './deeds.ts';
import type { ToolBlock } from './parts.ts';

/** A tool call. */
export interface Step {
  readonly key: string;
  readonly text: string;
  readonly state: 'done' | 'failed' | 'asked' | 'now';
  /** Start, in ms since the epoch; null: unknown. */
  readonly from: number | null;
  readonly until: number | null;
}

export interface Doing {
  readonly text: string;
  /** Start, in ms since the epoch. */
  readonly from: number;
  /** The agent waits for someone and is not thinking. */
  readonly waits: boolean;
}

/** An answer in progress: when it began, and its blocks so far. */
export interface Growing {
  readonly startedAt: number;
  readonly blocks: readonly Block[];
}

/** Labels of tools that wait, by tool name. `who` is the name of the one they wait for. */
const WAITS: Readonly<Record<string, (who: string) => string>> = {
  wait_for_message: () => t`waits for a message`,
  wait_for_mention: () => t`waits to be mentioned`,
  wait_for_agent: (who) => t`waits for ${who}`,
};
/** Labels of slow tools while they run. Other tools use the phrase for the finished call. */
const UNDER_WAY: Readonly<Record<string, (of: (key: string) => string | null) => string>> = {
  run_command: (of) => runs(of('command')),
  read_output: () => t`looking at what a command wrote`,
  fetch_page: () => t`reading a page of the web`,
  web_search: () => t`searching the web`,
  web_fetch: () => t`reading a page of the web`,
  list_files: () => t`looking into the folder`,
  search_files: () => t`searching the folder`,
  read_file: (of) => t`reading ${of('path') ?? t`a file`}`,
  view_image: (of) => t`looking at ${of('path') ?? t`a picture`}`,
  write_file: (of) => t`writing ${of('path') ?? t`a file`}`,
  edit_file: (of) => t`changing ${of('path') ?? t`a file`}`,
  search_conversations: () => t`looking for earlier words`,
  write_soul: () => t`writing down who they are`,
  read_thread: () => t`reading a thread`,
  create_thread: () => t`writing in a thread`,
  send_message_to_thread: () => t`writing in a thread`,
  message_agent: (of) => t`writing to ${of('to') ?? t`another`}`,
  message_human: () => t`writing to you`,
  mind__think: () => t`thinking`,
  mind__plan: () => t`making a plan`,
  mind__read: (of) => of('title') ?? t`reading files`,
  mind__search: (of) => of('title') ?? t`searching`,
  mind__edit: (of) => of('title') ?? t`changing files`,
  mind__execute: (of) => runs(of('command') ?? of('title')),
  mind__fetch: (of) => of('title') ?? t`fetching something from the web`,
};

/** A command on one line, even if it has several. */
function runs(command: string | null): string {
  return command === null ? t`running a command` : t`running ${`\`${command.replace(/\s+/g, ' ').trim()}\``}`;
}

const isTool = (block: Block): block is ToolBlock => block.kind === 'tool';
export const toolsOf = ({ blocks }: Growing): readonly ToolBlock[] => blocks.filter(isTool);
/** The call that has no result yet. */
export const underWay = (answer: Growing): ToolBlock | null =>
  toolsOf(answer).findLast(({ result }) => result === null) ?? null;

type Called = Pick<ToolBlock, 'name' | 'input'>;

function textOf(tool: Called, nameOf: NameOf): string {
  const of = argumentsOf(tool, nameOf);
  const waits = WAITS[tool.name];
  if (waits) return waits(of('agent') ?? '');
  return UNDER_WAY[tool.name]?.(of) ?? `${deedOf(tool, nameOf)}…`;
}

/** Describes a call in progress. */
export const calling = (tool: Called, nameOf: NameOf): Pick<Doing, 'text' | 'waits'> => ({
  text: textOf(tool, nameOf),
  waits: tool.name in WAITS,
});

export function doingOf(answer: Growing, nameOf: NameOf): Doing {
  const { blocks, startedAt } = answer;
  const tool = underWay(answer);
  if (tool) return { ...calling(tool, nameOf), from: tool.startedAt ?? startedAt };
  const from = toolsOf(answer).findLast(({ endedAt }) => endedAt !== undefined)?.endedAt ?? startedAt;
  return blocks.at(-1)?.kind === 'text'
    ? { text: t`writing`, from, waits: false }
    : { text: t`thinking`, from, waits: false };
}

/** The calls of the answer, in order. */
export const stepsOf = (answer: Growing, nameOf: NameOf): readonly Step[] =>
  toolsOf(answer).map((tool) => ({
    key: tool.toolUseId,
    text: tool.result === null ? textOf(tool, nameOf) : deedOf(tool, nameOf),
    state: tool.result === null ? 'now' : isQuestion(tool) ? 'asked' : tool.isError ? 'failed' : 'done',
    from: tool.startedAt ?? null,
    until: tool.endedAt ?? null,
  }));

/** True if this answer read, waited in or wrote to that thread. */
export const isAbout = (answer: Growing, threadId: string): boolean =>
  toolsOf(answer).some(
    ({ input, result }) => argument(input, 'threadId') === threadId || result?.includes(`id ${threadId},`) === true,
  );

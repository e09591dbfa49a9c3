/** What an agent is doing now, and the earlier steps of the same answer, in words. Pure. */
import type { Block } from '../../../shared/protocol/documents.ts';
import { t } from '../../language/t.ts';
import { phraseOf } from '../text/tool-phrases.ts';
import { argument, doesOf, isQuestion, toolPhrase, type NameOf } from './tool-calls.ts';
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
  readonly step: 'thinks' | 'writes' | 'calls';
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

const isTool = (block: Block): block is ToolBlock => block.kind === 'tool';
export const toolsOf = ({ blocks }: Growing): readonly ToolBlock[] => blocks.filter(isTool);
/** The call that has no result yet. */
export const underWay = (answer: Growing): ToolBlock | null =>
  toolsOf(answer).findLast(({ result }) => result === null) ?? null;

type Called = Pick<ToolBlock, 'name' | 'input'>;

/** Describes a call in progress. */
export const calling = (tool: Called, nameOf: NameOf): Omit<Doing, 'from'> => ({
  step: 'calls',
  text: doesOf(tool, nameOf),
  waits: phraseOf(tool.name).waits === true,
});

export function doingOf(answer: Growing, nameOf: NameOf): Doing {
  const { blocks, startedAt } = answer;
  const tool = underWay(answer);
  if (tool) return { ...calling(tool, nameOf), from: tool.startedAt ?? startedAt };
  const from = toolsOf(answer).findLast(({ endedAt }) => endedAt !== undefined)?.endedAt ?? startedAt;
  return blocks.at(-1)?.kind === 'text'
    ? { step: 'writes', text: t`writing`, from, waits: false }
    : { step: 'thinks', text: t`thinking`, from, waits: false };
}

/** The calls of the answer, in order. */
export const stepsOf = (answer: Growing, nameOf: NameOf): readonly Step[] =>
  toolsOf(answer).map((tool) => ({
    key: tool.toolUseId,
    text: toolPhrase(tool, nameOf),
    state: tool.result === null ? 'now' : isQuestion(tool) ? 'asked' : tool.isError ? 'failed' : 'done',
    from: tool.startedAt ?? null,
    until: tool.endedAt ?? null,
  }));

/** True if this answer read, waited in or wrote to that thread. */
export const isAbout = (answer: Growing, threadId: string): boolean =>
  toolsOf(answer).some(
    ({ input, result }) => argument(input, 'threadId') === threadId || result?.includes(`id ${threadId},`) === true,
  );

/** Answers that are being written, put together from the events so far. */
import type { Block } from '../protocol/documents.ts';
import type { RoostEvent } from '../protocol/events.ts';
import { whereAlone } from '../domain/alone.ts';
import type { MessageId } from '../domain/ids.ts';
import type { OpenAnswer } from '../protocol/worker.ts';

export interface OpenAnswers {
  take(event: RoostEvent): void;
  /** Forgets all that are not among these: the relay knows of no others. */
  keep(messageIds: readonly MessageId[]): void;
  clear(): void;
  list(): readonly OpenAnswer[];
}

function withText(blocks: readonly Block[], text: string): readonly Block[] {
  const last = blocks.at(-1);
  return last?.kind === 'text'
    ? [...blocks.slice(0, -1), { kind: 'text', text: last.text + text }]
    : [...blocks, { kind: 'text', text }];
}

/** A tool call is told of twice: when it begins, and with its result. */
function withTool(blocks: readonly Block[], block: Block): readonly Block[] {
  const at = blocks.findIndex(
    (held) => held.kind === 'tool' && block.kind === 'tool' && held.toolUseId === block.toolUseId,
  );
  return at < 0 ? [...blocks, block] : blocks.with(at, block);
}

export function createOpenAnswers(): OpenAnswers {
  const open = new Map<string, OpenAnswer>();
  const change = (messageId: MessageId, blocks: (held: readonly Block[]) => readonly Block[]) => {
    const answer = open.get(messageId);
    if (answer) open.set(messageId, { ...answer, blocks: blocks(answer.blocks) });
  };
  return {
    take(event) {
      if (event.kind === 'answer-started')
        open.set(event.messageId, {
          messageId: event.messageId,
          agentId: event.agentId,
          startedAt: event.time,
          ...whereAlone(event),
          blocks: [],
        });
      else if (event.kind === 'text') change(event.messageId, (held) => withText(held, event.text));
      else if (event.kind === 'tool') change(event.messageId, (held) => withTool(held, event.block));
      else if (event.kind === 'message') open.delete(event.messageId);
    },
    keep(messageIds) {
      for (const messageId of open.keys()) if (!messageIds.includes(messageId)) open.delete(messageId);
    },
    clear: () => open.clear(),
    list: () => [...open.values()],
  };
}

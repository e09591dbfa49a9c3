/** Answers that agents are writing, as a fold over events. The worker and the page share it. */
import { whereAlone } from '../domain/lifecycle.ts';
import type { MessageId } from '../domain/ids.ts';
import type { Block } from './documents.ts';
import type { RoostEvent } from './events.ts';
import type { OpenAnswer } from './worker.ts';

/** Open answers by message id, in the order in which they began. */
export type OpenAnswers = ReadonlyMap<MessageId, OpenAnswer>;

export const NO_ANSWERS: OpenAnswers = new Map();

function withText(blocks: readonly Block[], text: string): readonly Block[] {
  const last = blocks.at(-1);
  return last?.kind === 'text'
    ? [...blocks.slice(0, -1), { ...last, text: last.text + text }]
    : [...blocks, { kind: 'text', text }];
}

/** A tool call arrives twice: when it begins, and with its result. */
function withBlock(blocks: readonly Block[], block: Block): readonly Block[] {
  const at = blocks.findIndex(
    (known) => known.kind === 'tool' && block.kind === 'tool' && known.toolUseId === block.toolUseId,
  );
  return at < 0 ? [...blocks, block] : blocks.with(at, block);
}

/** The answers after one more event. The same map if the event changes none. */
export function applyToAnswers(answers: OpenAnswers, event: RoostEvent): OpenAnswers {
  switch (event.kind) {
    case 'answer-started': {
      const { messageId, agentId, time: startedAt } = event;
      if (answers.has(messageId)) return answers;
      return new Map(answers).set(messageId, { messageId, agentId, startedAt, ...whereAlone(event), blocks: [] });
    }
    case 'text':
    case 'tool': {
      const answer = answers.get(event.messageId);
      if (!answer) return answers;
      const blocks =
        event.kind === 'text' ? withText(answer.blocks, event.text) : withBlock(answer.blocks, event.block);
      return new Map(answers).set(event.messageId, { ...answer, blocks });
    }
    case 'message':
      return answers.has(event.messageId)
        ? onlyAnswers(answers, (messageId) => messageId !== event.messageId)
        : answers;
    default:
      return answers;
  }
}

/** The answers for which `stays` is true. The same map if that is all of them. */
export function onlyAnswers(answers: OpenAnswers, stays: (messageId: MessageId) => boolean): OpenAnswers {
  const left = [...answers].filter(([messageId]) => stays(messageId));
  return left.length === answers.size ? answers : new Map(left);
}

/** Streaming answers, by message id. Each bubble subscribes to its own entry only. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Block } from '../../shared/protocol/documents.ts';
import type { Snapshot, StoredEvent } from '../../shared/protocol/events.ts';
import { whereAlone } from '../../shared/domain/lifecycle.ts';
import type { AgentId, MessageId } from '../../shared/domain/ids.ts';
import type { LinkState, OpenAnswer } from '../../shared/protocol/worker.ts';

export interface AnswersState {
  readonly open: ReadonlyMap<string, OpenAnswer>;
  /**
   * True while the relay is connected. Without it nobody knows whether answers are still streaming.
   */
  readonly heard: boolean;
}

export interface Answers {
  readonly store: StoreApi<AnswersState>;
  load(answers: readonly OpenAnswer[]): void;
  hearEvent(stored: StoredEvent): void;
  hearLink(link: LinkState): void;
  /** Drops answers that the relay no longer knows. */
  keepOnly(snapshot: Snapshot): void;
}

function withText(blocks: readonly Block[], text: string): readonly Block[] {
  const last = blocks.at(-1);
  if (last?.kind === 'text') return [...blocks.slice(0, -1), { ...last, text: last.text + text }];
  return [...blocks, { kind: 'text', text }];
}

function withBlock(blocks: readonly Block[], block: Block): readonly Block[] {
  if (block.kind !== 'tool') return [...blocks, block];
  const at = blocks.findIndex((held) => held.kind === 'tool' && held.toolUseId === block.toolUseId);
  return at < 0 ? [...blocks, block] : blocks.with(at, block);
}

export function createAnswers(): Answers {
  const store = createStore<AnswersState>()(() => ({ open: new Map(), heard: true }));
  const change = (messageId: MessageId, next: OpenAnswer | null) => {
    const open = new Map(store.getState().open);
    if (next) open.set(messageId, next);
    else open.delete(messageId);
    store.setState({ open });
  };
  return {
    store,
    load: (answers) => store.setState({ open: new Map(answers.map((answer) => [answer.messageId, answer])) }),
    hearLink({ kind }) {
      const heard = kind === 'live';
      if (heard !== store.getState().heard) store.setState({ heard });
    },
    hearEvent({ event }) {
      const { open } = store.getState();
      if (event.kind === 'answer-started') {
        const { messageId, agentId, time: startedAt } = event;
        if (!open.has(messageId))
          change(messageId, { messageId, agentId, startedAt, ...whereAlone(event), blocks: [] });
      } else if (event.kind === 'text' || event.kind === 'tool') {
        const answer = open.get(event.messageId);
        if (!answer) return;
        const blocks =
          event.kind === 'text' ? withText(answer.blocks, event.text) : withBlock(answer.blocks, event.block);
        change(event.messageId, { ...answer, blocks });
      } else if (event.kind === 'message' && open.has(event.messageId)) change(event.messageId, null);
    },
    keepOnly(snapshot) {
      const known = new Set(snapshot.answering.map((answer) => answer.messageId));
      const { open } = store.getState();
      const kept = [...open].filter(([messageId]) => known.has(messageId));
      if (kept.length !== open.size) store.setState({ open: new Map(kept) });
    },
  };
}

/** The answer this agent is streaming, or undefined if there is none or it is unknown. */
export function openAnswerOf(state: AnswersState, agentId: AgentId): OpenAnswer | undefined {
  if (!state.heard) return undefined;
  for (const answer of state.open.values()) if (answer.agentId === agentId) return answer;
  return undefined;
}

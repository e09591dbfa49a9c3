/** Streaming answers, by message id. Each bubble subscribes to its own entry only. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Snapshot, StoredEvent } from '../../shared/protocol/events.ts';
import { applyToAnswers, NO_ANSWERS, onlyAnswers, type OpenAnswers } from '../../shared/protocol/open-answers.ts';
import type { LinkState, OpenAnswer } from '../../shared/protocol/worker.ts';

export interface AnswersState {
  readonly open: OpenAnswers;
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

export function createAnswers(): Answers {
  const store = createStore<AnswersState>()(() => ({ open: NO_ANSWERS, heard: true }));
  const set = (open: OpenAnswers) => {
    if (open !== store.getState().open) store.setState({ open });
  };
  return {
    store,
    load: (answers) => set(new Map(answers.map((answer) => [answer.messageId, answer]))),
    hearLink({ kind }) {
      const heard = kind === 'live';
      if (heard !== store.getState().heard) store.setState({ heard });
    },
    hearEvent: ({ event }) => set(applyToAnswers(store.getState().open, event)),
    keepOnly({ answering }) {
      const known = new Set(answering.map(({ messageId }) => messageId));
      set(onlyAnswers(store.getState().open, (messageId) => known.has(messageId)));
    },
  };
}

/** The answer this agent is streaming, or undefined if there is none or it is unknown. */
export function openAnswerOf(state: AnswersState, agentId: AgentId): OpenAnswer | undefined {
  if (!state.heard) return undefined;
  for (const answer of state.open.values()) if (answer.agentId === agentId) return answer;
  return undefined;
}

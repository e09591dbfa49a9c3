/** One thread: its newest messages, and earlier ones on demand. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { ThreadId } from '../../../shared/domain/ids.ts';
import type { Thread, ThreadMessage } from '../../../shared/protocol/threads.ts';
import type { RelayProblem } from '../../../shared/relay-client/index.ts';
import type { RoostState } from '../index.ts';
import type { MessageToThread } from '../outbox/index.ts';
import { createPaged, type Pages, type Reading } from '../pages.ts';

/** Messages per request, and per request on the way to the very beginning. */
const PAGE = 50;
const PAGE_OF_ALL = 200;

export interface ThreadTalkState {
  readonly kind: 'loading' | 'ready' | 'failed';
  /** Failed: why. Ready: why the reload failed. */
  readonly problem: RelayProblem | null;
  /** More may have been said than is loaded. */
  readonly stale: boolean;
  readonly thread: Thread | null;
  /** The sequence up to which each participant has read. */
  readonly read: Readonly<Record<string, number>>;
  /** Messages ordered by sequence, without gaps. */
  readonly messages: readonly ThreadMessage[];
  /** Earlier messages exist. */
  readonly more: boolean;
  readonly reading: Reading;
}

export interface ThreadTalk {
  readonly store: StoreApi<ThreadTalkState>;
  /** Subscribes a view. Returns a function that unsubscribes. */
  subscribe(): () => void;
  again(): Promise<void>;
  readonly pages: Pages;
  send(text: string, mentions: readonly string[]): Promise<void>;
}

/** The parts of the page that its threads use. */
export type ThreadDeps = Pick<RoostState, 'acceptedIn' | 'changes' | 'device' | 'outbox' | 'callRelay'>;

/**
 * A sent message that has arrived: the same text by the person, with a later sequence than when it
 * was sent.
 */
const hasArrived = ({ text, after }: MessageToThread, messages: readonly ThreadMessage[]) =>
  messages.some(
    (message) => message.from === 'human' && message.sequence > after && message.text.trim() === text.trim(),
  );

export function createThreadTalk(threadId: ThreadId, deps: ThreadDeps): ThreadTalk {
  const { acceptedIn, changes, device, outbox, callRelay } = deps;
  const store = createStore<ThreadTalkState>()(() => ({
    kind: 'loading',
    problem: null,
    stale: true,
    thread: null,
    read: {},
    messages: [],
    more: false,
    reading: 'nothing',
  }));
  let thread: Thread | null = null;
  let read: ThreadTalkState['read'] = {};
  const paged = createPaged<ThreadMessage, number>({
    changes,
    device,
    what: ['threads'],
    size: PAGE,
    sizeOfAll: PAGE_OF_ALL,
    fixed: true,
    idOf: ({ sequence }) => sequence,
    async askPage({ before, limit }) {
      const page = await callRelay((client) => client.threadMessages({ threadId, before, limit }));
      if (!page.ok) return page;
      const { messages, more } = page.value;
      if (before === null) ({ thread, read = {} } = page.value);
      return { ok: true, value: { rows: [...messages].reverse(), more } };
    },
    onReading: (reading) => store.setState({ reading }),
  });
  paged.store.subscribe((held) => {
    switch (held.kind) {
      case 'loading':
        return;
      case 'failed':
        return store.setState({ kind: 'failed', problem: held.problem });
      case 'ready': {
        const { problem, stale, value } = held;
        const messages = [...value.rows].reverse();
        outbox.remove((item) => item.to === 'thread' && item.threadId === threadId && hasArrived(item, messages));
        return store.setState({ kind: 'ready', problem, stale, thread, read, messages, more: value.more });
      }
      default:
        held satisfies never;
    }
  });

  const lastSequence = () => store.getState().messages.at(-1)?.sequence ?? 0;
  // If it is the next in sequence, nothing in between has to be requested first.
  acceptedIn.set(threadId, async (message) => {
    if (message.sequence === lastSequence() + 1) paged.amend(({ rows, more }) => ({ rows: [message, ...rows], more }));
    else if (message.sequence > lastSequence()) await paged.again();
  });

  return {
    store,
    subscribe: paged.subscribe,
    again: paged.again,
    pages: paged.pages,
    send: (text, mentions) =>
      outbox.send({ to: 'thread', threadId, text, mentions, after: lastSequence(), attachments: [] }),
  };
}

/** One thread as it is shown: its newest messages, earlier ones as they are asked for, and what is on its way. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Thread, ThreadMessage, ThreadMessages } from '../../protocol/threads.ts';
import type { RelayProblem, RelayResult } from '../../relay/index.ts';
import type { Changes } from '../changes.ts';
import { createQuery } from '../query.ts';
import { problemText, type Device } from '../ports.ts';
import type { ReachPort } from '../reach.ts';

/** Messages asked for at a time. */
const THREAD_PAGE = 50;

/** What the person wrote and the thread does not show yet. */
export interface ThreadSending {
  readonly clientId: string;
  readonly text: string;
  readonly mentions: readonly string[];
  readonly time: number;
  /** The last place that was known when it was sent. */
  readonly after: number;
  /** Why it did not go; null while it is on its way. */
  readonly error: string | null;
}

export interface ThreadTalkState {
  readonly kind: 'loading' | 'ready' | 'failed';
  /** Failed: why. Ready: why it could not be read anew. */
  readonly problem: RelayProblem | null;
  readonly thread: Thread | null;
  /** By place, without a gap. */
  readonly messages: readonly ThreadMessage[];
  /** Earlier ones are there. */
  readonly more: boolean;
  readonly readingEarlier: boolean;
  readonly sending: readonly ThreadSending[];
}

export interface ThreadTalk {
  readonly store: StoreApi<ThreadTalkState>;
  look(): () => void;
  again(): Promise<void>;
  /** Reads the page before the first message. Answers with why it could not, or null. */
  earlier(): Promise<string | null>;
  send(text: string, mentions: readonly string[]): Promise<void>;
  sendAgain(clientId: string): Promise<void>;
  /** Answers with the text of what did not go, which is then gone from here. */
  takeBack(clientId: string): string;
}

interface ThreadTalkDeps {
  readonly reach: ReachPort;
  readonly changes: Changes;
  readonly device: Pick<Device, 'after' | 'now' | 'newId'>;
}

/** Both in one, by place. */
function merged(known: readonly ThreadMessage[], more: readonly ThreadMessage[]): readonly ThreadMessage[] {
  const places = new Map([...known, ...more].map((message) => [message.place, message]));
  return [...places.values()].sort((a, b) => a.place - b.place);
}

/** What was sent and is there by now: the same words of the person's, later than when they were sent. */
const arrived = ({ text, after }: ThreadSending, messages: readonly ThreadMessage[]) =>
  messages.some((message) => message.from === 'human' && message.place > after && message.text.trim() === text.trim());

// In one piece: pages, news and what is being sent are folded into one store.
export function createThreadTalk(threadId: string, { reach, changes, device }: ThreadTalkDeps): ThreadTalk {
  const store = createStore<ThreadTalkState>()(() => ({
    kind: 'loading',
    problem: null,
    thread: null,
    messages: [],
    more: false,
    readingEarlier: false,
    sending: [],
  }));
  const page = (before: number | null) =>
    reach((client) => client.threadMessages({ threadId, before, limit: THREAD_PAGE }));

  /** The newest page, and whatever came between it and what is shown. */
  async function newest(): Promise<RelayResult<ThreadMessages>> {
    const first = await page(null);
    if (!first.ok) return first;
    const last = store.getState().messages.at(-1)?.place;
    let messages: readonly ThreadMessage[] = first.value.messages;
    let { more } = first.value;
    while (last !== undefined && more && (messages[0]?.place ?? 0) > last + 1) {
      const before = await page(messages[0]?.place ?? null);
      if (!before.ok) return before;
      if (before.value.messages.length === 0) break;
      messages = merged(before.value.messages, messages);
      more = before.value.more;
    }
    return { ok: true, value: { thread: first.value.thread, messages: [...messages], more } };
  }

  const query = createQuery<ThreadMessages>({ ask: newest, changes, device, what: ['threads'] });
  query.store.subscribe((held) => {
    const shown = store.getState();
    switch (held.kind) {
      case 'loading':
        return;
      case 'failed':
        return store.setState({ kind: 'failed', problem: held.problem });
      case 'ready': {
        const messages = merged(shown.messages, held.value.messages);
        const first = shown.messages[0];
        const reachesBack = first === undefined || (held.value.messages[0]?.place ?? Infinity) <= first.place;
        return store.setState({
          kind: 'ready',
          problem: held.problem,
          thread: held.value.thread,
          messages,
          more: reachesBack ? held.value.more : shown.more,
          sending: shown.sending.filter((item) => !arrived(item, messages)),
        });
      }
      default:
        held satisfies never;
    }
  });

  function note(item: ThreadSending) {
    const others = store.getState().sending.filter(({ clientId }) => clientId !== item.clientId);
    store.setState({ sending: [...others, item] });
  }
  const drop = (clientId: string) =>
    store.setState(({ sending }) => ({ sending: sending.filter((item) => item.clientId !== clientId) }));

  async function deliver(item: ThreadSending) {
    note({ ...item, error: null });
    const { clientId, text, mentions } = item;
    const sent = await reach((client) =>
      client.sendToThread({ threadId, body: { clientId, text, mentions: [...mentions] } }),
    );
    // The same client id goes along when it is tried again: what did arrive after all is not there twice.
    if (!sent.ok) return note({ ...item, error: problemText(sent.problem) });
    const { value } = sent;
    const known = store.getState().messages;
    // Where it is the next one, there is nothing between that would have to be asked for first.
    if (value.place <= (known.at(-1)?.place ?? 0) + 1) store.setState({ messages: merged(known, [value]) });
    else await query.again();
    drop(clientId);
  }
  const find = (clientId: string) => store.getState().sending.find((item) => item.clientId === clientId);

  return {
    store,
    look: query.subscribe,
    again: query.again,
    async earlier() {
      const { messages, readingEarlier } = store.getState();
      const first = messages[0];
      if (readingEarlier || !first) return null;
      store.setState({ readingEarlier: true });
      const read = await page(first.place);
      store.setState({ readingEarlier: false });
      if (!read.ok) return problemText(read.problem);
      store.setState((now) => ({ messages: merged(now.messages, read.value.messages), more: read.value.more }));
      return null;
    },
    send: (text, mentions) =>
      deliver({
        clientId: device.newId(),
        text,
        mentions,
        time: device.now(),
        after: store.getState().messages.at(-1)?.place ?? 0,
        error: null,
      }),
    async sendAgain(clientId) {
      const item = find(clientId);
      if (item) await deliver(item);
    },
    takeBack(clientId) {
      const text = find(clientId)?.text ?? '';
      drop(clientId);
      return text;
    },
  };
}

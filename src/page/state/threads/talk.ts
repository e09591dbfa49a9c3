/** One thread: its newest messages, earlier ones on demand, and those being sent. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { ThreadId } from '../../../shared/domain/ids.ts';
import type { Thread, ThreadMessage } from '../../../shared/protocol/threads.ts';
import type { RelayProblem } from '../../../shared/relay-client/index.ts';
import type { Changes } from '../documents.ts';
import type { Live } from '../live.ts';
import { createPaged, type Pages, type Reading } from '../pages.ts';
import { isPassing, problemText, type Device } from '../ports.ts';
import type { ReachPort } from '../reach.ts';
import { type Sending, type SendingToThread, withSending } from '../conversations.ts';
import { readUnsent } from '../conversation-log.ts';
import { storeUnsent, unsentIn } from '../unsent.ts';

/** Messages per request, and per request on the way to the very beginning. */
const PAGE = 50;
const PAGE_OF_ALL = 200;
/** ms until the next attempt, if the relay is reachable but has not answered. */
const AGAIN_MS = 5_000;

export interface ThreadTalkState {
  readonly kind: 'loading' | 'ready' | 'failed';
  /** Failed: why. Ready: why the reload failed. */
  readonly problem: RelayProblem | null;
  /** More may have been said than is loaded. */
  readonly stale: boolean;
  readonly thread: Thread | null;
  /** The sequence up to which each participant has read. */
  readonly read: Readonly<Record<string, number>>;
  /** By sequence, without gaps. */
  readonly messages: readonly ThreadMessage[];
  /** Earlier messages exist. */
  readonly more: boolean;
  readonly reading: Reading;
  readonly sending: readonly SendingToThread[];
}

export interface ThreadTalk {
  readonly store: StoreApi<ThreadTalkState>;
  /** Subscribes a view. Returns a function that unsubscribes. */
  subscribe(): () => void;
  again(): Promise<void>;
  readonly pages: Pages;
  send(text: string, mentions: readonly string[]): Promise<void>;
  sendAgain(clientId: string): Promise<void>;
  /** Removes an unsent message and returns its text. */
  withdraw(clientId: string): string;
}

interface ThreadTalkDeps {
  readonly reach: ReachPort;
  readonly changes: Changes;
  readonly device: Pick<Device, 'after' | 'now' | 'newId' | 'browser'>;
  readonly live: Pick<Live, 'store'>;
}

const isToThread = (value: Sending): value is SendingToThread =>
  Array.isArray(value.mentions) && 'after' in value && typeof value.after === 'number';

/**
 * A sent message that has arrived: the same text by the person, with a later sequence than when it
 * was sent.
 */
const arrived = ({ text, after }: SendingToThread, messages: readonly ThreadMessage[]) =>
  messages.some(
    (message) => message.from === 'human' && message.sequence > after && message.text.trim() === text.trim(),
  );

export function createThreadTalk(threadId: ThreadId, { reach, changes, device, live }: ThreadTalkDeps): ThreadTalk {
  const store = createStore<ThreadTalkState>()(() => ({
    kind: 'loading',
    problem: null,
    stale: true,
    thread: null,
    read: {},
    messages: [],
    more: false,
    reading: 'nothing',
    sending: readUnsent(device.browser, unsentIn(threadId), isToThread),
  }));
  storeUnsent(device.browser, unsentIn(threadId), store);
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
      const page = await reach((client) => client.threadMessages({ threadId, before, limit }));
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
        const sending = store.getState().sending.filter((item) => !arrived(item, messages));
        return store.setState({ kind: 'ready', problem, stale, thread, read, messages, more: value.more, sending });
      }
      default:
        held satisfies never;
    }
  });

  const lastSequence = () => store.getState().messages.at(-1)?.sequence ?? 0;
  const note = (item: SendingToThread) => store.setState(({ sending }) => ({ sending: withSending(sending, item) }));
  const drop = (clientId: string) =>
    store.setState(({ sending }) => ({ sending: sending.filter((item) => item.clientId !== clientId) }));

  const find = (clientId: string) => store.getState().sending.find((item) => item.clientId === clientId);
  const lineStands = () => live.store.getState().link.kind === 'live';
  /** The message goes out when the relay is back, or shortly if the connection is up. */
  function waitWith(item: SendingToThread): void {
    note({ ...item, error: null, waits: true });
    device.after(AGAIN_MS, () => lineStands() && goOut(item.clientId));
  }
  function goOut(clientId: string): void {
    const item = find(clientId);
    if (item?.waits === true) void deliver(item);
  }

  async function deliver(item: SendingToThread) {
    note({ ...item, error: null, waits: false });
    const { clientId, text, mentions } = item;
    const sent = await reach((client) =>
      client.sendToThread({ threadId, body: { clientId, text, mentions: [...mentions] } }),
    );
    // A retry uses the same client id, so that a message that did arrive is not there twice.
    if (!sent.ok && isPassing(sent.problem)) return waitWith(item);
    if (!sent.ok) return note({ ...item, error: problemText(sent.problem), waits: false });
    const { value } = sent;
    // If it is the next in sequence, nothing in between has to be requested first.
    if (value.sequence === lastSequence() + 1) paged.amend(({ rows, more }) => ({ rows: [value, ...rows], more }));
    else if (value.sequence > lastSequence()) await paged.again();
    drop(clientId);
  }

  live.store.subscribe(({ link }, before) => {
    if (link.kind !== 'live' || before.link.kind === 'live') return;
    for (const { clientId } of store.getState().sending) goOut(clientId);
  });
  // A message of an earlier page whose outcome is unknown is sent once more. The relay accepts it
  // once.
  for (const item of store.getState().sending.filter(({ error }) => error === null))
    void (lineStands() ? deliver(item) : waitWith(item));
  device.browser.onGone((key) => {
    if (key.startsWith(unsentIn(threadId))) drop(key.slice(unsentIn(threadId).length));
  });

  return {
    store,
    subscribe: paged.subscribe,
    again: paged.again,
    pages: paged.pages,
    send: (text, mentions) =>
      deliver({ clientId: device.newId(), text, mentions, time: device.now(), after: lastSequence(), error: null }),
    async sendAgain(clientId) {
      const item = find(clientId);
      if (item) await deliver(item);
    },
    withdraw(clientId) {
      const text = find(clientId)?.text ?? '';
      drop(clientId);
      return text;
    },
  };
}

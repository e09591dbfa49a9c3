/**
 * The outbox holds every message of the person until the relay or the ledger has it, whether it
 * goes to an agent or into a thread. A message survives a reload in the browser's storage. It keeps
 * its client id, so that the relay accepts it once, even if several tabs send it.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Attachment } from '../../../shared/domain/attachment.ts';
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { PreparedFile } from '../attachments.ts';
import type { Live } from '../live.ts';
import type { Device } from '../ports.ts';

export type SendState =
  /** No relay has answered. The message is sent when one can be reached. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'sending' }
  /** The relay has it. It stays until it arrives as an event. */
  | { readonly kind: 'accepted' }
  /** The message is not sent again before the person asks for it. */
  | { readonly kind: 'refused'; readonly reason: string };

interface Written {
  readonly clientId: string;
  readonly text: string;
  /** ms since the epoch */
  readonly time: number;
  readonly state: SendState;
  /** A file that is not in the ledger yet carries its bytes. */
  readonly attachments: readonly Attachment[];
}

export interface MessageToAgent extends Written {
  readonly to: 'agent';
  readonly agentId: AgentId;
  /** The person's message that it replaces. */
  readonly replaces: string | null;
}

export interface MessageToThread extends Written {
  readonly to: 'thread';
  readonly threadId: ThreadId;
  /** Ids of the mentioned agents. */
  readonly mentions: readonly string[];
  /** The last known sequence when it was written. */
  readonly after: number;
}

export type Outgoing = MessageToAgent | MessageToThread;
/** What the person writes; the outbox adds the rest. */
type New<Message> = Message extends Outgoing ? Omit<Message, 'state' | 'time' | 'clientId'> : never;

/** The result of one attempt. `arrived`: the page shows the message elsewhere from now on. */
export type Outcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'arrived' }
  | { readonly kind: 'unanswered' }
  | { readonly kind: 'refused'; readonly reason: string };

export type OutboxEvent =
  | Outcome
  | { readonly kind: 'send' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'withdraw' };

/**
 * The state after `event`; null: the message leaves the outbox. An event that does not apply, such
 * as a second press or a late answer, returns the same state.
 */
export function transition(state: SendState, event: OutboxEvent): SendState | null {
  switch (event.kind) {
    case 'arrived':
      return null;
    case 'send':
      return state.kind === 'waiting' ? { kind: 'sending' } : state;
    case 'retry':
      return state.kind === 'refused' ? { kind: 'waiting' } : state;
    case 'withdraw':
      return state.kind === 'waiting' || state.kind === 'refused' ? null : state;
    case 'unanswered':
      return state.kind === 'sending' ? { kind: 'waiting' } : state;
    case 'accepted':
    case 'refused':
      return state.kind === 'sending' ? event : state;
    default:
      return event satisfies never;
  }
}

/** Makes one attempt. `update` replaces the message in the outbox, if it is still there. */
export type Deliver = (item: Outgoing, update: (item: Outgoing) => void) => Promise<Outcome>;

/** The text and files that go back into the field. */
export interface Withdrawn {
  readonly text: string;
  readonly files: readonly PreparedFile[];
}

export interface Outbox {
  /** In the order in which they were written. */
  readonly store: StoreApi<{ readonly items: readonly Outgoing[] }>;
  /** Sends a message. Resolves after the first attempt. */
  send(message: New<Outgoing>, clientId?: string): Promise<void>;
  /** Adds a message of an earlier page, and sends it unless it was refused. */
  restore(item: Outgoing): void;
  /** Sends a refused message again. */
  retry(clientId: string): Promise<void>;
  /** Removes a message that is not being sent. null: it is, or it has left. */
  withdraw(clientId: string): Withdrawn | null;
  /** Removes messages that are shown elsewhere now, or have nobody to go to. */
  remove(isOver: (item: Outgoing) => boolean): void;
  /** Removes messages that are among these documents. */
  take(docs: readonly Doc[]): void;
}

/** Prefix of the messages in the browser's storage. */
export const UNSENT = 'roost-unsent';
export const keyOf = (clientId: string): string => `${UNSENT}:${clientId}`;
export const DRAFT_FILES = 'roost-draft-files:';
/** Entries with these prefixes may reference files on the shelf. */
export const NAMES_FILES = [UNSENT, DRAFT_FILES];
/** The bytes are on the shelf, or in the ledger. */
export const withoutData = (key: string, value: unknown): unknown => (key === 'data' ? undefined : value);

/** A file that is not in the ledger yet. */
export const isPrepared = (file: Attachment): file is PreparedFile => 'data' in file;

const UNANSWERED: Outcome = { kind: 'unanswered' };
/** ms until the next attempt, if the relay is reachable but has not answered. */
const AGAIN_MS = 5_000;

interface OutboxDeps {
  readonly device: Pick<Device, 'after' | 'browser' | 'newId' | 'now'>;
  readonly live: Pick<Live, 'store'>;
  readonly deliver: Deliver;
}

export function createOutbox({ device, live, deliver }: OutboxDeps): Outbox {
  const { browser } = device;
  const store = createStore<{ readonly items: readonly Outgoing[] }>()(() => ({ items: [] }));
  /** New files by client id. They go back into the field with the text. */
  const files = new Map<string, readonly PreparedFile[]>();
  const find = (clientId: string) => store.getState().items.find((item) => item.clientId === clientId);

  function put(item: Outgoing): void {
    const { items } = store.getState();
    const at = items.findIndex(({ clientId }) => clientId === item.clientId);
    store.setState({ items: at < 0 ? [...items, item] : items.with(at, item) });
    browser.write(keyOf(item.clientId), JSON.stringify(item, withoutData));
  }
  function remove(isOver: (item: Outgoing) => boolean): void {
    const over = store.getState().items.filter(isOver);
    if (over.length === 0) return;
    for (const { clientId } of over) {
      browser.write(keyOf(clientId), '');
      files.delete(clientId);
    }
    store.setState(({ items }) => ({ items: items.filter((item) => !over.includes(item)) }));
  }

  /** False: the event changes nothing. */
  function apply(clientId: string, event: OutboxEvent): boolean {
    const item = find(clientId);
    const next = item && transition(item.state, event);
    if (!item || next === undefined || next === item.state) return false;
    if (next === null) remove((other) => other === item);
    else put({ ...item, state: next });
    return true;
  }
  async function attempt(clientId: string): Promise<void> {
    const item = apply(clientId, { kind: 'send' }) ? find(clientId) : undefined;
    if (!item) return;
    // A part of the page that cannot be loaded is as a relay that does not answer.
    const outcome = await deliver(item, (next) => find(clientId) && put(next)).catch(() => UNANSWERED);
    apply(clientId, outcome);
    if (outcome.kind === 'unanswered')
      device.after(AGAIN_MS, () => live.store.getState().link.kind === 'live' && void attempt(clientId));
  }
  function add(item: Outgoing): void {
    const prepared = item.attachments.filter(isPrepared);
    if (prepared.length > 0) files.set(item.clientId, prepared);
    put(item);
  }

  live.store.subscribe(({ link }, before) => {
    if (link.kind !== 'live' || before.link.kind === 'live') return;
    for (const { clientId } of store.getState().items) void attempt(clientId);
  });
  // Another tab may have the same message. When it is done there, it is done here.
  browser.onGone((key) => remove(({ clientId }) => keyOf(clientId) === key));

  return {
    store,
    async send(message, clientId = device.newId()) {
      add({ ...message, clientId, time: device.now(), state: { kind: 'waiting' } });
      await attempt(clientId);
    },
    restore(item) {
      if (find(item.clientId)) return;
      add(item);
      void attempt(item.clientId);
    },
    async retry(clientId) {
      apply(clientId, { kind: 'retry' });
      await attempt(clientId);
    },
    withdraw(clientId) {
      const text = find(clientId)?.text ?? '';
      const taken = { text, files: files.get(clientId) ?? [] };
      return apply(clientId, { kind: 'withdraw' }) ? taken : null;
    },
    remove,
    take(docs) {
      const there = new Set(
        docs.flatMap((doc) =>
          isKnown(doc) && (doc.type === 'message' || doc.type === 'queued-message') ? [doc.clientId] : [],
        ),
      );
      if (there.size > 0) remove(({ clientId }) => there.has(clientId));
    },
  };
}

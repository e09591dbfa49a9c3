/**
 * Processes the relay's events in the data worker. The feed passes each event on at once, then
 * stores its documents, then acknowledges it.
 *
 * The feed acknowledges only what is stored. The cursor that survives a restart is the acknowledged
 * one, so an answer that is still open comes again from its first word.
 */
import type { Block, Doc, QueuedMessageDoc } from '../protocol/documents.ts';
import type { RoostEvent, Snapshot, StoredEvent } from '../protocol/events.ts';
import { whereAlone } from '../domain/lifecycle.ts';
import type { MessageId } from '../domain/ids.ts';
import type { LinkState, OpenAnswer, WorkerNews } from '../protocol/worker.ts';
import { errorMessage } from '../domain/platform/error-message.ts';
import { sentence } from '../domain/names.ts';
import type { Attachment, SentAttachment } from '../domain/attachment.ts';
import { LEAD_ID } from '../domain/seat.ts';
import { createAckMark, documentsOf } from '../protocol/intake.ts';
import { applyEvent } from '../protocol/live.ts';
import type { searchEndpoints } from '../protocol/endpoints/threads.ts';
import type { sessionEndpoints } from '../protocol/endpoints/session.ts';
import { CANNOT_SEARCH, type SearchAnswered, type SearchAsked } from '../protocol/search.ts';
import { sleep, type Timers } from '../domain/platform/timers.ts';
import type { RelayClient } from './client.ts';
import type { Cursor, EventStream, StreamItem } from './event-stream.ts';
import { RELAY_TIMES } from './settings.ts';

// Answers that agents are writing, assembled from the events so far.

interface OpenAnswers {
  take(event: RoostEvent): void;
  /** Drops all answers but these. The relay knows of no others. */
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

/** A tool call arrives twice: when it begins, and with its result. */
function withTool(blocks: readonly Block[], block: Block): readonly Block[] {
  const at = blocks.findIndex(
    (held) => held.kind === 'tool' && block.kind === 'tool' && held.toolUseId === block.toolUseId,
  );
  return at < 0 ? [...blocks, block] : blocks.with(at, block);
}

function createOpenAnswers(): OpenAnswers {
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

interface FeedDeps {
  readonly cursor: Cursor | null;
  /**
   * No household lives in this browser yet. Its events may belong to a team that lives elsewhere.
   * Before `settle` nothing is passed on, stored or acknowledged.
   */
  readonly vacant: boolean;
  /**
   * The household that this browser is a device of. Null: none. Events of another household's home
   * are not its own.
   */
  readonly household: string | null;
  readonly openStream: (cursor: Cursor | null, listener: (item: StreamItem) => void) => EventStream;
  readonly client: Pick<
    RelayClient<typeof sessionEndpoints & typeof searchEndpoints>,
    'ack' | 'postMessage' | 'answerSearch'
  >;
  /** Searches this browser's ledger for an agent. */
  readonly search: (asked: SearchAsked) => Promise<SearchAnswered>;
  /** Resolves when the documents are durable. */
  readonly store: (docs: readonly Doc[]) => Promise<unknown>;
  readonly saveCursor: (cursor: Cursor) => Promise<void>;
  /** Messages that were written while no session could take them, oldest first. */
  readonly queued: () => Promise<readonly QueuedMessageDoc[]>;
  /** A file that goes with one of these messages. Null: not all of it is on this device. */
  readonly attachment: (file: Attachment) => Promise<SentAttachment | null>;
  readonly timers: Timers;
  readonly tell: (news: Extract<WorkerNews, { news: 'link' | 'event' | 'waiting' | 'moved' }>) => void;
  /**
   * Why events cannot be read or stored, as a sentence. Null when that is over. Nothing is lost
   * meanwhile.
   */
  readonly onTrouble: (trouble: string | null) => void;
}

export interface Feed {
  link(): LinkState;
  snapshot(): Snapshot | null;
  answers(): readonly OpenAnswer[];
  reconnect(): void;
  /** This browser has another sign-in now. The feed follows that sign-in's home. */
  restart(): void;
  /**
   * A household lives in this browser from now on. The feed processes its log from the first event.
   */
  occupied(): void;
  /** Sets the household that this browser is a device of. Null: none. */
  belongs(household: string | null): void;
  /**
   * Resolves with true once everything received until now is stored, or with false as soon as it
   * cannot be stored for now.
   */
  stored(): Promise<boolean>;
  /** Sends the queued messages, where a session runs. */
  deliver(): void;
  close(): void;
}

export function createFeed(deps: FeedDeps): Feed {
  const { client, timers, tell } = deps;
  const answers = createOpenAnswers();
  let link: LinkState = { kind: 'connecting' };
  let snapshot: Snapshot | null = null;
  let log = deps.cursor?.log ?? '';
  let own = deps.household;
  let homeOf: string | null = null;
  let mark = createAckMark();
  let { cursor } = deps;
  let acknowledged = cursor?.after ?? 0;
  let pending: { readonly log: string; readonly stored: StoredEvent }[] = [];
  let storing = false;
  /** Events received to be stored since the feed began, and how many of them are stored. */
  let received = 0;
  let kept = 0;
  /** The last attempt to store failed. */
  let cannotStore = false;
  let waitingForStore: { readonly upTo: number; readonly resolve: (stored: boolean) => void }[] = [];
  let cancelAck: (() => void) | null = null;
  let delivering = false;
  let deliverAgain = false;
  const delivered = new Set<string>();
  let closed = false;
  let vacant = deps.vacant;
  let [passedOver, moved] = [false, false];
  /** An event was skipped, as a sentence. It stays until the page is reloaded. */
  let leftOut: string | null = null;

  const elsewhere = () => homeOf !== null && own !== null && homeOf !== own;
  const apart = () => vacant || elsewhere();

  /** The received events belong to another household and are no longer passed on. */
  function standApart() {
    passedOver = true;
    pending = [];
    kept = received;
    tellStored();
    cancelAck?.();
    cancelAck = null;
    answers.clear();
    if (link.kind === 'live') setLink({ kind: 'elsewhere' }, null);
  }

  /** Processes the skipped events after all, from the last stored one on. */
  function goBack() {
    if (closed || apart() || !passedOver) return;
    passedOver = false;
    leftOut = null;
    stream.close();
    log = cursor?.log ?? '';
    mark = createAckMark();
    acknowledged = cursor?.after ?? 0;
    stream = deps.openStream(cursor, hear);
  }

  function scheduleAck() {
    if (cancelAck || closed || elsewhere() || mark.upTo() <= acknowledged) return;
    cancelAck = timers.after(RELAY_TIMES.ackDebounce, () => {
      cancelAck = null;
      void sendAck();
    });
  }

  async function sendAck() {
    const upTo = mark.upTo();
    const of = log;
    if (upTo <= acknowledged) return;
    cursor = { log: of, after: upTo };
    await deps.saveCursor(cursor);
    const result = await client.ack({ body: { upTo } });
    // If this call failed, the next stored event or the next connection sends the acknowledgement
    // again.
    if (result.ok && of === log) acknowledged = Math.max(acknowledged, upTo);
  }

  async function storeAll(docs: readonly Doc[]) {
    for (let failed = false; !closed; failed = true) {
      try {
        if (docs.length > 0) await deps.store(docs);
        cannotStore = false;
        if (failed) deps.onTrouble(leftOut);
        return;
      } catch (error) {
        cannotStore = true;
        tellStored();
        deps.onTrouble(sentence`What the relay sent could not be stored yet: ${errorMessage(error)}`);
        await sleep(timers.after, RELAY_TIMES.storeRetry);
      }
    }
  }

  function tellStored() {
    const isOver = ({ upTo }: { readonly upTo: number }) => cannotStore || closed || upTo <= kept;
    const over = waitingForStore.filter(isOver);
    waitingForStore = waitingForStore.filter((one) => !isOver(one));
    for (const { upTo, resolve } of over) resolve(upTo <= kept);
  }

  async function storePending() {
    if (storing) return;
    storing = true;
    while (pending.length > 0 && !closed) {
      const batch = pending;
      const upTo = received;
      pending = [];
      await storeAll(batch.flatMap(({ stored }) => documentsOf(stored)));
      for (const item of batch) if (item.log === log) mark.take(item.stored);
      if (!closed) kept = Math.max(kept, upTo);
      tellStored();
      scheduleAck();
    }
    storing = false;
  }

  async function deliverAll() {
    deliverAgain = true;
    if (delivering) return;
    delivering = true;
    try {
      while (deliverAgain) {
        deliverAgain = false;
        await deliverOnce();
      }
    } finally {
      delivering = false;
    }
  }

  async function deliverOnce() {
    for (const { text, agentId, clientId, attachments = [] } of await deps.queued()) {
      if (!snapshot?.session || delivered.has(clientId)) continue;
      const along = await Promise.all(attachments.map(deps.attachment));
      // The device that wrote the message has the files and sends it.
      if (along.includes(null)) continue;
      const result = await client.postMessage({
        body: {
          text,
          clientId,
          ...(along.length > 0 ? { attachments: along.flatMap((file) => file ?? []) } : {}),
          ...(agentId === LEAD_ID ? {} : { to: agentId }),
        },
      });
      if (result.ok) delivered.add(clientId);
    }
  }

  /** A refusal means that another page was quicker. */
  async function answerSearch(asked: SearchAsked) {
    const body = apart() ? CANNOT_SEARCH : await deps.search(asked).catch(() => CANNOT_SEARCH);
    await client.answerSearch({ searchId: asked.searchId, body });
  }

  function setLink(next: LinkState, state: Snapshot | null) {
    link = next;
    snapshot = state;
    tell({ news: 'link', link, snapshot });
  }

  function hear(item: StreamItem) {
    switch (item.kind) {
      case 'new-log':
        log = item.log;
        mark = createAckMark();
        acknowledged = 0;
        passedOver = false;
        leftOut = null;
        answers.clear();
        return;
      case 'home':
        homeOf = item.household;
        if (elsewhere()) standApart();
        // A browser without a household had no home that could move.
        else if (moved && !vacant) tell({ news: 'moved' });
        return void (moved = false);
      case 'event':
        if (snapshot) snapshot = applyEvent(snapshot, item.stored);
        if (apart()) return void (passedOver = true);
        answers.take(item.stored.event);
        tell({ news: 'event', stored: item.stored });
        received += 1;
        pending.push({ log, stored: item.stored });
        void storePending();
        if (item.stored.event.kind === 'session-started') void deliverAll();
        return;
      case 'set-aside':
        if (apart()) return void (passedOver = true);
        // The event is not acknowledged. A page that can read it gets it later, and all that
        // follow.
        mark.hold(item.id);
        leftOut = sentence`The relay sent something that this page cannot read, and leaves out; reload the page. (${item.detail})`;
        return deps.onTrouble(leftOut);
      case 'live':
        deps.onTrouble(leftOut);
        if (elsewhere()) return setLink({ kind: 'elsewhere' }, null);
        answers.keep(item.snapshot.answering.map(({ messageId }) => messageId));
        // The link does not change from poll to poll, so listeners are not notified again.
        if (item.held && link.kind === 'live' && link.held) snapshot = item.snapshot;
        else setLink({ kind: 'live', ...(item.held ? { held: true } : {}) }, item.snapshot);
        scheduleAck();
        void deliverAll();
        return;
      case 'waiting':
        return elsewhere() ? undefined : tell({ news: 'waiting', waiting: item.waiting });
      case 'database':
        if (link.kind !== 'live') return;
        setLink(
          {
            kind: 'live',
            ...(link.held ? { held: true } : {}),
            ...(item.away ? { databaseAway: true } : {}),
          },
          snapshot,
        );
        // Send what could not be taken meanwhile.
        if (!item.away) void deliverAll();
        return;
      case 'search':
        void answerSearch(item.asked);
        return;
      case 'unreadable':
      case 'failed':
        deps.onTrouble(
          item.kind === 'failed'
            ? sentence`This page failed to process what the relay sent; reload the page. (${item.detail})`
            : sentence`The relay sent something that this page cannot read; reload the page. (${item.detail})`,
        );
        return setLink({ kind: 'lost', reason: 'failed' }, null);
      case 'moved':
        moved = true;
        return setLink({ kind: 'connecting' }, null);
      case 'connecting':
      case 'lost':
      case 'locked-out':
        setLink(item, null);
        return;
      default:
        item satisfies never;
    }
  }

  let stream = deps.openStream(deps.cursor, hear);
  return {
    link: () => link,
    snapshot: () => snapshot,
    answers: () => answers.list(),
    reconnect: () => stream.reconnect(),
    restart: () => stream.restart(),
    occupied() {
      if (!vacant || closed) return;
      vacant = false;
      goBack();
    },
    belongs(household) {
      if (own === household) return;
      own = household;
      (elsewhere() ? standApart : goBack)();
    },
    stored: () =>
      new Promise((resolve) => {
        waitingForStore.push({ upTo: received, resolve });
        tellStored();
      }),
    deliver: () => void deliverAll(),
    close() {
      closed = true;
      tellStored();
      cancelAck?.();
      stream.close();
    },
  };
}

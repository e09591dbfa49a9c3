/**
 * Processes the relay's events in the data worker. The feed passes each event on at once, and hands
 * it to the intake, which stores and acknowledges it. Its state is a fold over the stream's items.
 */
import type { Attachment, SentAttachment } from '../domain/attachment.ts';
import { sentence } from '../domain/names.ts';
import { runAgain } from '../domain/platform/single-flight.ts';
import type { QueuedMessageDoc } from '../protocol/documents.ts';
import type { sessionEndpoints } from '../protocol/endpoints/session.ts';
import type { searchEndpoints } from '../protocol/endpoints/threads.ts';
import type { Snapshot } from '../protocol/events.ts';
import { applyEvent } from '../protocol/live.ts';
import { applyToAnswers, NO_ANSWERS, onlyAnswers } from '../protocol/open-answers.ts';
import { CANNOT_SEARCH, type SearchAnswered, type SearchAsked } from '../protocol/search.ts';
import type { LinkState, OpenAnswer, Undelivered, WorkerNews } from '../protocol/worker.ts';
import type { RelayClient } from './client.ts';
import { createEventIntake, type EventIntakeDeps } from './event-intake.ts';
import type { Cursor, EventStream, StreamItem } from './event-stream.ts';
import { messageBody } from './message-body.ts';

export interface FeedState {
  readonly link: LinkState;
  /** Known while the link is live. */
  readonly snapshot: Snapshot | null;
  /**
   * No household lives in this browser yet. The events may belong to a team that lives elsewhere,
   * and none is passed on, stored or acknowledged.
   */
  readonly vacant: boolean;
  /** The household that this browser is a device of. Null: none. */
  readonly own: string | null;
  /** The household that the stream belongs to. Null: none has proven it. */
  readonly home: string | null;
  /** Events were not passed on. */
  readonly skipped: boolean;
  /** The sign-in has just moved to another home, and its stream has not begun. */
  readonly moved: boolean;
  /** An event could not be read and was left out, as a sentence. */
  readonly leftOut: string | null;
}

/** What changes the state of a feed, besides the items of its stream. */
export type FeedInput =
  | StreamItem
  | { readonly kind: 'occupied' }
  | { readonly kind: 'belongs'; readonly household: string | null }
  /** The skipped events are read again. */
  | { readonly kind: 'reopened' };

/** Do the events belong to another household's home? */
const isElsewhere = ({ home, own }: FeedState): boolean => home !== null && own !== null && home !== own;
/** Are the events not this browser's own? */
export const isApart = (state: FeedState): boolean => state.vacant || isElsewhere(state);

/** Events of another household's home are not passed on any more. */
const withPlace = (state: FeedState): FeedState =>
  isElsewhere(state)
    ? {
        ...state,
        skipped: true,
        ...(state.link.kind === 'live' ? { link: { kind: 'elsewhere' }, snapshot: null } : {}),
      }
    : state;

function goLive(state: FeedState, { held, snapshot }: Extract<StreamItem, { kind: 'live' }>): FeedState {
  if (isElsewhere(state)) return { ...state, link: { kind: 'elsewhere' }, snapshot: null };
  // The link does not change from poll to poll, so listeners are not notified again.
  if (held && state.link.kind === 'live' && state.link.held) return { ...state, snapshot };
  return { ...state, link: { kind: 'live', ...(held ? { held } : {}) }, snapshot };
}

/** The state after one more input. Listeners are notified of every new `link`. */
export function transition(state: FeedState, input: FeedInput): FeedState {
  switch (input.kind) {
    case 'new-log':
    case 'reopened':
      return { ...state, skipped: false, leftOut: null };
    case 'home':
      return withPlace({ ...state, home: input.household, moved: false });
    case 'belongs':
      return withPlace({ ...state, own: input.household });
    case 'occupied':
      return { ...state, vacant: false };
    case 'event': {
      const snapshot = state.snapshot && applyEvent(state.snapshot, input.stored);
      return { ...state, snapshot, skipped: state.skipped || isApart(state) };
    }
    case 'set-aside':
      if (isApart(state)) return { ...state, skipped: true };
      return {
        ...state,
        leftOut: sentence`This page cannot read what the relay sent. Reload the page. (${input.detail})`,
      };
    case 'live':
      return goLive(state, input);
    case 'database': {
      if (state.link.kind !== 'live') return state;
      const held = state.link.held ? { held: true as const } : {};
      return { ...state, link: { kind: 'live', ...held, ...(input.away ? { databaseAway: true } : {}) } };
    }
    case 'moved':
      return { ...state, moved: true, link: { kind: 'connecting' }, snapshot: null };
    case 'unreadable':
    case 'failed':
      return { ...state, link: { kind: 'lost', reason: 'failed' }, snapshot: null };
    case 'connecting':
    case 'lost':
    case 'locked-out':
      return { ...state, link: input, snapshot: null };
    case 'waiting':
    case 'search':
      return state;
    default:
      return input satisfies never;
  }
}

type Kept = Pick<EventIntakeDeps, 'cursor' | 'saveCursor' | 'store' | 'timers'>;

interface FeedDeps extends Kept, Pick<FeedState, 'vacant'> {
  /** The household that this browser is a device of. Null: none. */
  readonly household: string | null;
  readonly openStream: (cursor: Cursor | null, listener: (item: StreamItem) => void) => EventStream;
  readonly client: Pick<
    RelayClient<typeof sessionEndpoints & typeof searchEndpoints>,
    'ack' | 'postMessage' | 'answerSearch'
  >;
  /** Searches this browser's ledger for an agent. */
  readonly search: (asked: SearchAsked) => Promise<SearchAnswered>;
  /** Messages that were written while no session could take them, oldest first. */
  readonly queued: () => Promise<readonly QueuedMessageDoc[]>;
  /** A file that goes with one of these messages. Null: not all of it is on this device. */
  readonly attachment: (file: Attachment) => Promise<SentAttachment | null>;
  readonly tell: (news: Extract<WorkerNews, { news: 'link' | 'event' | 'waiting' | 'moved' | 'undelivered' }>) => void;
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

/** Refusals that end by themselves. */
const LATER = ['about:roost/no-session', 'about:roost/database-away'];

/** Sends messages that waited in the ledger for a session, each once. */
function createQueuedDelivery(
  { queued, attachment, client, tell }: Pick<FeedDeps, 'queued' | 'attachment' | 'client' | 'tell'>,
  hasSession: () => boolean,
): () => Promise<void> {
  const delivered = new Set<string>();
  let hadRefusals = false;
  return runAgain(async () => {
    const refusals: Undelivered[] = [];
    for (const { text, agentId, clientId, attachments = [] } of await queued()) {
      if (!hasSession() || delivered.has(clientId)) continue;
      const files = await Promise.all(attachments.map(attachment));
      // The device that wrote the message has the files and sends it.
      if (files.includes(null)) continue;
      const body = messageBody(
        agentId,
        { text, clientId },
        files.flatMap((file) => file ?? []),
      );
      const result = await client.postMessage({ body });
      if (result.ok) delivered.add(clientId);
      else if (result.problem.kind === 'refused' && !LATER.includes(result.problem.problem.type)) {
        const { message, problem } = result.problem;
        refusals.push({ clientId, message, type: problem.type });
      }
    }
    if (refusals.length > 0 || hadRefusals) tell({ news: 'undelivered', refusals });
    hadRefusals = refusals.length > 0;
  });
}

export function createFeed(deps: FeedDeps): Feed {
  const { client, onTrouble, tell } = deps;
  let closed = false;
  let answers = NO_ANSWERS;
  let state: FeedState = {
    link: { kind: 'connecting' },
    snapshot: null,
    vacant: deps.vacant,
    own: deps.household,
    home: null,
    skipped: false,
    moved: false,
    leftOut: null,
  };
  const intake = createEventIntake({
    ...deps,
    ack: (upTo) => client.ack({ body: { upTo } }),
    mayAcknowledge: () => !isElsewhere(state),
    onTrouble: (trouble) => onTrouble(trouble ?? state.leftOut),
  });
  const deliver = createQueuedDelivery(deps, () => Boolean(state.snapshot?.session));

  /** Changes the state and notifies listeners of a new link. Returns the state before. */
  function apply(input: FeedInput): FeedState {
    const before = state;
    state = transition(before, input);
    if (state.link !== before.link) tell({ news: 'link', link: state.link, snapshot: state.snapshot });
    return before;
  }

  /** Drops another household's events, or reads again what was skipped of this browser's own. */
  function followPlace(): void {
    if (isElsewhere(state)) {
      intake.drop();
      answers = NO_ANSWERS;
    } else if (!closed && !isApart(state) && state.skipped) {
      apply({ kind: 'reopened' });
      stream.close();
      const cursor = intake.cursor();
      intake.begin(cursor?.log ?? '', cursor?.after ?? 0);
      stream = deps.openStream(cursor, hear);
    }
  }

  /** A refusal means that another page was quicker. */
  async function answerSearch(asked: SearchAsked) {
    const body = isApart(state) ? CANNOT_SEARCH : await deps.search(asked).catch(() => CANNOT_SEARCH);
    await client.answerSearch({ searchId: asked.searchId, body });
  }

  function hear(item: StreamItem): void {
    const before = apply(item);
    switch (item.kind) {
      case 'new-log':
        intake.begin(item.log, 0);
        answers = NO_ANSWERS;
        return;
      case 'home':
        if (isElsewhere(state)) return followPlace();
        // A browser without a household had no home that could move.
        if (before.moved && !state.vacant) tell({ news: 'moved' });
        return;
      case 'event':
        if (isApart(state)) return;
        answers = applyToAnswers(answers, item.stored.event);
        tell({ news: 'event', stored: item.stored });
        intake.take(item.stored);
        if (item.stored.event.kind === 'session-started') void deliver();
        return;
      case 'set-aside':
        if (isApart(state)) return;
        // A page that can read the event gets it later, and all that follow.
        intake.hold(item.id);
        return onTrouble(state.leftOut);
      case 'live': {
        onTrouble(state.leftOut);
        if (isElsewhere(state)) return;
        const open = new Set(item.snapshot.answering.map(({ messageId }) => messageId));
        answers = onlyAnswers(answers, (messageId) => open.has(messageId));
        intake.acknowledge();
        return void deliver();
      }
      case 'database':
        // Send what could not be taken meanwhile.
        if (state.link.kind === 'live' && !item.away) void deliver();
        return;
      case 'waiting':
        if (!isElsewhere(state)) tell({ news: 'waiting', waiting: item.waiting });
        return;
      case 'search':
        return void answerSearch(item.asked);
      case 'unreadable':
      case 'failed':
        return onTrouble(sentence`This page cannot read what the relay sent. Reload the page. (${item.detail})`);
      default:
        return;
    }
  }

  let stream = deps.openStream(deps.cursor, hear);
  return {
    link: () => state.link,
    snapshot: () => state.snapshot,
    answers: () => [...answers.values()],
    reconnect: () => stream.reconnect(),
    restart: () => stream.restart(),
    occupied() {
      if (!state.vacant || closed) return;
      apply({ kind: 'occupied' });
      followPlace();
    },
    belongs(household) {
      if (state.own === household) return;
      apply({ kind: 'belongs', household });
      followPlace();
    },
    stored: intake.stored,
    deliver: () => void deliver(),
    close() {
      closed = true;
      intake.close();
      stream.close();
    },
  };
}

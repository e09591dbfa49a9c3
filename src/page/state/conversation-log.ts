/**
 * The items of a conversation in order, from the loaded messages. Adds days, sleeps and messages
 * that are still being sent. Pure.
 */
import { aloneIn, asleepFrom } from '../../shared/domain/lifecycle.ts';
import { isNews, wholeAt } from '../../shared/domain/read-marks.ts';
import type { EndReason, MessageDoc, QueuedMessageDoc } from '../../shared/protocol/documents.ts';
import type { MessageId, SessionId } from '../../shared/domain/ids.ts';
import type { ThreadMessage } from '../../shared/protocol/threads.ts';
import type { MessageToAgent, Outgoing } from './outbox/index.ts';
import { type RunSpan, type SessionSpan, unknownRun } from './live.ts';

/** `inbox`: until the agent reads its inbox. `answer`: until the running answer is done. */
export type Waits = 'inbox' | 'answer';

export type LogItem =
  | { readonly kind: 'day'; readonly key: string; readonly time: number }
  /** The items below are new to the person. */
  | { readonly kind: 'new'; readonly key: string }
  /** The agent slept between two messages. `until` is null if it has not woken since. */
  | {
      readonly kind: 'sleep';
      readonly key: string;
      readonly from: number;
      readonly until: number | null;
      readonly reason: EndReason | null;
    }
  /** The messages below were said outside a session: what started the run, and how it ended. */
  | { readonly kind: 'run'; readonly key: string; readonly run: RunSpan }
  | { readonly kind: 'message'; readonly key: string; readonly message: MessageDoc; readonly waits: Waits | null }
  /** A message in a thread. */
  | { readonly kind: 'said'; readonly key: string; readonly message: ThreadMessage }
  | { readonly kind: 'open'; readonly key: string; readonly messageId: MessageId }
  | { readonly kind: 'queued'; readonly key: string; readonly message: QueuedMessageDoc }
  | { readonly kind: 'sending'; readonly key: string; readonly sending: Outgoing };

/**
 * Tells whether two times are on one day in the reader's time zone. Asked in order, it consults the
 * calendar once per day.
 */
function createDays(): (a: number, b: number) => boolean {
  let from = 0;
  let until = 0;
  return (a, b) => {
    if (a < from || a >= until) {
      const day = new Date(a);
      from = day.setHours(0, 0, 0, 0);
      until = day.setDate(day.getDate() + 1);
    }
    return b >= from && b < until;
  };
}

/** Did this message wait in the inbox of a sleeping agent? */
export const waited = (message: MessageDoc) => message['waiting'] === true;

export interface LogInput {
  readonly messages: readonly MessageDoc[];
  readonly spans: ReadonlyMap<string, SessionSpan>;
  /** Runs of the messages that were said outside a session. */
  readonly runs: ReadonlyMap<string, RunSpan>;
  readonly read: ReadonlySet<string>;
  /** Streaming answers, in the order in which they began. */
  readonly open: readonly { readonly messageId: MessageId; readonly startedAt: number; readonly aloneIn?: string }[];
  readonly queued: readonly QueuedMessageDoc[];
  readonly sending: readonly MessageToAgent[];
  /** The running session, or null. */
  readonly liveSessionId: SessionId | null;
  /** The agent of this conversation sleeps, and no wake is in progress. */
  readonly asleep: boolean;
  /** The stamp after which messages are new; null: nothing is new. */
  readonly newFrom: string | null;
}

/** Hides the messages that a running edit will replace. */
function withoutReplaced(messages: readonly MessageDoc[], sending: readonly MessageToAgent[]): readonly MessageDoc[] {
  const replaced = new Set(
    sending.flatMap(({ replaces, state }) => (replaces !== null && state.kind !== 'refused' ? [replaces] : [])),
  );
  if (replaced.size === 0) return messages;
  const cut = messages.findIndex((message) => replaced.has(message.messageId));
  return cut < 0 ? messages : messages.slice(0, cut);
}

/** Summaries with the text of their correction, so that each stays the same object. */
const corrected = new WeakMap<MessageDoc, MessageDoc>();
function correctedBy(summary: MessageDoc, correction: MessageDoc): MessageDoc {
  const corrections = corrected.get(correction);
  if (corrections) return corrections;
  const made = { ...summary, blocks: correction.blocks };
  corrected.set(correction, made);
  return made;
}
/** Shows the newest correction of a summary in the place of the summary. */
function withCorrections(messages: readonly MessageDoc[]): readonly MessageDoc[] {
  const corrections = new Map(
    messages.flatMap((message) => {
      const { corrects } = message.compaction ?? {};
      return corrects === undefined ? [] : [[corrects, message] as const];
    }),
  );
  if (corrections.size === 0) return messages;
  return messages
    .filter(({ compaction }) => compaction?.corrects === undefined)
    .map((message) => {
      const correction = corrections.get(message.messageId);
      return correction ? correctedBy(message, correction) : message;
    });
}

export function logItems(input: LogInput): LogItem[] {
  const { spans, runs, read, queued, sending, liveSessionId, asleep, newFrom } = input;
  const open = [...input.open];
  const messages = withCorrections(withoutReplaced(input.messages, sending));
  const sameDay = createDays();
  const items: LogItem[] = [];
  let before: MessageDoc | null = null;
  /** The session of the latest message, and its time. */
  let talkedIn: string | null = null;
  let talkedAt = -Infinity;
  /** The run announced last, while the messages belong to it. */
  let announced: string | null = null;
  // If a clock went back, an earlier day must not begin below a later one.
  let latest = -Infinity;
  /** The last announced sleep is still in progress. */
  let sleepsOn = false;
  /**
   * Puts dividers for days and sleeps before the next item. An unread inbox message woke nobody.
   */
  function part(
    next: {
      readonly messageId: MessageId;
      readonly sessionId: SessionId | null;
      readonly run: string | null;
      readonly time: number;
    },
    waits = false,
  ) {
    if (talkedIn !== null && next.sessionId !== null && talkedIn !== next.sessionId) {
      const end = spans.get(talkedIn)?.end ?? null;
      const until = Math.min(spans.get(next.sessionId)?.startedAt ?? next.time, next.time);
      // Time it worked in a run is not time asleep.
      const from = Math.max(
        asleepFrom(talkedAt, end) ?? talkedAt,
        announced === null ? -Infinity : (before?.time ?? -Infinity),
      );
      if (!(waits && sleepsOn))
        items.push({
          kind: 'sleep',
          key: `sleep:${next.messageId}`,
          from,
          until: waits ? null : Math.max(from, until),
          reason: end?.reason ?? null,
        });
      sleepsOn = waits;
    } else if (!before || (next.time > latest && !sameDay(latest, next.time)))
      items.push({ kind: 'day', key: `day:${next.messageId}`, time: next.time });
    if (next.run !== null && next.run !== announced)
      items.push({ kind: 'run', key: `run:${next.messageId}`, run: runs.get(next.run) ?? unknownRun(next.run) });
    announced = next.run;
  }
  /** An answer stands where it began. Messages written later stand below it. */
  function openUpTo(time: number) {
    while (open[0] && open[0].startedAt < time) {
      const { messageId, startedAt, aloneIn: run = null } = open[0];
      open.shift();
      part({ messageId, sessionId: run === null ? liveSessionId : null, run, time: startedAt });
      items.push({ kind: 'open', key: messageId, messageId });
      begun += 1;
    }
  }
  let begun = 0;
  let lined = false;
  for (const message of messages) {
    const run = aloneIn(message);
    if (run !== null || message.sessionId === liveSessionId) openUpTo(message.time);
    const unread = waited(message) && !read.has(message.messageId);
    // The open answer's divider is not repeated.
    const { messageId, sessionId, time } = message;
    if (begun === 0) part({ messageId, sessionId, run, time }, unread);
    if (!lined && newFrom !== null && wholeAt(message) > newFrom && isNews(message)) {
      items.push({ kind: 'new', key: 'new' });
      lined = true;
    }
    const waits = unread ? 'inbox' : begun > 0 && message.author === 'human' ? 'answer' : null;
    items.push({ kind: 'message', key: message.clientId ?? message.messageId, message, waits });
    before = message;
    if (sessionId !== null) {
      talkedIn = sessionId;
      talkedAt = time;
    }
    latest = Math.max(latest, message.time);
  }
  openUpTo(Infinity);
  if (before && asleep && !sleepsOn && begun === 0 && (announced !== null || before.sessionId !== liveSessionId)) {
    const end = announced === null ? (spans.get(before.sessionId ?? '')?.end ?? null) : null;
    const run = announced === null ? null : (runs.get(announced)?.end ?? null);
    if (run) items.push({ kind: 'sleep', key: 'asleep-now', from: run.endedAt, until: null, reason: null });
    if (end)
      items.push({
        kind: 'sleep',
        key: 'asleep-now',
        from: asleepFrom(talkedAt, end) ?? talkedAt,
        until: null,
        reason: end.reason,
      });
  }
  if (queued.length === 0 && sending.length === 0) return items;
  const clientIds = new Set(input.messages.flatMap((message) => message.clientId ?? []));
  for (const message of queued)
    if (!clientIds.has(message.clientId)) items.push({ kind: 'queued', key: message.clientId, message });
  const kept = new Set(queued.map((message) => message.clientId));
  for (const item of sending)
    if (!clientIds.has(item.clientId) && !kept.has(item.clientId))
      items.push({ kind: 'sending', key: item.clientId, sending: item });
  return items;
}

/**
 * The items of a thread. `newFrom`: the last read sequence when it was opened; null: nothing was
 * new.
 */
export function threadItems({
  messages,
  sending,
  newFrom,
}: {
  readonly messages: readonly ThreadMessage[];
  readonly sending: readonly Outgoing[];
  readonly newFrom: number | null;
}): LogItem[] {
  const sameDay = createDays();
  const firstNew =
    newFrom === null ? null : messages.find(({ sequence, from }) => sequence > newFrom && from !== 'human');
  const items: LogItem[] = [];
  let latest = -Infinity;
  for (const message of messages) {
    const { messageId, time } = message;
    if (latest === -Infinity || (time > latest && !sameDay(latest, time)))
      items.push({ kind: 'day', key: `day:${messageId}`, time });
    if (message === firstNew) items.push({ kind: 'new', key: 'new' });
    items.push({ kind: 'said', key: messageId, message });
    latest = Math.max(latest, time);
  }
  for (const item of sending) items.push({ kind: 'sending', key: item.clientId, sending: item });
  return items;
}

/**
 * What a conversation shows, in order: pure, from the messages a page holds. The conversation view
 * lays days, sleeps, and what has not been taken yet, around them.
 */
import { asleepFrom } from '../../shared/domain/lifecycle.ts';
import { isNews, wholeAt } from '../../shared/domain/read-marks.ts';
import type { EndReason, MessageDoc, QueuedMessageDoc } from '../../shared/protocol/documents.ts';
import { aloneIn } from '../../shared/domain/alone.ts';
import type { MessageId, SessionId } from '../../shared/domain/ids.ts';
import type { ThreadMessage } from '../../shared/protocol/threads.ts';
import type { TextStorage } from './ports.ts';
import type { Sending, SendingMessage } from './conversations.ts';
import { IN_THREAD } from './unsent.ts';
import { type RunSpan, type SessionSpan, unknownRun } from './spans.ts';

// What stands in the browser's texts that was not sent: read where there is any, and with threads.

/** The threads that something is unsent in. */
export const threadsUnsent = (browser: TextStorage): readonly string[] => [
  ...new Set(browser.keys(IN_THREAD).map((key) => key.slice(IN_THREAD.length, key.lastIndexOf(':')))),
];

const isText = (value: unknown): value is string => typeof value === 'string';
const isSending = (value: unknown): value is Sending =>
  typeof value === 'object' &&
  value !== null &&
  'clientId' in value &&
  isText(value.clientId) &&
  'text' in value &&
  isText(value.text) &&
  'time' in value &&
  typeof value.time === 'number';

/**
 * What stands there under `prefix`, the oldest first. `isOne`: what else makes it one; what is none
 * is taken away.
 */
export function readUnsent<Item extends Sending>(
  browser: TextStorage,
  prefix: string,
  isOne: (value: Sending) => value is Item,
): Item[] {
  return browser
    .keys(prefix)
    .flatMap((key) => {
      try {
        const value: unknown = JSON.parse(browser.read(key) ?? '');
        if (isSending(value) && isOne(value)) return [value];
      } catch {
        // Somebody else has written there.
      }
      browser.write(key, '');
      return [];
    })
    .sort((a, b) => a.time - b.time);
}

/**
 * `inbox`: until somebody looks there; `answer`: until the answer is done that was begun before.
 */
export type Waits = 'inbox' | 'answer';

export type LogItem =
  | { readonly kind: 'day'; readonly key: string; readonly time: number }
  /** What comes next is new to the person. */
  | { readonly kind: 'new'; readonly key: string }
  /** The agent slept between two messages. `until` is null where it has not woken since. */
  | {
      readonly kind: 'sleep';
      readonly key: string;
      readonly from: number;
      readonly until: number | null;
      readonly reason: EndReason | null;
    }
  /** What comes next was said while no session ran: what began that, and how it ended. */
  | { readonly kind: 'run'; readonly key: string; readonly run: RunSpan }
  | { readonly kind: 'message'; readonly key: string; readonly message: MessageDoc; readonly waits: Waits | null }
  /** In a thread. */
  | { readonly kind: 'said'; readonly key: string; readonly message: ThreadMessage }
  | { readonly kind: 'open'; readonly key: string; readonly messageId: MessageId }
  | { readonly kind: 'queued'; readonly key: string; readonly message: QueuedMessageDoc }
  | { readonly kind: 'sending'; readonly key: string; readonly sending: Sending };

/**
 * Tells whether two times lie on one day of the reader's zone. Asked in order, it looks at the
 * calendar once a day.
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

/** Is this a message that waited in the inbox of somebody asleep? */
export const waited = (message: MessageDoc) => message['waiting'] === true;

export interface LogInput {
  readonly messages: readonly MessageDoc[];
  readonly spans: ReadonlyMap<string, SessionSpan>;
  /** Of the messages that were said in no session. */
  readonly runs: ReadonlyMap<string, RunSpan>;
  readonly read: ReadonlySet<string>;
  /** Answers that are being written, in the order in which they began. */
  readonly open: readonly { readonly messageId: MessageId; readonly startedAt: number; readonly aloneIn?: string }[];
  readonly queued: readonly QueuedMessageDoc[];
  readonly sending: readonly SendingMessage[];
  /** The running session, or null. */
  readonly liveSessionId: SessionId | null;
  /** Whose conversation this is sleeps, and does not stir. */
  readonly asleep: boolean;
  /** The stamp behind which new begins; null: nothing is new. */
  readonly newFrom: string | null;
}

/** What an edit that is under way will replace is out of sight already. */
function withoutReplaced(messages: readonly MessageDoc[], sending: readonly SendingMessage[]): readonly MessageDoc[] {
  const replaced = new Set(sending.flatMap((item) => (item.replaces && item.error === null ? [item.replaces] : [])));
  if (replaced.size === 0) return messages;
  const cut = messages.findIndex((message) => replaced.has(message.messageId));
  return cut < 0 ? messages : messages.slice(0, cut);
}

export function logItems(input: LogInput): LogItem[] {
  const { spans, runs, read, queued, sending, liveSessionId, asleep, newFrom } = input;
  const open = [...input.open];
  const messages = withoutReplaced(input.messages, sending);
  const sameDay = createDays();
  const items: LogItem[] = [];
  let before: MessageDoc | null = null;
  /** The session in which something was said last, and when. */
  let talkedIn: string | null = null;
  let talkedAt = -Infinity;
  /** The run that was told of last, while what follows is of it. */
  let announced: string | null = null;
  // A clock that went back begins no earlier day below a later one.
  let latest = -Infinity;
  /** The last sleep that was told of lasts. */
  let sleepsOn = false;
  /** Days and sleeps stand before what comes next. What waits unread in an inbox woke nobody. */
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
      // What it did alone meanwhile, it did not do asleep.
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
  /** An answer stands where it began: what was written after that is below it. */
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
    // Behind a divider of the open answer's own there is no second one.
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
  const known = new Set(input.messages.flatMap((message) => message.clientId ?? []));
  for (const message of queued)
    if (!known.has(message.clientId)) items.push({ kind: 'queued', key: message.clientId, message });
  const kept = new Set(queued.map((message) => message.clientId));
  for (const item of sending)
    if (!known.has(item.clientId) && !kept.has(item.clientId))
      items.push({ kind: 'sending', key: item.clientId, sending: item });
  return items;
}

/**
 * The same of a thread. `newFrom`: the last place that was read when it was opened; null: nothing
 * was new.
 */
export function threadItems({
  messages,
  sending,
  newFrom,
}: {
  readonly messages: readonly ThreadMessage[];
  readonly sending: readonly Sending[];
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

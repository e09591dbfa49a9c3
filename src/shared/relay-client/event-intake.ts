/**
 * Stores the events of the relay's log as documents, in order, and acknowledges what is stored.
 *
 * Only stored events are acknowledged. The cursor that survives a restart is the acknowledged one,
 * so an answer that is still open comes again from its first word.
 */
import { errorMessage } from '../domain/platform/error-message.ts';
import { sentence } from '../domain/names.ts';
import { sleep, type Timers } from '../domain/platform/timers.ts';
import type { Doc } from '../protocol/documents.ts';
import type { StoredEvent } from '../protocol/events.ts';
import { createAckMark, documentsOf } from '../protocol/intake.ts';
import type { Cursor } from './event-stream.ts';
import type { RelayResult } from './result.ts';
import { RELAY_TIMES } from './settings.ts';

export interface EventIntakeDeps {
  readonly cursor: Cursor | null;
  /** Resolves when the documents are durable. */
  readonly store: (docs: readonly Doc[]) => Promise<unknown>;
  readonly saveCursor: (cursor: Cursor) => Promise<void>;
  readonly ack: (upTo: number) => Promise<RelayResult<unknown>>;
  readonly mayAcknowledge: () => boolean;
  readonly timers: Timers;
  /** Why events cannot be stored, as a sentence. Null when that is over. */
  readonly onTrouble: (trouble: string | null) => void;
}

export interface EventIntake {
  /** The next events belong to this log, of which this much is acknowledged. */
  begin(log: string, acknowledged: number): void;
  /** Stores an event. */
  take(stored: StoredEvent): void;
  /** Acknowledges no event from this one on, because it cannot be read. */
  hold(id: number): void;
  /** Drops what is not stored yet. */
  drop(): void;
  /** Acknowledges in a moment what is stored. */
  acknowledge(): void;
  cursor(): Cursor | null;
  /**
   * Resolves with true once everything taken until now is stored or dropped, or with false as soon
   * as it cannot be stored for now.
   */
  stored(): Promise<boolean>;
  close(): void;
}

/** `failing`: the last attempt failed, and the same events are tried again. */
type IntakeState = 'idle' | 'storing' | 'failing' | 'closed';

interface Waiter {
  /** The number of events that must be stored. */
  readonly upTo: number;
  readonly resolve: (stored: boolean) => void;
}

export function createEventIntake(deps: EventIntakeDeps): EventIntake {
  const { timers } = deps;
  let state: IntakeState = 'idle';
  let { cursor } = deps;
  let log = cursor?.log ?? '';
  let acknowledged = cursor?.after ?? 0;
  let mark = createAckMark();
  let pending: { readonly log: string; readonly stored: StoredEvent }[] = [];
  /** Events taken since the intake began, and how many of them are stored or dropped. */
  let taken = 0;
  let done = 0;
  let waiters: readonly Waiter[] = [];
  let cancelAck: (() => void) | null = null;

  /** Read through a function, since every wait may change it. */
  const is = (kind: IntakeState): boolean => state === kind;

  function resolveWaiters(): void {
    const isOver = ({ upTo }: Waiter) => is('failing') || is('closed') || upTo <= done;
    const over = waiters.filter(isOver);
    waiters = waiters.filter((waiter) => !isOver(waiter));
    for (const { upTo, resolve } of over) resolve(upTo <= done);
  }

  function acknowledge(): void {
    if (cancelAck || is('closed') || !deps.mayAcknowledge() || mark.upTo() <= acknowledged) return;
    cancelAck = timers.after(RELAY_TIMES.ackDebounce, () => {
      cancelAck = null;
      void sendAck();
    });
  }
  async function sendAck(): Promise<void> {
    const upTo = mark.upTo();
    const of = log;
    if (upTo <= acknowledged) return;
    cursor = { log: of, after: upTo };
    await deps.saveCursor(cursor);
    const result = await deps.ack(upTo);
    // If this call failed, the next stored event or the next connection sends the acknowledgement
    // again.
    if (result.ok && of === log) acknowledged = Math.max(acknowledged, upTo);
  }

  async function storeAll(docs: readonly Doc[]): Promise<void> {
    while (!is('closed')) {
      try {
        if (docs.length > 0) await deps.store(docs);
        if (is('failing')) deps.onTrouble(null);
        if (!is('closed')) state = 'storing';
        return;
      } catch (error) {
        if (is('closed')) return;
        state = 'failing';
        resolveWaiters();
        deps.onTrouble(sentence`What the relay sent could not be stored yet: ${errorMessage(error)}`);
        await sleep(timers.after, RELAY_TIMES.storeRetry);
      }
    }
  }
  async function storePending(): Promise<void> {
    if (!is('idle')) return;
    state = 'storing';
    while (pending.length > 0 && !is('closed')) {
      const batch = pending;
      const upTo = taken;
      pending = [];
      await storeAll(batch.flatMap(({ stored }) => documentsOf(stored)));
      if (is('closed')) return;
      for (const item of batch) if (item.log === log) mark.take(item.stored);
      done = Math.max(done, upTo);
      resolveWaiters();
      acknowledge();
    }
    if (!is('closed')) state = 'idle';
  }

  return {
    begin(next, upTo) {
      log = next;
      mark = createAckMark();
      acknowledged = upTo;
    },
    take(stored) {
      taken += 1;
      pending.push({ log, stored });
      void storePending();
    },
    hold: (id) => mark.hold(id),
    drop() {
      pending = [];
      done = taken;
      resolveWaiters();
      cancelAck?.();
      cancelAck = null;
    },
    acknowledge,
    cursor: () => cursor,
    stored: () =>
      new Promise((resolve) => {
        waiters = [...waiters, { upTo: taken, resolve }];
        resolveWaiters();
      }),
    close() {
      state = 'closed';
      resolveWaiters();
      cancelAck?.();
      cancelAck = null;
    },
  };
}

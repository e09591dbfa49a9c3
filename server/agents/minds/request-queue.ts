/**
 * The queue of one model server. It limits concurrent requests to what the server accepts. The
 * limit is learned in two ways and remembered while the relay runs.
 *
 * A server that refuses (429, 503, 529): the limit is halved, as in congestion control, once per
 * volley, and never below the number of requests that the server is answering. After a run of
 * answers the limit grows by one. A refused request returns to its place in the queue.
 *
 * A server that accepts all requests and answers a few at a time has a queue of its own. A request
 * was in that queue if another request was already being answered when it was sent, and it began
 * only after that one had ended. The number of requests answered side by side is the server's
 * limit. Until that is known, and for requests already there, the time-out does not run while the
 * server works on an earlier request.
 */
import { doubling } from '../../../src/shared/domain/platform/retry.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { PRIORITIES, type Priority, type RequestState } from './requests.ts';
import type { QueueLimits } from './settings.ts';

/**
 * How one attempt ended. `busy`: refused for now. `broken`: no answer, and a retry is allowed.
 * `done`: anything else.
 */
export type Sending<T> =
  | { readonly kind: 'done'; readonly value: T; readonly answered: boolean }
  | { readonly kind: 'busy'; readonly value: T; readonly retryAfterMs: number | null }
  | { readonly kind: 'broken'; readonly value: T };

interface QueuedRequest {
  readonly priority: Priority;
  readonly signal: AbortSignal;
  readonly onState?: ((state: RequestState) => void) | undefined;
}

/** Must be called at the first sign of an answer, and at its end. */
export interface Turn {
  begun(): void;
  ended(): void;
}

export interface RequestQueue {
  /**
   * Resolves with the value of the last attempt. Null: the signal aborted before anything was sent.
   */
  run<T>(request: QueuedRequest, send: (turn: Turn) => Promise<Sending<T>>): Promise<T | null>;
  /** The current limit of concurrent requests, as far as it is known. */
  limit(): number;
}

export interface RequestQueueDeps {
  readonly limits: QueueLimits;
  /** Most concurrent requests, whatever the server accepts. */
  readonly max: number;
  readonly timers: Timers;
  /** Monotonic ms. */
  readonly now: () => number;
}

interface Entry {
  readonly order: number;
  readonly rank: number;
  readonly request: QueuedRequest;
  /** Sends the request once. Resolves when that attempt is over. */
  readonly go: () => Promise<void>;
  readonly giveUp: () => void;
  refusals: number;
  announced: string;
}

/** A request that the server has. */
interface Sent {
  readonly entry: Entry;
  readonly at: number;
  begunAt: number | null;
  endedAt: number | null;
  /** Most requests that were answered at the same time as this one. */
  together: number;
}

/** What the answers of a server say about the number of requests that it accepts at once. */
function createLimit(limits: QueueLimits, max: number) {
  let limit = max;
  /** When the limit was last lowered. Requests sent before then give no new information. */
  let cutAt = -Infinity;
  /** Consecutive answers while the limit was reached. */
  let goodRun = 0;
  /** The limit that is being tried. Null: none is. */
  let trying: number | null = null;
  let serial = { at: 0, times: 0 };
  return {
    now: () => limit,
    /** The server answers so many at once. */
    accepts(together: number): void {
      limit = Math.min(max, Math.max(limit, together));
    },
    /** `full`: the limit was reached. */
    answered(full: boolean): void {
      goodRun = full ? goodRun + 1 : goodRun;
      if (goodRun < limits.tryMoreAfter || limit >= max) return;
      goodRun = 0;
      limit += 1;
      trying = limit;
    },
    /** Whether the refusal is news, so that a pause is due. `abreast`: requests sent at once. */
    refused(
      { at }: Sent,
      { abreast, answering, now }: { readonly abreast: number; readonly answering: number; readonly now: number },
    ): boolean {
      if (at <= cutAt) return false;
      const lower = limit === trying ? limit - 1 : Math.floor(Math.min(limit, abreast) / 2);
      limit = Math.max(1, answering, lower);
      trying = null;
      goodRun = 0;
      cutAt = now;
      return true;
    },
    /**
     * The request waited in the server's own queue. If the same number of parallel answers is seen
     * `serialTimes` times, it becomes the limit.
     */
    learnSerial(sent: Sent, past: readonly Sent[]): void {
      const { begunAt, at, together } = sent;
      if (begunAt === null || begunAt - at < limits.serialAfterMs) return;
      const through = past.some(
        (other) =>
          other !== sent &&
          other.begunAt !== null &&
          other.begunAt >= at &&
          other.endedAt !== null &&
          other.endedAt <= begunAt,
      );
      if (!through) return;
      serial = serial.at === together ? { at: together, times: serial.times + 1 } : { at: together, times: 1 };
      if (serial.times < limits.serialTimes || together >= limit) return;
      limit = Math.max(1, together);
      goodRun = 0;
    },
  };
}

export function createRequestQueue({ limits, max, timers, now }: RequestQueueDeps): RequestQueue {
  let waiting: Entry[] = [];
  let out: Sent[] = [];
  /** Recently ended requests, for which a later one may have waited. */
  let past: Sent[] = [];
  let orders = 0;
  let pausedUntil = 0;
  let cancelPause: (() => void) | null = null;
  let cancelHold: (() => void) | null = null;
  /** Consecutive pauses without any answer. */
  let pauses = 0;
  const limit = createLimit(limits, max);

  const answering = () => out.filter((sent) => sent.begunAt !== null && sent.endedAt === null);

  /** The server works on a request that was sent no later, and has not done so for too long. */
  const standsBehind = (sent: Sent) =>
    answering().some(
      (other) =>
        other !== sent &&
        other.begunAt !== null &&
        other.at <= sent.at + limits.volleyMs &&
        now() - other.begunAt < limits.holdMs,
    );

  function tell(entry: Entry, state: RequestState, again = false): void {
    const label = state.kind === 'waiting' ? String(state.position) : state.kind;
    if (label === entry.announced && !again) return;
    entry.announced = label;
    entry.request.onState?.(state);
  }

  /**
   * `moved`: the server made progress with one of our requests. Requests behind it at the server
   * get their full time again.
   */
  function tellAll(moved = false): void {
    const inService = [...out].sort((a, b) => Number(a.begunAt === null) - Number(b.begunAt === null) || a.at - b.at);
    let position = 0;
    inService.forEach((sent, i) => {
      const behind = sent.begunAt === null && standsBehind(sent);
      if (behind && !cancelHold)
        cancelHold = timers.after(limits.holdMs / 10, () => {
          cancelHold = null;
          tellAll();
        });
      if (behind)
        tell(sent.entry, i >= limit.now() ? { kind: 'waiting', position: (position += 1) } : { kind: 'behind' });
      else tell(sent.entry, { kind: 'sent' }, moved && sent.begunAt === null);
    });
    for (const entry of waiting) tell(entry, { kind: 'waiting', position: (position += 1) });
  }

  function enqueue(entry: Entry): void {
    waiting.push(entry);
    waiting.sort((a, b) => a.rank - b.rank || a.order - b.order);
  }

  function pump(moved = false): void {
    while (waiting.length > 0 && out.length < limit.now() && now() >= pausedUntil) {
      const entry = waiting.shift();
      if (!entry) break;
      const sent: Sent = { entry, at: now(), begunAt: null, endedAt: null, together: 0 };
      out.push(sent);
      void entry.go();
    }
    if (waiting.length > 0 && now() < pausedUntil && !cancelPause)
      cancelPause = timers.after(pausedUntil - now() + 1, () => {
        cancelPause = null;
        pump();
      });
    tellAll(moved);
  }

  function pauseFor(ms: number): void {
    pausedUntil = Math.max(pausedUntil, now() + ms);
    cancelPause?.();
    cancelPause = null;
  }

  function begun(sent: Sent): void {
    if (sent.begunAt !== null) return;
    sent.begunAt = now();
    pauses = 0;
    const side = answering();
    for (const each of side) each.together = Math.max(each.together, side.length);
    limit.accepts(side.length);
    tellAll(true);
  }

  function refused(sent: Sent, retryAfterMs: number | null): void {
    if (limit.refused(sent, { abreast: out.length + 1, answering: answering().length, now: now() })) {
      pauses += 1;
      pauseFor(doubling(limits, pauses - 1));
    }
    if (retryAfterMs !== null) pauseFor(retryAfterMs);
  }

  return {
    limit: limit.now,
    run<T>(request: QueuedRequest, send: (turn: Turn) => Promise<Sending<T>>): Promise<T | null> {
      return new Promise((resolve, reject) => {
        let last: T | null = null;
        const finish = (value: T | null) => {
          request.signal.removeEventListener('abort', onAbort);
          resolve(value);
        };
        async function go(): Promise<void> {
          const sent = out.find((each) => each.entry === entry);
          if (!sent) return;
          let sending: Sending<T>;
          try {
            sending = await send({ begun: () => begun(sent), ended: () => (sent.endedAt ??= now()) });
          } catch (error) {
            out = out.filter((each) => each !== sent);
            request.signal.removeEventListener('abort', onAbort);
            reject(error instanceof Error ? error : new Error(String(error)));
            return pump();
          }
          sent.endedAt ??= now();
          const full = waiting.length > 0 || out.length >= limit.now();
          out = out.filter((each) => each !== sent);
          if (sent.begunAt !== null) past = [...past.slice(-limits.history), sent];
          last = sending.value;
          if (sending.kind === 'done' || request.signal.aborted) {
            if (sending.kind === 'done' && sending.answered) {
              pauses = 0;
              limit.answered(full);
              limit.learnSerial(sent, past);
            }
            finish(last);
            return pump(sent.begunAt !== null);
          }
          again(sent, sending);
        }
        function again(sent: Sent, sending: Exclude<Sending<T>, { kind: 'done' }>): void {
          const tooLong = sending.kind === 'busy' && (sending.retryAfterMs ?? 0) > limits.longestRetryAfterMs;
          if (sending.kind === 'busy' && !tooLong) refused(sent, sending.retryAfterMs);
          // If the server answers other requests of ours, or has since, there were only too many at
          // once.
          const alone =
            !out.some((each) => each.begunAt !== null || each.at < sent.at) &&
            !past.some((each) => (each.endedAt ?? 0) >= sent.at);
          if (alone) entry.refusals += 1;
          if (sending.kind === 'broken') pauseFor(doubling(limits, entry.refusals));
          if (tooLong || entry.refusals > (sending.kind === 'busy' ? limits.refusals : limits.breaks)) {
            finish(last);
            // Nothing gets through. Requests that were refused as well do not wait for the same
            // result.
            if (!tooLong && sending.kind === 'busy')
              for (const other of waiting.filter((each) => each.refusals > 0)) other.giveUp();
          } else enqueue(entry);
          pump();
        }
        const leaveLine = () => {
          waiting = waiting.filter((each) => each !== entry);
          finish(last);
        };
        const onAbort = () => {
          // A request that was sent ends by itself, since its signal is the same.
          if (!waiting.includes(entry)) return;
          leaveLine();
          pump();
        };
        const entry: Entry = {
          order: (orders += 1),
          rank: PRIORITIES.indexOf(request.priority),
          request,
          go,
          giveUp: leaveLine,
          refusals: 0,
          announced: '',
        };
        if (request.signal.aborted) return resolve(null);
        request.signal.addEventListener('abort', onAbort, { once: true });
        enqueue(entry);
        pump();
      });
    },
  };
}

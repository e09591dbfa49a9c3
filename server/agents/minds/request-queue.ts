/**
 * The line before one model server: at most as many requests at once as it takes. How many that is,
 * is learned and kept while the relay runs, in two ways.
 *
 * A server that refuses (429, 503, 529): fewer are sent, as in congestion control: half, once for
 * each volley, never fewer than it is answering; after a run of answers one more is tried. What was
 * refused goes back to its place in line.
 *
 * A server that takes all and answers a few at a time: who was sent before another was begun, and
 * begins only after that one has ended, stood in the server's own line. So many as were answered
 * side by side is what it takes. Until that is known, and for those that are there already, no time
 * runs while the server is busy with one that was sent before.
 */
import { doubling } from '../../../src/shared/domain/platform/retry.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { PRIORITIES, type Priority, type RequestState } from '../../contracts/mind.ts';
import type { QueueLimits } from './settings.ts';

/**
 * How one sending ended. `busy`: refused for now. `broken`: no answer, and it may be asked again.
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

/** To be called at the first sign of an answer, and at its last. */
export interface Turn {
  begun(): void;
  ended(): void;
}

export interface RequestQueue {
  /**
   * Resolves with the last sending's value; null where the signal aborted before anything was sent.
   */
  run<T>(request: QueuedRequest, send: (turn: Turn) => Promise<Sending<T>>): Promise<T | null>;
  /** How many may be out at once, as far as is known. */
  limit(): number;
}

export interface RequestQueueDeps {
  readonly limits: QueueLimits;
  /** Most requests at once, whatever the server takes. */
  readonly max: number;
  readonly timers: Timers;
  /** ms, of a clock that only goes forward. */
  readonly now: () => number;
}

interface Entry {
  readonly order: number;
  readonly rank: number;
  readonly request: QueuedRequest;
  /** Sends it once; resolves when that is over. */
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
  /** Most that were being answered side by side while this one was. */
  together: number;
}

export function createRequestQueue({ limits, max, timers, now }: RequestQueueDeps): RequestQueue {
  let limit = max;
  let waiting: Entry[] = [];
  let out: Sent[] = [];
  /** Ended lately: what a later one may have waited for. */
  let past: Sent[] = [];
  let orders = 0;
  let pausedUntil = 0;
  let cancelPause: (() => void) | null = null;
  let cancelHold: (() => void) | null = null;
  /** When fewer were let out last: what was sent before says nothing new. */
  let cutAt = -Infinity;
  /** Pauses in a row in which nothing was answered. */
  let pauses = 0;
  /** Answers in a row while it was full. */
  let goodRun = 0;
  let trying: number | null = null;
  let serial = { at: 0, times: 0 };

  const answering = () => out.filter((sent) => sent.begunAt !== null && sent.endedAt === null);

  /** The server is busy with one that was sent no later, and has not been so for all too long. */
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
   * `moved`: the server got on with one of ours, and whoever stands behind it at the server has its
   * time anew.
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
      if (behind) tell(sent.entry, i >= limit ? { kind: 'waiting', position: (position += 1) } : { kind: 'behind' });
      else tell(sent.entry, { kind: 'sent' }, moved && sent.begunAt === null);
    });
    for (const entry of waiting) tell(entry, { kind: 'waiting', position: (position += 1) });
  }

  function enqueue(entry: Entry): void {
    waiting.push(entry);
    waiting.sort((a, b) => a.rank - b.rank || a.order - b.order);
  }

  function pump(moved = false): void {
    while (waiting.length > 0 && out.length < limit && now() >= pausedUntil) {
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
    // It takes more than was thought.
    limit = Math.min(max, Math.max(limit, side.length));
    tellAll(true);
  }

  /**
   * It stood in the server's line, and was answered beside so many: twice the same is what the
   * server takes.
   */
  function learnSerial(sent: Sent): void {
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
  }

  function refused(sent: Sent, retryAfterMs: number | null): void {
    if (sent.at > cutAt) {
      const abreast = out.length + 1;
      const least = Math.max(1, answering().length);
      limit = Math.max(
        least,
        trying !== null && limit === trying ? limit - 1 : Math.floor(Math.min(limit, abreast) / 2),
      );
      trying = null;
      goodRun = 0;
      cutAt = now();
      pauses += 1;
      pauseFor(doubling(limits, pauses - 1));
    }
    if (retryAfterMs !== null) pauseFor(retryAfterMs);
  }

  function answered(full: boolean): void {
    pauses = 0;
    goodRun = full ? goodRun + 1 : goodRun;
    if (goodRun < limits.tryMoreAfter || limit >= max) return;
    goodRun = 0;
    limit += 1;
    trying = limit;
  }

  return {
    limit: () => limit,
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
          const full = waiting.length > 0 || out.length >= limit;
          out = out.filter((each) => each !== sent);
          if (sent.begunAt !== null) past = [...past.slice(-limits.history), sent];
          last = sending.value;
          if (sending.kind === 'done' || request.signal.aborted) {
            if (sending.kind === 'done' && sending.answered) {
              answered(full);
              learnSerial(sent);
            }
            finish(last);
            return pump(sent.begunAt !== null);
          }
          again(sent, sending);
        }
        function again(sent: Sent, sending: Exclude<Sending<T>, { kind: 'done' }>): void {
          const tooLong = sending.kind === 'busy' && (sending.retryAfterMs ?? 0) > limits.longestRetryAfterMs;
          if (sending.kind === 'busy' && !tooLong) refused(sent, sending.retryAfterMs);
          // Where the server answers others of ours, or did since, it was only too many at once.
          const alone =
            !out.some((each) => each.begunAt !== null || each.at < sent.at) &&
            !past.some((each) => (each.endedAt ?? 0) >= sent.at);
          if (alone) entry.refusals += 1;
          if (sending.kind === 'broken') pauseFor(doubling(limits, entry.refusals));
          if (tooLong || entry.refusals > (sending.kind === 'busy' ? limits.refusals : limits.breaks)) {
            finish(last);
            // Nothing gets through: who was refused as well is not made to wait for the same.
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
          // One that is out ends by itself, since its signal is the same.
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

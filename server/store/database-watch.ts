/**
 * Tracks whether the Postgres server can be reached.
 *
 * - `there` → `away`: a connection broke or failed, or a statement stays unanswered, and a probe
 *   over a separate connection was not answered either.
 * - `away` → `given-up`: the outage has lasted longer than statements wait. Waiting statements
 *   fail, and new ones no longer wait.
 * - `away`, `given-up` → `there`: a probe was answered. Probes continue with backoff as long as the
 *   outage lasts.
 *
 * Statements wait for a bounded time. Data that must not be lost (the event log, the costs of
 * requests) waits with `untilThere`, which has no limit.
 */
import { createListeners } from '../../src/shared/domain/platform/events.ts';
import { createDeferred, type Deferred } from '../../src/shared/domain/platform/deferred.ts';
import { backoff } from '../../src/shared/domain/platform/retry.ts';
import { singleFlight } from '../../src/shared/domain/platform/single-flight.ts';
import { sleep, type Timers } from '../../src/shared/domain/platform/timers.ts';
import type { DatabaseLimits } from './settings.ts';
import { DatabaseAway } from './store-error.ts';

export type DatabaseState =
  | { readonly kind: 'there' }
  /** `since`: monotonic, in ms. */
  | { readonly kind: 'away'; readonly since: number }
  | { readonly kind: 'given-up'; readonly since: number };

type Finding = 'answered' | 'unanswered' | 'patience-over';

export function transition(state: DatabaseState, finding: Finding, at: number): DatabaseState {
  switch (finding) {
    case 'answered':
      return state.kind === 'there' ? state : { kind: 'there' };
    case 'unanswered':
      return state.kind === 'there' ? { kind: 'away', since: at } : state;
    case 'patience-over':
      return state.kind === 'away' ? { kind: 'given-up', since: state.since } : state;
    default:
      return finding satisfies never;
  }
}

/** The state of the database, for the relay's parts. */
export interface Database {
  state(): DatabaseState;
  /** ms since the outage began. Null: the database can be reached. */
  awayMs(): number | null;
  /** ms that statements wait during an outage. */
  readonly patienceMs: number;
  /**
   * ms without an outage, as far as this process knows. Leases that nobody renewed in that time
   * have expired.
   */
  steadyMs(): number;
  /** ms since the last outage. Infinity: there was none. */
  backMs(): number;
  /** Probes the database, unless it has answered a moment ago. */
  probe(): Promise<void>;
  /** Called after each change. Returns a function that unsubscribes. */
  subscribe(listener: (state: DatabaseState) => void): () => void;
  /**
   * Resolves when the database can be reached, however long that takes. Rejects with `DatabaseAway`
   * when the relay ends.
   */
  untilThere(): Promise<void>;
}

export interface DatabaseWatch extends Database {
  /** Reports a sign of an outage. Resolves when the server was probed. */
  doubt(): Promise<void>;
  /**
   * Resolves when the database can be reached. Rejects with `DatabaseAway` where it is given up.
   */
  patiently(): Promise<void>;
  /**
   * The result of a statement that was sent. Rejects with `DatabaseAway` where the database is
   * given up, or the statement stays unanswered after an outage. Its connection must not be used
   * again then.
   */
  answered<Value>(statement: Promise<Value>): Promise<Value>;
  /** Acts as after an outage: other processes may not have been able to renew their leases. */
  disturb(): void;
  /** The relay ends: it waits for an outage no longer than `leaveMs`. */
  leave(): void;
  close(): void;
}

/** For a store that is part of this process. */
export const ALWAYS_THERE: Database = {
  state: () => ({ kind: 'there' }),
  awayMs: () => null,
  patienceMs: 0,
  steadyMs: () => Infinity,
  backMs: () => Infinity,
  probe: () => Promise.resolve(),
  subscribe: () => () => undefined,
  untilThere: () => Promise.resolve(),
};

export interface DatabaseWatchDeps {
  /** Asks the server over a separate connection. Rejects if it does not answer in time. */
  readonly probe: () => Promise<unknown>;
  readonly limits: DatabaseLimits;
  readonly timers: Timers;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  /** 0 to 1. */
  readonly random: () => number;
}

interface Statement {
  sawOutage: boolean;
  cancel: () => void;
  readonly fail: () => void;
}

export function createDatabaseWatch(deps: DatabaseWatchDeps): DatabaseWatch {
  const { probe, limits, timers, elapsed, random } = deps;
  let state: DatabaseState = { kind: 'there' };
  const openedAt = elapsed();
  /** When the outage ended, or the clock was set by a large step. */
  let backAt = -Infinity;
  let heardAt = openedAt;
  let closed = false;
  let abandoned = false;
  let cancelPatience: () => void = () => undefined;
  let cancelLeave: () => void = () => undefined;
  const listeners = createListeners<[DatabaseState]>();
  /** Of `patiently`, and of `untilThere`. */
  const patient = new Set<Deferred<void>>();
  const enduring = new Set<Deferred<void>>();
  const statements = new Set<Statement>();

  const settle = (waiting: Set<Deferred<void>>, end: (each: Deferred<void>) => void) => {
    const all = [...waiting];
    waiting.clear();
    all.forEach(end);
  };
  const refuse = (waiting: Set<Deferred<void>>) => settle(waiting, ({ reject }) => reject(new DatabaseAway('not')));

  function apply(finding: Finding): void {
    const next = transition(state, finding, elapsed());
    if (next === state) return;
    state = next;
    switch (state.kind) {
      case 'away':
        for (const statement of statements) statement.sawOutage = true;
        cancelPatience = timers.after(limits.patienceMs, () => apply('patience-over'));
        void probeUntilThere();
        break;
      case 'given-up':
        for (const { fail } of [...statements]) fail();
        refuse(patient);
        break;
      case 'there':
        backAt = elapsed();
        cancelPatience();
        settle(patient, ({ resolve }) => resolve());
        settle(enduring, ({ resolve }) => resolve());
        for (const statement of statements) watchAfterOutage(statement);
        break;
      default:
        state satisfies never;
    }
    listeners.tell(state);
  }

  /** A connection from before the outage may be dead without a notice. */
  function watchAfterOutage(statement: Statement): void {
    if (!statement.sawOutage) return;
    statement.cancel();
    statement.cancel = timers.after(limits.staleMs, () => statement.fail());
  }

  const ask = singleFlight(async () => {
    const finding = await probe().then(
      (): Finding => 'answered',
      (): Finding => 'unanswered',
    );
    if (finding === 'answered') heardAt = elapsed();
    if (!closed) apply(finding);
  });
  async function probeUntilThere(): Promise<void> {
    for (let failures = 0; !closed && state.kind !== 'there'; failures++) {
      await sleep(timers.after, backoff(limits, failures, random));
      if (!closed) await ask();
    }
  }
  /** The server is probed each time the statement stays unanswered for this long. */
  function watch(statement: Statement): void {
    statement.cancel = timers.after(limits.doubtMs, () => {
      void ask();
      watch(statement);
    });
  }
  function wait(waiting: Set<Deferred<void>>): Promise<void> {
    const deferred = createDeferred();
    waiting.add(deferred);
    return deferred.promise;
  }
  function abandon(): void {
    abandoned = true;
    apply('unanswered');
    apply('patience-over');
    refuse(enduring);
  }

  return {
    patienceMs: limits.patienceMs,
    state: () => state,
    steadyMs: () => (state.kind === 'there' ? elapsed() - Math.max(openedAt, backAt) : 0),
    backMs: () => (state.kind === 'there' ? elapsed() - backAt : 0),
    disturb: () => void (backAt = elapsed()),
    awayMs: () => (state.kind === 'there' ? null : elapsed() - state.since),
    subscribe: listeners.subscribe,
    untilThere() {
      if (state.kind === 'there') return Promise.resolve();
      return abandoned ? Promise.reject(new DatabaseAway('not')) : wait(enduring);
    },
    async probe() {
      if (state.kind === 'there' && elapsed() - heardAt > limits.doubtMs) await ask();
    },
    doubt: () => ask(),
    patiently() {
      if (state.kind === 'there') return Promise.resolve();
      return state.kind === 'given-up' ? Promise.reject(new DatabaseAway('not')) : wait(patient);
    },
    answered(sent) {
      return new Promise((resolve, reject) => {
        const over = () => {
          statement.cancel();
          statements.delete(statement);
        };
        const statement: Statement = {
          sawOutage: state.kind !== 'there',
          cancel: () => undefined,
          fail() {
            over();
            reject(new DatabaseAway('in-doubt'));
          },
        };
        statements.add(statement);
        watch(statement);
        sent.then(
          (value) => {
            over();
            heardAt = elapsed();
            resolve(value);
          },
          (error: unknown) => {
            over();
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        );
      });
    },
    leave() {
      cancelLeave = timers.after(limits.leaveMs, () => {
        if (!closed && state.kind !== 'there') abandon();
      });
    },
    close() {
      closed = true;
      cancelPatience();
      cancelLeave();
      for (const { fail } of [...statements]) fail();
      refuse(patient);
      refuse(enduring);
    },
  };
}

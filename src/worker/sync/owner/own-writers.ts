/** The writers of this device: those it writes under now, and those that it has left. */
import type { Stream } from '../contract.ts';
import { settled, syncTransaction, type SyncDatabase } from './database.ts';
import type { Counters, OwnWriter } from './records.ts';
import { STREAMS } from './streams.ts';

export interface OwnWriters {
  counters(): Counters;
  /** These are durable: written by a transaction of the caller's. */
  advanced(next: Counters): void;
  /** One for each stream that has any. */
  current(): readonly OwnWriter[];
  /** Does it write under this one now? */
  isCurrent(writer: string): boolean;
  /** The writer as this device knows it, if it ever was its own. */
  own(writer: string): OwnWriter | undefined;
  /**
   * Nothing more is written under what these streams had. `forked`: others have other entries of
   * it. Durable when it resolves.
   */
  retire(streams: readonly Stream[], forked: boolean): Promise<void>;
  /** Others have other entries of this one: nothing more is written under it. */
  fork(writer: string): Promise<void>;
}

export function createOwnWriters({
  db,
  ...given
}: {
  readonly db: SyncDatabase;
  readonly counters: Counters;
  readonly retired: readonly OwnWriter[];
}): OwnWriters {
  let { counters } = given;
  /** By writer: a replica asks often, and they become many in the course of years. */
  let retired = new Map(given.retired.map((one) => [one.writer, one]));

  const current = (): readonly OwnWriter[] =>
    STREAMS.flatMap((stream) => (counters[stream] ? [{ stream, ...counters[stream], forked: false }] : []));

  /** These are among the retired ones now. */
  async function leaveBehind(next: Counters, left: readonly OwnWriter[]) {
    const all = new Map([...retired, ...left.map((one) => [one.writer, one] as const)]);
    const tx = syncTransaction(db, 'strict');
    const meta = tx.objectStore('meta');
    await settled(tx, Promise.all([meta.put(next, 'counters'), meta.put([...all.values()], 'retired')]));
    counters = next;
    retired = all;
  }

  function retire(streams: readonly Stream[], forked: boolean) {
    const ended = current().filter(({ stream }) => streams.includes(stream));
    return leaveBehind(
      { ...counters, ...Object.fromEntries(streams.map((stream) => [stream, null])) },
      ended.map((one) => ({ ...one, forked })),
    );
  }

  return {
    counters: () => counters,
    advanced: (next) => void (counters = next),
    current,
    isCurrent: (writer) => current().some((one) => one.writer === writer),
    own: (writer) => current().find((one) => one.writer === writer) ?? retired.get(writer),
    retire,
    async fork(writer) {
      const known = current().find((one) => one.writer === writer);
      const left = retired.get(writer);
      if (known) await retire([known.stream], true);
      else if (left && !left.forked) await leaveBehind(counters, [{ ...left, forked: true }]);
    },
  };
}

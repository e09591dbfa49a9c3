/**
 * From the ledger's outbox into entries. What this device alone knows is sealed at once. What the
 * relay told is told to every device that listens, so each waits a moment, and what another one has
 * sealed meanwhile is left out; where two do it all the same, a document lies in two entries, which
 * is harmless.
 */
import { createBurst } from '../../../shared/domain/platform/burst.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { SYNC_OWNER } from '../settings.ts';
import { sealingsOf, type Sealing } from './streams.ts';
import type { Heard } from './heard.ts';
import type { LedgerPort } from './ports.ts';
import type { Sealer } from './sealer.ts';

export interface OutgoingDeps {
  readonly ledger: Pick<LedgerPort, 'outbox' | 'clearOutbox'>;
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly heard: Pick<Heard, 'has'>;
  readonly timers: Timers;
  /** ms, only ever forward: nothing waits for a clock that went back. */
  readonly elapsed: () => number;
  /** 0 to 1 */
  readonly random: () => number;
  /** Are there other devices that may seal what the relay tells all of them? */
  readonly hasOthers: () => boolean;
  /** These were written on this device, and are sealed once it resolves. */
  readonly onOwn: (docs: readonly Doc[]) => Promise<void>;
  /** null: it works again. */
  readonly onTrouble: (error: unknown) => void;
  /** What `waiting` answers has changed. */
  readonly onChange: () => void;
}

export interface OutgoingPump {
  /** Something waits. */
  wake(): void;
  /** Rows that are not sealed yet; at least one from the moment that something was put there. */
  waiting(): number;
  /** Seals everything that waits now, without waiting for others. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Words at once; the pieces of files in small turns: sealing a large one would hold up what is
 * written meanwhile.
 */
function turnsOf(sealings: readonly Sealing[]): readonly (readonly Sealing[])[] {
  const isPiece = ({ stream }: Sealing) => stream === 'attachments';
  const pieces = sealings.filter(isPiece);
  const turns = [sealings.filter((one) => !isPiece(one))];
  for (let at = 0; at < pieces.length; at += SYNC_OWNER.sealPieces)
    turns.push(pieces.slice(at, at + SYNC_OWNER.sealPieces));
  return turns.filter((turn) => turn.length > 0);
}

/** The first of the rows, with so many documents or a few more. */
function firstOf<Row extends { readonly docs: readonly unknown[] }>(
  rows: readonly Row[],
  most: number,
): readonly Row[] {
  let docs = 0;
  return rows.filter((row) => {
    const fits = docs < most;
    docs += row.docs.length;
    return fits;
  });
}

export function createOutgoing({
  ledger,
  sealer,
  heard,
  timers,
  elapsed,
  random,
  hasOthers,
  onOwn,
  onTrouble,
  onChange,
}: OutgoingDeps): OutgoingPump {
  /** When each told row is due, by its number. */
  const due = new Map<number, number>();
  let running: Promise<void> | null = null;
  let again = false;
  let hurry = false;
  let cancel: (() => void) | null = null;
  let failed = false;
  let left = 0;
  let closed = false;

  async function once(): Promise<void> {
    const rows = await ledger.outbox(SYNC_OWNER.outboxRows);
    const allReady = rows.filter(({ number, fromRelay }) => {
      if (!fromRelay || hurry || !hasOthers()) return true;
      const time = due.get(number) ?? elapsed() + SYNC_OWNER.relayedWait + random() * SYNC_OWNER.relayedJitter;
      due.set(number, time);
      return time <= elapsed();
    });
    const ready = firstOf(allReady, SYNC_OWNER.outboxDocuments);
    if (ready.length > 0) {
      const docs = ready.flatMap((row) => (row.fromRelay ? row.docs.filter(({ _id }) => !heard.has(_id)) : row.docs));
      await onOwn(ready.flatMap((row) => (row.fromRelay ? [] : row.docs)));
      for (const some of turnsOf(sealingsOf(docs))) await sealer.seal(some);
      await ledger.clearOutbox(ready.map(({ number }) => number));
      for (const { number } of ready) due.delete(number);
      if (ready.length < allReady.length || rows.length === SYNC_OWNER.outboxRows) again = true;
    }
    left = rows.length - ready.length;
    const waits = rows.flatMap(({ number }) => due.get(number) ?? []);
    if (waits.length > 0) wait(Math.max(0, Math.min(...waits) - elapsed()));
  }

  function wait(ms: number) {
    cancel?.();
    if (!closed) cancel = timers.after(ms, begin);
  }

  async function run(): Promise<void> {
    try {
      do {
        again = false;
        await once();
      } while (again);
      hurry = false;
      if (failed) onTrouble(null);
      failed = false;
    } catch (error) {
      failed = true;
      onTrouble(error);
      wait(SYNC_OWNER.sealRetry);
    }
  }

  const burst = createBurst({
    after: timers.after,
    quietMs: SYNC_OWNER.sealQuiet,
    mostMs: SYNC_OWNER.sealMost,
    run: () => begin(),
  });

  function wake() {
    if (closed) return;
    left = Math.max(left, 1);
    burst.add();
  }

  function begin() {
    burst.clear();
    if (closed) return;
    left = Math.max(left, 1);
    again = true;
    running ??= run().finally(() => {
      running = null;
      onChange();
    });
  }

  return {
    wake,
    waiting: () => left,
    async flush() {
      await running;
      hurry = true;
      begin();
      await running;
    },
    async close() {
      closed = true;
      cancel?.();
      burst.clear();
      await running;
    },
  };
}

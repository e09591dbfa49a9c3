/**
 * Writes this device's data into entries: the rows of the ledger's outbox, the documents from
 * before sharing, and records for other devices.
 */
import { createQueue } from '../../../shared/domain/platform/queue.ts';
import type { Entry } from '../../../shared/protocol/sync/page.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { createBurst } from '../../../shared/domain/platform/burst.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { Opened, RandomBytes, Stream } from '../contract.ts';
import { SYNC_WORKER } from '../settings.ts';
import { newWriter, sealEntry } from '../crypto/index.ts';
import {
  type DeviceEntryStore,
  settled,
  type SyncDatabase,
  type SyncMeta,
  syncTransaction,
  writeMeta,
} from './entry-store.ts';
import type { Keys, OwnWriters } from './keys.ts';
import { type Received, type Sealing, sealingsOf, STREAMS } from './relay-connection.ts';
import { type FirstSeal, latestOf, type Payload, readPayload, writePayload } from './records.ts';
import type { DocumentKey, LedgerPort } from './ports.ts';
import type { Ahead, Unacknowledged } from './mark-writer.ts';
import type { Backfill, FileMirror, Exchange } from './exchange.ts';
import type { DeviceEvents } from './contract.ts';
import type { Holding } from './holding.ts';
import type { Members, SyncState } from './members.ts';

// Seals what this device writes. The transaction that stores an entry also takes its counter, so no
// counter is used twice after a crash.
//
// A profile may be a copy of an older one. Other replicas then have entries where this device would
// write. So a run continues a writer of an earlier run only if the relay has shown that the writer
// ends there as it does here. Otherwise it begins a new writer.

interface SealerDeps {
  readonly db: SyncDatabase;
  readonly writers: OwnWriters;
  readonly entries: Pick<DeviceEntryStore, 'add'>;
  readonly seal: (writer: string, counter: number, payload: Uint8Array) => Uint8Array;
  readonly newWriter: (stream: Stream) => string;
  /** Does the relay have exactly the entries of this writer that are here? */
  readonly agrees: (writer: string) => boolean;
  /** The entries are durable. */
  readonly onSealed: (entries: readonly Entry[]) => void;
}

interface Sealer {
  /**
   * Resolves when the entries are durable. `along` is stored in the same transaction. A rejected
   * call has written nothing.
   */
  seal(items: readonly Sealing[], along?: Partial<SyncMeta>): Promise<void>;
  /** Stops writing under this writer, because other replicas have different entries of it. */
  leave(writer: string): Promise<void>;
}

function createSealer({ db, writers, entries, seal, newWriter, agrees, onSealed }: SealerDeps): Sealer {
  const inTurn = createQueue();
  /**
   * Writers that only this device can use: they were drawn in this run, or the relay agreed in it.
   */
  const sure = new Set<string>();

  const isSure = ({ writer }: { readonly writer: string }) => {
    if (!sure.has(writer) && agrees(writer)) sure.add(writer);
    return sure.has(writer);
  };

  function draw(stream: Stream) {
    const writer = newWriter(stream);
    sure.add(writer);
    return { writer, next: 1 };
  }

  async function once(items: readonly Sealing[], along: Partial<SyncMeta>): Promise<readonly Entry[]> {
    let next = writers.counters();
    const sealed = items.map(({ stream, payload }): Entry => {
      const { writer, next: counter } = next[stream] ?? draw(stream);
      next = { ...next, [stream]: { writer, next: counter + 1 } };
      return { writer, counter, sealed: seal(writer, counter, payload) };
    });
    const tx = syncTransaction(db, 'strict');
    const meta = Object.entries({ ...along, counters: next });
    await settled(
      tx,
      Promise.all([entries.add(tx, sealed), ...meta.map(([name, value]) => tx.objectStore('meta').put(value, name))]),
    );
    writers.advanced(next);
    return sealed;
  }

  return {
    seal: (items, along = {}) =>
      inTurn(async () => {
        const streams = STREAMS.filter((stream) => items.some((item) => item.stream === stream));
        const unsure = writers.current().filter((one) => streams.includes(one.stream) && !isSure(one));
        if (unsure.length > 0)
          await writers.retire(
            unsure.map(({ stream }) => stream),
            false,
          );
        let sealed: readonly Entry[];
        try {
          sealed = await once(items, along);
        } catch (error) {
          if (!(error instanceof DOMException && error.name === 'ConstraintError')) throw error;
          // This profile was restored from a copy. Entries of ours that it does not know have come
          // from elsewhere.
          await writers.retire(streams, true);
          sealed = await once(items, along);
        }
        if (sealed.length > 0) onSealed(sealed);
      }),
    leave: (writer) => inTurn(() => writers.fork(writer)),
  };
}

// Handles forks. A profile that was restored from a copy, or runs twice, writes where other
// replicas have entries of this device already. It then goes on under new writers, seals its
// entries in those places anew, and fetches the entries that all others have.

/** Names for the contents of an entry, which tell two entries apart. */
function idsOf(bytes: Uint8Array): readonly string[] {
  const { docs = [], ...rest } = readPayload(bytes) ?? {};
  const others = Object.keys(rest).length === 0 ? [] : [JSON.stringify(rest)];
  return [
    ...others,
    ...docs.map((doc) =>
      typeof doc === 'object' && doc !== null && '_id' in doc ? String(doc._id) : JSON.stringify(doc),
    ),
  ];
}

interface Forks {
  /** A peer has entries of this writer that this device never wrote. */
  ahead(writer: string): void;
  /** A peer has other bytes in this place. */
  conflict(theirs: Entry): void;
  close(): void;
}

function createForks({
  entries,
  writers,
  sealer,
  open,
  restart,
  timers,
  onTrouble,
}: {
  readonly entries: Pick<DeviceEntryStore, 'from' | 'takeOut'>;
  readonly writers: OwnWriters;
  readonly sealer: Sealer;
  readonly open: (entry: Entry) => Opened;
  /** The replica starts again, because entries of ours were removed. */
  readonly restart: () => Promise<void>;
  readonly timers: Timers;
  readonly onTrouble: (error: unknown) => void;
}): Forks {
  /** By writer: the first counter that is not ours alone, and what others have there. */
  const found = new Map<string, { from: number; readonly theirs: Uint8Array[] }>();
  let cancel: (() => void) | null = null;

  function note(writer: string, counter: number, theirs: Uint8Array | null) {
    const known = found.get(writer) ?? { from: Infinity, theirs: [] };
    known.from = Math.min(counter, known.from);
    if (theirs) known.theirs.push(theirs);
    found.set(writer, known);
    // More conflicts usually follow at once.
    cancel ??= timers.after(SYNC_WORKER.forks, () => {
      cancel = null;
      goOn().catch(onTrouble);
    });
  }

  /**
   * Two kinds of difference are no conflict. After a forget, an entry is sealed anew with less in
   * it. And an entry may have been sealed by no device of the household.
   */
  async function compare(theirs: Entry) {
    const [ours] = await entries.from(theirs.writer, theirs.counter, theirs.counter);
    const [there, here] = [theirs, ours].map((entry) => {
      const opened = entry && open(entry);
      return opened?.ok ? opened.payload : null;
    });
    if (!there || !here) return;
    const [fewer = [], more = []] = [idsOf(there), idsOf(here)].sort((a, b) => a.length - b.length);
    if (!fewer.every((id) => more.includes(id))) note(theirs.writer, theirs.counter, there);
  }

  async function goOn() {
    for (const [writer, { from, theirs }] of found) {
      found.delete(writer);
      // Entries under a writer that was left before may still have to be sealed anew.
      const known = writers.own(writer);
      if (!known) continue;
      const { stream, next } = known;
      await sealer.leave(writer);
      const ours = from < next ? await entries.from(writer, from, next - 1) : [];
      // Their entries too: a third device may have taken ours, and would take their place for
      // theirs.
      const payloads = [
        ...ours.flatMap((entry) => {
          const opened = open(entry);
          return opened.ok ? [opened.payload] : [];
        }),
        ...theirs,
      ].map((payload) => ({ stream, payload }));
      // Seal under the new writer before removing from the old one. A crash in between leaves the
      // entries twice, which is harmless.
      if (payloads.length > 0) await sealer.seal(payloads);
      if (ours.length === 0) continue;
      await entries.takeOut(writer, from, next - 1);
      await restart();
    }
  }

  return {
    ahead(writer) {
      if (writers.isCurrent(writer)) note(writer, Infinity, null);
    },
    conflict(theirs) {
      const known = writers.own(theirs.writer);
      if (known && theirs.counter < known.next) compare(theirs).catch(onTrouble);
    },
    close: () => cancel?.(),
  };
}

// Moves rows from the ledger's outbox into entries. Documents that only this device has are sealed
// at once. Documents from the relay reach every listening device. So each device waits a moment and
// skips what another one has sealed meanwhile. If two devices seal the same document, it is in two
// entries, which is harmless.

interface OutgoingDeps {
  readonly ledger: Pick<LedgerPort, 'outbox' | 'clearOutbox'>;
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly heard: Pick<Received, 'has'>;
  readonly timers: Timers;
  /** ms that only move forward, so a clock that is set back delays nothing. */
  readonly elapsed: () => number;
  /** 0 to 1 */
  readonly random: () => number;
  /** Are there other devices that may seal the documents from the relay? */
  readonly hasOthers: () => boolean;
  /** These documents were written on this device, and are sealed once it resolves. */
  readonly onOwn: (docs: readonly Doc[]) => Promise<void>;
  /** Null: it works again. */
  readonly onTrouble: (error: unknown) => void;
  /** The result of `waiting` has changed. */
  readonly onChange: () => void;
}

interface OutgoingPump {
  /** The outbox has rows. */
  wake(): void;
  /** Rows that are not sealed yet. At least one from the moment that a row was added. */
  waiting(): number;
  /** Seals everything that waits now, without waiting for other devices. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Messages are sealed at once, pieces of files in small batches: sealing a large file would delay
 * new messages.
 */
function turnsOf(sealings: readonly Sealing[]): readonly (readonly Sealing[])[] {
  const isPiece = ({ stream }: Sealing) => stream === 'attachments';
  const pieces = sealings.filter(isPiece);
  const turns = [sealings.filter((one) => !isPiece(one))];
  for (let at = 0; at < pieces.length; at += SYNC_WORKER.sealPieces)
    turns.push(pieces.slice(at, at + SYNC_WORKER.sealPieces));
  return turns.filter((turn) => turn.length > 0);
}

/** The first rows, with at least `most` documents together if there are so many. */
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
  /** When each row from the relay is due, by its number. */
  const due = new Map<number, number>();
  let running: Promise<void> | null = null;
  let again = false;
  let hurry = false;
  let cancel: (() => void) | null = null;
  let failed = false;
  /** Rows that were read and are not sealed. At least one while rows are being read. */
  let left = 0;
  /** The outbox may have rows that were not read yet. */
  let unread = false;
  let closed = false;

  async function once(): Promise<void> {
    unread = false;
    left = Math.max(left, 1);
    const rows = await ledger.outbox(SYNC_WORKER.outboxRows);
    const allReady = rows.filter(({ number, fromRelay }) => {
      if (!fromRelay || hurry || !hasOthers()) return true;
      const time = due.get(number) ?? elapsed() + SYNC_WORKER.relayedWait + random() * SYNC_WORKER.relayedJitter;
      due.set(number, time);
      return time <= elapsed();
    });
    const ready = firstOf(allReady, SYNC_WORKER.outboxDocuments);
    if (ready.length > 0) {
      const docs = ready.flatMap((row) => (row.fromRelay ? row.docs.filter(({ _id }) => !heard.has(_id)) : row.docs));
      await onOwn(ready.flatMap((row) => (row.fromRelay ? [] : row.docs)));
      for (const some of turnsOf(sealingsOf(docs))) await sealer.seal(some);
      await ledger.clearOutbox(ready.map(({ number }) => number));
      for (const { number } of ready) due.delete(number);
      if (ready.length < allReady.length || rows.length === SYNC_WORKER.outboxRows) again = true;
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
      unread = true;
      onTrouble(error);
      wait(SYNC_WORKER.sealRetry);
    }
  }

  const burst = createBurst({
    after: timers.after,
    quietMs: SYNC_WORKER.sealQuiet,
    mostMs: SYNC_WORKER.sealMost,
    run: () => begin(),
  });

  function wake() {
    if (closed) return;
    unread = true;
    burst.add();
  }

  function begin() {
    burst.clear();
    if (closed) return;
    unread = true;
    again = true;
    running ??= run().finally(() => {
      running = null;
      onChange();
    });
  }

  return {
    wake,
    waiting: () => Math.max(left, unread ? 1 : 0),
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

/**
 * Sends the other devices each agent's last conversation and its length. It does so when a session
 * has ended and all of it is here. So a device knows when it has enough to wake an agent.
 */
interface TipTeller {
  /** Sends soon, unless another device has by then. */
  check(): void;
  tell(): Promise<void>;
  close(): void;
}

function createTipTeller({
  ledger,
  members,
  timers,
  now,
  random,
  isWhole,
  say,
  onTrouble,
}: {
  readonly ledger: Pick<LedgerPort, 'lastTalks'>;
  readonly members: Pick<Members, 'tips' | 'hear'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly random: () => number;
  /** Is everything known here? Otherwise our numbers would be too low. */
  readonly isWhole: () => boolean;
  readonly say: (payload: Payload) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}): TipTeller {
  let cancel: (() => void) | null = null;

  async function tell() {
    if (!isWhole()) return;
    const known = new Map(members.tips().map((tip) => [tip.agentId, tip]));
    const time = now();
    const tips = (await ledger.lastTalks()).flatMap((talk) => {
      const tip = known.get(talk.agentId);
      return tip?.sessionId === talk.sessionId && tip.messages >= talk.messages ? [] : [{ ...talk, time }];
    });
    if (tips.length === 0) return;
    await members.hear({ tips });
    await say({ tips });
  }

  return {
    check() {
      cancel?.();
      cancel = timers.after(
        SYNC_WORKER.tipsAfter + SYNC_WORKER.relayedWait + random() * SYNC_WORKER.relayedJitter,
        () => void tell().catch(onTrouble),
      );
    },
    tell,
    close: () => cancel?.(),
  };
}

/**
 * Seals what was here before this device began to share, oldest first. So the newest documents have
 * the highest counters and are fetched first. Each step stores its progress.
 */
interface FirstSealDeps {
  readonly db: SyncDatabase;
  readonly ledger: Pick<LedgerPort, 'betweenAppends' | 'keys' | 'documentsAt'>;
  readonly sealer: Pick<Sealer, 'seal'>;
  /** Documents that are in entries already. */
  readonly sealed: () => Promise<ReadonlySet<string>>;
  readonly onProgress: (progress: { readonly done: number; readonly of: number } | null) => void;
  readonly isClosed: () => boolean;
}

const isAfter = (key: DocumentKey, through: FirstSeal['through']) =>
  through === null || key.at > through.at || (key.at === through.at && key.id > through.id);

/**
 * Continues from `state`. Later appends go through the outbox. A document that both seal is
 * harmless.
 */
async function sealEverything(
  { db, ledger, sealer, sealed, onProgress, isClosed }: FirstSealDeps,
  state: FirstSeal,
): Promise<void> {
  const keys = await ledger.betweenAppends(() => ledger.keys());
  const known = keys.length === 0 ? new Set<string>() : await sealed();
  const left = keys.filter((key) => isAfter(key, state.through) && !known.has(key.id));
  for (let at = 0; at < left.length; at += SYNC_WORKER.firstSeal) {
    if (isClosed()) return;
    const some = left.slice(at, at + SYNC_WORKER.firstSeal);
    const last = some.at(-1);
    const firstSeal: FirstSeal = { done: false, through: last ? { at: last.at, id: last.id } : state.through };
    await sealer.seal(sealingsOf(await ledger.documentsAt(some)), { firstSeal });
    onProgress({ done: at + some.length, of: left.length });
  }
  await writeMeta(db, { firstSeal: { done: true, through: null } });
  onProgress(null);
}

interface WritingDeps {
  readonly db: SyncDatabase;
  readonly ledger: LedgerPort;
  readonly timers: Timers;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms that only move forward. */
  readonly elapsed: () => number;
  readonly random: RandomBytes;
  readonly keys: Keys;
  readonly members: Members;
  readonly backfill: Backfill;
  readonly holding: Holding;
  readonly heard: Received;
  readonly ahead: Ahead;
  readonly fileMirror: FileMirror;
  readonly writers: OwnWriters;
  readonly exchange: Exchange;
  readonly unacknowledged: Unacknowledged;
  readonly syncState: SyncState;
  readonly events: DeviceEvents;
  /** Progress of sealing what was here before. */
  readonly firstSeal: FirstSeal;
  readonly isClosed: () => boolean;
}

export interface Writing {
  readonly outgoing: OutgoingPump;
  readonly tipTeller: TipTeller;
  /** Seals with the newest key, for this place. */
  seal(writer: string, counter: number, payload: Uint8Array): Uint8Array;
  /** Sends to the other devices. Durable when it resolves. */
  say(payload: Payload, along?: Partial<SyncMeta>): Promise<void>;
  /**
   * Seals documents from before sharing that are in no entry. Never rejects: errors are reported as
   * trouble.
   */
  sealRest(): Promise<void>;
  close(): Promise<void>;
}

export function createWriting(deps: WritingDeps): Writing {
  const { db, ledger, timers, keys, members, holding, writers, exchange, syncState, events, random } = deps;
  const { entries } = holding;
  const onTrouble = syncState.trouble('sealing');
  /** 0 to 1 */
  const chance = () => (random(1)[0] ?? 0) / 256;

  const seal = (writer: string, counter: number, payload: Uint8Array) =>
    sealEntry({ keys: keys.household(), writer, counter, payload, random });
  const sealer = createSealer({
    db,
    writers,
    entries,
    seal,
    newWriter: (stream) => newWriter(keys.household(), stream, random),
    // A relay that was restored to the same state as this profile would agree. The files may know
    // more.
    agrees: (writer) => syncState.now().filesRead && exchange.replica().agrees(writer),
    onSealed(fresh) {
      deps.fileMirror.add(fresh);
      deps.unacknowledged.sealed(fresh.length);
      exchange.replica().wrote(fresh);
      syncState.changed();
    },
  });
  const say = (payload: Payload, along?: Partial<SyncMeta>) =>
    sealer.seal([{ stream: 'people', payload: writePayload(payload) }], along);
  const outgoing = createOutgoing({
    ledger,
    sealer,
    heard: deps.heard,
    timers,
    elapsed: deps.elapsed,
    random: chance,
    // Answers to these documents are dated after them.
    onOwn: (docs) => deps.ahead.takeUpTo(latestOf({ docs: [...docs] })),
    hasOthers: () => members.devices().some((one) => !one.removed && one.deviceId !== keys.membership().deviceId),
    onTrouble,
    onChange: syncState.changed,
  });
  const tipTeller = createTipTeller({
    ledger,
    members,
    timers,
    now: deps.now,
    random: chance,
    isWhole: () => syncState.now().backlog === null && deps.backfill.arriving().length === 0,
    say,
    onTrouble,
  });
  events.on('backlog', () => {
    if (syncState.now().backlog === null) tipTeller.check();
  });
  const forks = createForks({
    entries,
    writers,
    sealer,
    open: holding.open,
    restart: exchange.restart,
    timers,
    onTrouble,
  });
  events.on('ahead', forks.ahead);
  events.on('conflict', forks.conflict);

  return {
    outgoing,
    tipTeller,
    seal,
    say,
    async sealRest() {
      if (deps.firstSeal.done) return;
      await sealEverything(
        {
          db,
          ledger,
          sealer,
          sealed: entries.documentIds,
          onProgress(sealing) {
            syncState.set({ sealing });
            if (sealing === null) tipTeller.check();
          },
          isClosed: deps.isClosed,
        },
        deps.firstSeal,
      ).catch(onTrouble);
    },
    async close() {
      forks.close();
      tipTeller.close();
      await outgoing.close();
    },
  };
}

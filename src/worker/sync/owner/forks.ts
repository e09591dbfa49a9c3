/**
 * A profile that was restored from a copy, or runs twice, writes where others have something of
 * ours already. It then goes on under new writers; what it wrote in those places is sealed anew,
 * and what everybody else has is fetched.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { SYNC_OWNER } from '../settings.ts';
import type { Entry } from '../../../shared/protocol/sync/page.ts';
import type { Opened } from '../contract.ts';
import type { DeviceEntryStore } from './entry-store.ts';
import type { OwnWriters } from './own-writers.ts';
import { readPayload } from './payload.ts';
import type { Sealer } from './sealer.ts';

/** What an entry carries, by names that tell two apart. */
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

export interface Forks {
  /** Somebody has entries of this writer that we never wrote. */
  ahead(writer: string): void;
  /** Somebody has other bytes in this place. */
  conflict(theirs: Entry): void;
  close(): void;
}

export function createForks({
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
  /** The replica takes account anew: something of ours is gone. */
  readonly restart: () => Promise<void>;
  readonly timers: Timers;
  readonly onTrouble: (error: unknown) => void;
}): Forks {
  /** By writer, the first counter that is not ours alone, and what others have there. */
  const found = new Map<string, { from: number; readonly theirs: Uint8Array[] }>();
  let cancel: (() => void) | null = null;

  function note(writer: string, counter: number, theirs: Uint8Array | null) {
    const known = found.get(writer) ?? { from: Infinity, theirs: [] };
    known.from = Math.min(counter, known.from);
    if (theirs) known.theirs.push(theirs);
    found.set(writer, known);
    // More of them come together.
    cancel ??= timers.after(SYNC_OWNER.forks, () => {
      cancel = null;
      goOn().catch(onTrouble);
    });
  }

  /**
   * Where something was forgotten, an entry is sealed anew with less in it: that is no conflict,
   * nor is what nobody of the household sealed.
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
      // What was written under one that it has left may still have to be sealed anew.
      const known = writers.own(writer);
      if (!known) continue;
      const { stream, next } = known;
      await sealer.leave(writer);
      const ours = from < next ? await entries.from(writer, from, next - 1) : [];
      // Theirs too: a third device may have taken ours, and its place is taken for theirs.
      const payloads = [
        ...ours.flatMap((entry) => {
          const opened = open(entry);
          return opened.ok ? [opened.payload] : [];
        }),
        ...theirs,
      ].map((payload) => ({ stream, payload }));
      // First under the new writer, then out of the old one: a crash in between leaves them twice,
      // which is harmless.
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

/**
 * The volume that is written now: opened when it is needed, filled group by group, and sealed when
 * it is full.
 */
import { sentence } from '../../../shared/domain/sentence.ts';
import { storeOf } from '../../../shared/protocol/documents/kinds.ts';
import { isDeepEqual } from '../equal.ts';
import type { JournalDatabase, VolumeRecord } from '../journal/database.ts';
import { LEDGER } from '../settings.ts';
import type { ViewsDatabase } from '../views/database.ts';
import { DOCUMENT_STORES } from '../views/write.ts';
import { decodeDocuments, type StoredDoc, encodeDocument, isPartId } from './codec.ts';
import { lacking, openedEmpty, unreadable } from './faults.ts';
import type { Volume } from './fireproof-volume.ts';
import { currentRecord, putListed } from './records.ts';
import { createRows, type Group } from './rows.ts';

/** Does a volume hold, document by document, what the views know to be in it? */
interface Check {
  /** Ids of the documents that are there and right. */
  readonly ids: readonly string[];
  /** What is wrong, one sentence each; empty where nothing is. */
  readonly faults: readonly string[];
}

/** `expected`: ids of the documents that it should hold. */
async function checkVolume(
  views: ViewsDatabase,
  expected: readonly string[],
  stored: readonly StoredDoc[],
): Promise<Check> {
  const { docs, damaged } = decodeDocuments(stored);
  const faults = damaged.map(({ id, reason }) => unreadable(id, reason));
  const tx = views.transaction([...DOCUMENT_STORES]);
  const viewed = await Promise.all(docs.map((doc) => tx.objectStore(storeOf(doc)).get(doc._id)));
  const ids: string[] = [];
  docs.forEach((doc, i) => {
    if (isDeepEqual(viewed[i]?.doc, doc)) ids.push(doc._id);
    else faults.push(sentence`${doc._id} is not what was written`);
  });
  const there = new Set(ids);
  const lacking = expected.filter((id) => !there.has(id));
  if (lacking.length > 0) faults.push(sentence`${lacking.length} of ${expected.length} documents are missing`);
  return { ids, faults };
}

export interface CurrentVolumeDeps {
  readonly db: JournalDatabase;
  /** The views, with everything in them that lies in the journal. */
  readonly views: () => Promise<ViewsDatabase>;
  readonly open: (name: string) => Promise<Volume>;
  /** ms since the epoch */
  readonly now: () => number;
  /**
   * The volume has this group for good, and the journal no more; null: the journal held nothing.
   */
  readonly onFiled: (group: Group | null) => void;
  /** Closing it failed, where nobody waits for that. */
  readonly onTrouble: (error: unknown) => void;
}

export interface CurrentVolume {
  /** What it holds; nothing where it is not open. */
  ids(): Iterable<string>;
  /**
   * Files the journal's oldest documents, of rows up to `upTo`. Rejects with a `DamagedError` where
   * it does not give back what it should.
   */
  commit(upTo: number): Promise<void>;
  close(): Promise<void>;
  /** What it holds in memory is not to be trusted: the next commit begins from what is on disk. */
  leave(): Promise<void>;
}

/** What the volume holds is not what it should hold. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
  readonly record: VolumeRecord;
  readonly faults: readonly string[];
  constructor(record: VolumeRecord, faults: readonly string[]) {
    super(`Volume ${record.name} is damaged: ${faults.slice(0, 3).join('; ')}`);
    this.record = record;
    this.faults = faults;
  }
}

interface Opened {
  readonly record: VolumeRecord;
  readonly volume: Volume;
  readonly ids: Set<string>;
}

/**
 * Documents into a volume in commits that are small enough. Parts of long texts first, each few to
 * a commit; the documents themselves in the last commit.
 */
export async function writeStored(volume: Volume, docs: readonly StoredDoc[]): Promise<void> {
  let commit: StoredDoc[] = [];
  let size = 0;
  for (const doc of docs.filter(({ _id }) => isPartId(_id))) {
    const weight = JSON.stringify(doc).length;
    if (commit.length > 0 && size + weight > LEDGER.groupChars) {
      await volume.write(commit);
      commit = [];
      size = 0;
    }
    commit.push(doc);
    size += weight;
  }
  if (commit.length > 0) await volume.write(commit);
  const whole = docs.filter(({ _id }) => !isPartId(_id));
  if (whole.length > 0) await volume.write(whole);
}

export function createCurrentVolume({ db, views, open, now, onFiled, onTrouble }: CurrentVolumeDeps): CurrentVolume {
  const rows = createRows(db);
  let current: Opened | null = null;

  async function closeCurrent() {
    const held = current;
    current = null;
    await held?.volume.close();
  }

  async function openCurrent(): Promise<Opened> {
    if (current) return current;
    const record = await currentRecord(db);
    const volume = await open(record.name);
    let ids: readonly string[] = [];
    if (record.documents > 0) {
      try {
        if (volume.isEmpty()) throw new DamagedError(record, [openedEmpty(record.documents)]);
        const { docs } = decodeDocuments(await volume.read());
        if (docs.length < record.documents) throw new DamagedError(record, [lacking(docs.length, record.documents)]);
        ids = docs.map(({ _id }) => _id);
      } catch (error) {
        await volume.close().catch(onTrouble);
        throw error;
      }
    }
    current = { record, volume, ids: new Set(ids) };
    return current;
  }

  /**
   * Without what the volume has already, and without what came under an id that was taken: what was
   * written first holds.
   */
  async function toWrite(group: Group, ids: ReadonlySet<string>): Promise<readonly StoredDoc[]> {
    const tx = (await views()).transaction([...DOCUMENT_STORES]);
    const viewed = await Promise.all(group.docs.map((doc) => tx.objectStore(storeOf(doc)).get(doc._id)));
    const skipped = group.docs.filter((doc, i) => ids.has(doc._id) || !isDeepEqual(viewed[i]?.doc, doc));
    if (skipped.length === 0) return group.stored;
    const skip = new Set(skipped);
    return group.docs.filter((doc) => !skip.has(doc)).flatMap(encodeDocument);
  }

  async function commit(upTo: number): Promise<void> {
    const waiting = await rows;
    const { record, volume, ids } = await openCurrent();
    const group = await waiting.next(upTo, Math.min(LEDGER.groupMost, Math.max(1, LEDGER.volumeDocuments - ids.size)));
    if (group.rows.length === 0 && group.docs.length === 0) {
      onFiled(null);
      return;
    }
    const stored = await toWrite(group, ids);
    if (stored.length > 0) await writeStored(volume, stored);
    for (const doc of group.docs) ids.add(doc._id);
    const grown: VolumeRecord = { ...record, documents: ids.size };
    await waiting.filed(group, grown);
    current = { record: grown, volume, ids };
    onFiled(group);
    if (grown.documents >= LEDGER.volumeDocuments) await seal();
    else if (volume.cars() > LEDGER.compactAboveCars) await volume.compact();
  }

  /**
   * Compacts the full volume, opens it afresh, checks it document by document, and closes it for
   * good.
   */
  async function seal() {
    if (!current) return;
    const { record, volume, ids } = current;
    await volume.compact();
    await closeCurrent();
    const sealed = await open(record.name);
    const check = await checkVolume(await views(), [...ids], await sealed.read());
    await sealed.close();
    if (check.faults.length > 0) throw new DamagedError(record, check.faults);
    await putListed(db, { ...record, state: 'sealed', checkedAt: now(), faults: [] }, check.ids);
  }

  return {
    ids: () => current?.ids ?? [],
    commit,
    close: closeCurrent,
    async leave() {
      const failed = current;
      current = null;
      await failed?.volume.close().catch(onTrouble);
    },
  };
}

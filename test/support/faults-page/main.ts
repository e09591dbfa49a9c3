/** Fireproof as it comes, and our volumes, side by side in one page. */
import { fireproof } from '@fireproof/core';
import { getKeyBag } from '@fireproof/core-keybag';
import { ensureSuperThis } from '@fireproof/core-runtime';
import { openVolume } from '../../../src/ledger/volumes/fireproof-volume.ts';
import { ensureKey } from '../../../src/ledger/volumes/key.ts';

export interface FaultDoc {
  readonly _id: string;
  readonly text: string;
}

export interface FaultsPage {
  /** Plain Fireproof: `put` one by one. */
  put(name: string, ids: readonly string[]): Promise<void>;
  /** Plain Fireproof: all in one commit, each with this many random characters. */
  bulk(name: string, ids: readonly string[], chars: number): Promise<void>;
  /** Plain Fireproof: the ids it can give back after a reload, or why it can give none. */
  read(name: string): Promise<readonly string[] | string>;
  /** Plain Fireproof's key bag: gives the named key this material, as an application would at every start. */
  giveKey(name: string): Promise<void>;
  /** The ids that plain Fireproof gives back of a ledger encrypted with a named key. */
  putKeyed(name: string, ids: readonly string[]): Promise<void>;
  readKeyed(name: string): Promise<readonly string[] | string>;
  ours: {
    put(name: string, ids: readonly string[]): Promise<void>;
    bulk(name: string, ids: readonly string[], chars: number): Promise<void>;
    read(name: string): Promise<readonly string[]>;
    /** Asks for compaction as Fireproof itself would. Answers with how many CARs are left. */
    compactWithoutLock(name: string): Promise<string>;
  };
}

declare global {
  interface Window {
    faults: FaultsPage;
  }
}

const randomText = (chars: number) => {
  const bytes = new Uint8Array(chars / 2);
  for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
};
const KEY = '@shared@';
const keyed = { storeUrls: { base: `indexeddb://keyed?storekey=${KEY}` } };
const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function idsIn(db: ReturnType<typeof fireproof>): Promise<readonly string[] | string> {
  try {
    return (await db.allDocs<FaultDoc>()).rows.map(({ key }) => key);
  } catch (error) {
    return reason(error);
  }
}

const opened = async (name: string, lockHeld = true) => {
  await ensureKey(null);
  return openVolume({ name, lockHeld: () => lockHeld });
};

window.faults = {
  async put(name, ids) {
    const db = fireproof(name);
    for (const _id of ids) await db.put<FaultDoc>({ _id, text: _id });
  },
  async bulk(name, ids, chars) {
    await fireproof(name).bulk<FaultDoc>(ids.map((_id) => ({ _id, text: randomText(chars) })));
  },
  read: (name) => idsIn(fireproof(name)),
  async giveKey() {
    const bag = await getKeyBag(ensureSuperThis());
    await bag.getNamedKey(KEY, false, crypto.getRandomValues(new Uint8Array(32)));
  },
  async putKeyed(name, ids) {
    await fireproof(name, keyed).bulk<FaultDoc>(ids.map((_id) => ({ _id, text: _id })));
  },
  readKeyed: (name) => idsIn(fireproof(name, keyed)),
  ours: {
    async put(name, ids) {
      const volume = await opened(name);
      for (const _id of ids) await volume.write([{ _id, text: _id }]);
      await volume.compact();
      await volume.close();
    },
    async bulk(name, ids, chars) {
      const volume = await opened(name);
      await volume.write(ids.map((_id) => ({ _id, text: randomText(chars) })));
      await volume.close();
    },
    async read(name) {
      const volume = await opened(name);
      const ids = (await volume.read()).map(({ _id }) => _id);
      await volume.close();
      return ids;
    },
    async compactWithoutLock(name) {
      const volume = await opened(name, false);
      try {
        await volume.compact();
        return 'it compacted';
      } catch (error) {
        return reason(error);
      } finally {
        await volume.close();
      }
    },
  },
};

/** Documents into a volume in commits that are small enough. */
import { LEDGER } from '../settings.ts';
import { isPartId, type StoredDoc } from './codec.ts';
import type { Volume } from './fireproof-volume.ts';

/** Parts of long texts first, each few to a commit; the documents themselves in the last commit. */
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

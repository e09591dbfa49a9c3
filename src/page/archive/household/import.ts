/** The second pass over a file that was found whole: what is wanted of it goes to the ledger. */
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { Workers } from '../methods.ts';
import { ArchiveError } from '../problem.ts';
import { belongsTo, isLook } from './belongs.ts';
import { isConsented } from './consent.ts';
import { readHousehold } from './read.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

export const importHousehold: Workers['importArchive'] = async (
  { source, withSettings, leaveOut, ticks },
  { append },
  tell,
) => {
  const { forgets, needs } = source;
  const ticked = new Set(ticks);
  const without = new Set([
    ...leaveOut,
    ...[...source.agents].flatMap(([agentId, tick]) => (ticked.has(tick) ? [] : [agentId])),
  ]);
  const isWanted = (doc: Doc) => {
    if (!isConsented(needs, ticked, doc._id)) return false;
    if (doc.type === 'setting' && !isLook(doc)) return withSettings;
    const agentId = belongsTo(doc, forgets);
    return agentId === null || !without.has(agentId);
  };
  let [documents, written, leftOut] = [0, 0, 0];
  const { digest } = await readHousehold(source.file, source.fileKey, async (docs) => {
    const wanted = docs.filter(isWanted);
    if (wanted.length > 0) written += (await append(wanted)).written;
    documents += wanted.length;
    leftOut += docs.length - wanted.length;
    tell({ stage: 'documents', done: documents + leftOut, of: source.documents });
  });
  if (digest !== source.digest)
    throw new ArchiveError(
      'damaged',
      sentence`The file was changed while it was being imported. Open it once more; what was imported already is not taken twice.`,
    );
  return { documents, written, leftOut };
};

/** The bytes of a file that came with a message, from the pieces they are kept in. */
import { pieceId, piecesOf, type Attachment } from '../../../shared/domain/attachment.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { ViewsDatabase } from './database.ts';

/** In base64; null: not all of it is on this device. */
export async function readAttachment(
  db: ViewsDatabase,
  file: Pick<Attachment, 'attachmentId' | 'bytes'>,
): Promise<string | null> {
  const store = db.transaction('records').objectStore('records');
  const held = await Promise.all(
    Array.from({ length: piecesOf(file) }, (_none, index) => store.get(pieceId(file, index))),
  );
  const pieces = held.flatMap((record) =>
    record && isKnown(record.doc) && record.doc.type === 'attachment' ? [record.doc.data] : [],
  );
  return pieces.length === held.length ? pieces.join('') : null;
}

/** What the person says and sends along, as it is written and as it is put before a mind. */
import { attachmentLine, type Attachment } from '../../../src/shared/domain/attachment.ts';
import type { Block } from '../../../src/shared/protocol/documents.ts';
import type { PostMessage } from '../../../src/shared/protocol/http.ts';

/** What the person said, as blocks. */
export const wordsOf = (text: string): Block[] => (text === '' ? [] : [{ kind: 'text', text }]);
/** What is written of a file: the bytes are the ledger's alone. */
export const withoutBytes = ({
  attachmentId,
  name,
  mediaType,
  bytes,
  width,
  height,
}: NonNullable<PostMessage['attachments']>[number]) => ({ attachmentId, name, mediaType, bytes, width, height });
/**
 * What was said, and by name what came with it: that is there for minds that see nothing, and after
 * a restart.
 */
export const textWith = (text: string, attachments: readonly Attachment[]): string =>
  [...(text === '' ? [] : [text]), ...attachments.map(attachmentLine)].join('\n\n');

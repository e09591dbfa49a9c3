/**
 * The worker's part of moving in: first a preview, then the conversations that the person chose.
 */
import { ExportError, EXPORT_FORMAT, type Ports, type Tell, type Workers } from '../methods.ts';
import { sentence } from '../../../shared/domain/names.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { importedDocuments, importedSessionId } from './documents.ts';
import { createNotTaken, readFiles, sourceFiles, type SourceFile } from './formats.ts';
import type { ConversationSummary, ImportedFile, ImportedSoul } from './types.ts';

/** Messages about progress per second would flood the page. */
const TELL_EVERY_BYTES = 1024 * 1024;

function teller(tell: Tell): (done: number, of: number) => void {
  let told = -TELL_EVERY_BYTES;
  return (done, of) => {
    if (done - told < TELL_EVERY_BYTES && done < of) return;
    told = done;
    tell({ stage: 'bytes', done, of });
  };
}

const NOTHING = (path: string, why: string) => sentence`There is nothing to import in ${path}: ${why}.`;
const EMPTY = sentence`it is empty`;

export const readMoveIn: Workers['readMoveIn'] = async ({ files: chosen }, _ports, tell) => {
  const files = await sourceFiles(chosen);
  const notTaken = createNotTaken();
  const conversations: ConversationSummary[] = [];
  const texts: ImportedFile[] = [];
  let soul: ImportedSoul | null = null;
  for await (const item of readFiles(files, { note: notTaken.note, onBytes: teller(tell) })) {
    if (item.kind === 'file') texts.push(item.file);
    else if (item.kind === 'soul') soul ??= item.soul;
    else {
      const { conversation } = item;
      const { format, title, branchOf, messages } = conversation;
      const sessionId = importedSessionId(conversation);
      const time = messages[0]?.time ?? 0;
      conversations.push({ sessionId, format, title, time, messages: messages.length, isBranch: branchOf !== null });
    }
  }
  const list = notTaken.list();
  if (conversations.length === 0 && texts.length === 0 && soul === null) {
    throw new ExportError('not-an-export', NOTHING(chosen[0]?.path ?? '', list[0]?.reason ?? EMPTY));
  }
  conversations.sort((a, b) => b.time - a.time);
  return { conversations, files: texts, soul, notTaken: list };
};

export const moveIn: Workers['moveIn'] = async ({ files: chosen, agentId, sessionIds }, ports, tell) => {
  const files: readonly SourceFile[] = await sourceFiles(chosen);
  const wanted = new Set(sessionIds);
  const writer = createWriter(ports);
  let conversations = 0;
  for await (const found of readFiles(files, { note: () => undefined, onBytes: teller(tell) })) {
    if (found.kind !== 'conversation' || !wanted.has(importedSessionId(found.conversation))) continue;
    conversations += 1;
    for (const doc of importedDocuments(found.conversation, agentId)) await writer.put(doc);
  }
  return { conversations, ...(await writer.end()) };
};

/** Appends documents in batches that a tab passes on without blocking. */
function createWriter({ append, compare }: Pick<Ports, 'append' | 'compare'>) {
  let batch: Doc[] = [];
  let chars = 0;
  let documents = 0;
  let written = 0;
  let forgotten = 0;
  async function flush() {
    if (batch.length === 0) return;
    const docs = batch;
    batch = [];
    chars = 0;
    const fresh = (await append(docs)).written;
    documents += docs.length;
    written += fresh;
    if (fresh < docs.length) forgotten += (await compare(docs)).forgotten;
  }
  return {
    async put(doc: Doc) {
      batch.push(doc);
      chars += JSON.stringify(doc).length;
      if (batch.length >= EXPORT_FORMAT.batchDocuments || chars >= EXPORT_FORMAT.batchChars) await flush();
    },
    async end() {
      await flush();
      return { documents, written, forgotten };
    },
  };
}

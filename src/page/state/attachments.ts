/**
 * Pictures and files attached to messages. They are stored in the ledger before they are sent, and
 * read from there.
 */
import {
  ATTACHMENTS,
  withBytes,
  withoutBytes,
  type Attachment,
  type SentAttachment,
} from '../../shared/domain/attachment.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { t } from '../language/t.ts';
import { isCovered, isKnown } from '../../shared/protocol/documents/kinds.ts';
import type { Writer } from './documents.ts';
import type { Household } from './household.ts';
import type { DataWorkerPort } from './ports.ts';
import { errorText } from './ports.ts';

/** A file as it is stored and sent: scaled down, and without the camera's metadata. */
export interface PreparedFile extends SentAttachment {
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly sha256: string;
  /** Number of pages of a PDF, where it can be determined. */
  readonly pages?: number;
}

type Result<File> =
  | { readonly ok: true; readonly attachments: readonly File[] }
  | { readonly ok: false; readonly reason: string };

export interface Attachments {
  /**
   * Stores files in this agent's conversation; a file that is already there is not stored twice.
   * All are stored, or none.
   */
  keep(agentId: AgentId, files: readonly PreparedFile[]): Promise<Result<Attachment>>;
  /** The files as they are sent to the relay. */
  toSend(files: readonly Attachment[]): Promise<Result<SentAttachment>>;
}

interface Deps {
  readonly dataWorker: DataWorkerPort;
  readonly writer: Writer;
  readonly household: Household;
}

/** The key under which the file is found by content: see the kind of document. */
const aboutFile = (agentId: AgentId, sha256: string) => `attachment ${agentId} ${sha256}`;
/** Characters of base64 in one piece. */
const PIECE_CHARS = (ATTACHMENTS.pieceBytes / 3) * 4;

/** In base64; null: not complete on this device yet. Rejects where it cannot be read. */
export const readAttachment = (
  dataWorker: DataWorkerPort,
  { attachmentId, bytes }: Pick<Attachment, 'attachmentId' | 'bytes'>,
): Promise<string | null> => dataWorker.call('attachment', { attachmentId, bytes });

/** Calls `task` when more of this file has arrived. Returns a function that unsubscribes. */
export const onAttachment = (dataWorker: DataWorkerPort, attachmentId: string, task: () => void): (() => void) =>
  dataWorker.subscribe((news) => {
    if (news.news === 'documents' && news.docs.some((doc) => doc['attachmentId'] === attachmentId)) task();
  });

export function createAttachments({ dataWorker, writer, household }: Deps): Attachments {
  /** The same file in this conversation, unless it is hidden. */
  async function find(agentId: AgentId, { sha256 }: PreparedFile): Promise<string | null> {
    const { docs } = await dataWorker.call('within', { about: aboutFile(agentId, sha256), after: null, limit: 20 });
    const { forgetting } = household.store.getState();
    const there = docs.find((doc) => !forgetting.some((forget) => isCovered(doc, forget)));
    return there && isKnown(there) && there.type === 'attachment' ? there.attachmentId : null;
  }

  async function keep(agentId: AgentId, files: readonly PreparedFile[]): Promise<Attachment[]> {
    const existing = await Promise.all(files.map((file) => find(agentId, file)));
    const fresh = new Map(files.flatMap((file, i) => (existing[i] === null ? [[file.sha256, file] as const] : [])));
    const docs = [...fresh.values()].flatMap(({ attachmentId, sha256, bytes, data }) =>
      Array.from({ length: Math.max(1, Math.ceil(data.length / PIECE_CHARS)) }, (_none, index) =>
        writer.attachment({
          agentId,
          attachmentId,
          sha256,
          bytes,
          index,
          data: data.slice(index * PIECE_CHARS, (index + 1) * PIECE_CHARS),
        }),
      ),
    );
    if (docs.length > 0) await dataWorker.call('append', docs);
    return files.map(({ sha256, ...file }, i) => ({
      ...withoutBytes(file),
      attachmentId: existing[i] ?? fresh.get(sha256)?.attachmentId ?? file.attachmentId,
    }));
  }

  async function toSend(files: readonly Attachment[]): Promise<Result<SentAttachment>> {
    try {
      const sent = await Promise.all(
        files.map(async (file) => withBytes(file, await readAttachment(dataWorker, file))),
      );
      const whole = sent.flatMap((file) => file ?? []);
      return whole.length === files.length
        ? { ok: true, attachments: whole }
        : { ok: false, reason: t`not all of it is on this device yet.` };
    } catch (error) {
      return { ok: false, reason: errorText(error) };
    }
  }

  return {
    async keep(agentId, files) {
      try {
        return { ok: true, attachments: await keep(agentId, files) };
      } catch (error) {
        return { ok: false, reason: errorText(error) };
      }
    },
    toSend,
  };
}

/**
 * Pictures and files that go along with messages: kept in the ledger before they are sent, and read
 * from there.
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
import type { OwnerPort } from './ports.ts';
import { errorText } from './ports.ts';

/** A file as it is kept and sent: scaled down, and without what its camera wrote into it. */
export interface PreparedFile extends SentAttachment {
  /** Of its bytes, in hexadecimal. */
  readonly sha256: string;
  /** Of a PDF, as far as it can be told. */
  readonly pages?: number;
}

type Result<File> =
  | { readonly ok: true; readonly attachments: readonly File[] }
  | { readonly ok: false; readonly reason: string };

export interface Attachments {
  /**
   * Durable in the conversation of this agent; one that is there already is not kept twice. All of
   * them, or none.
   */
  keep(agentId: AgentId, files: readonly PreparedFile[]): Promise<Result<Attachment>>;
  /** As they go to the relay. */
  toSend(files: readonly Attachment[]): Promise<Result<SentAttachment>>;
}

interface Deps {
  readonly owner: OwnerPort;
  readonly writer: Writer;
  readonly household: Household;
}

/** Where it is found by what it holds: see the kind of document. */
const aboutFile = (agentId: AgentId, sha256: string) => `attachment ${agentId} ${sha256}`;
/** Characters of base64 in one piece. */
const PIECE_CHARS = (ATTACHMENTS.pieceBytes / 3) * 4;

/** In base64; null: not all of it is on this device yet. Rejects where it cannot be read. */
export const readAttachment = (
  owner: OwnerPort,
  { attachmentId, bytes }: Pick<Attachment, 'attachmentId' | 'bytes'>,
): Promise<string | null> => owner.call('attachment', { attachmentId, bytes });

/** Runs `task` when more of this file has come. Returns the way to stop. */
export const onAttachment = (owner: OwnerPort, attachmentId: string, task: () => void): (() => void) =>
  owner.subscribe((news) => {
    if (news.news === 'documents' && news.docs.some((doc) => doc['attachmentId'] === attachmentId)) task();
  });

export function createAttachments({ owner, writer, household }: Deps): Attachments {
  /** The same file in this conversation, where it is in sight. */
  async function find(agentId: AgentId, { sha256 }: PreparedFile): Promise<string | null> {
    const { docs } = await owner.call('within', { about: aboutFile(agentId, sha256), after: null, limit: 20 });
    const { forgetting } = household.store.getState();
    const there = docs.find((doc) => !forgetting.some((forget) => isCovered(doc, forget)));
    return there && isKnown(there) && there.type === 'attachment' ? there.attachmentId : null;
  }

  async function keep(agentId: AgentId, files: readonly PreparedFile[]): Promise<Attachment[]> {
    const found = await Promise.all(files.map((file) => find(agentId, file)));
    const fresh = new Map(files.flatMap((file, i) => (found[i] === null ? [[file.sha256, file] as const] : [])));
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
    if (docs.length > 0) await owner.call('append', docs);
    return files.map(({ sha256, ...file }, i) => ({
      ...withoutBytes(file),
      attachmentId: found[i] ?? fresh.get(sha256)?.attachmentId ?? file.attachmentId,
    }));
  }

  async function toSend(files: readonly Attachment[]): Promise<Result<SentAttachment>> {
    try {
      const sent = await Promise.all(files.map(async (file) => withBytes(file, await readAttachment(owner, file))));
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

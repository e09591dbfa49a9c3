/**
 * The documents of the ledger.
 *
 * The ledger is append-only: a document is written once and never changed. A change is a further
 * document about the same thing, and the newest by (`at`, `_id`) wins.
 *
 * Schemas are loose. Fields that a newer app has written are stored and passed on, and so are
 * documents of unknown kinds. Everything about a kind is in ./documents.
 */
import type { z as Zod } from 'zod';
import { isAgentId } from '../domain/agent-id.ts';
import * as fields from './documents/fields.ts';
import type { AnyDoc } from './documents/kind.ts';
import { type AnyKind, asOfNow, documentKinds, kindOf, type KnownDoc, type KnownType } from './documents/kinds.ts';

export {
  agentIdSchema,
  attachmentFields,
  attachmentsSchema,
  authorSchema,
  blockSchema,
  common,
  compactionSchema,
  endReasonSchema,
  messageStatusSchema,
  ms,
  stamp,
  usageSchema,
  type Block,
  type Compaction,
  type EndReason,
  type MessageStatus,
  type Usage,
} from './documents/fields.ts';
const { base, RESERVED_ID, z } = fields;

export const unknownDocumentSchema = z
  .looseObject({ ...base, type: z.string().min(1).describe('its kind') })
  // A document of a newer Roost also belongs to the agent that it names, and is deleted with it.
  .refine((doc) => typeof doc['agentId'] !== 'string' || isAgentId(doc['agentId']), {
    path: ['agentId'],
    error: RESERVED_ID,
  });

type Known<Type extends KnownType> = Extract<KnownDoc, { readonly type: Type }>;
export type AgentIdentityDoc = Known<'agent-identity'>;
export type AgentChangeDoc = Known<'agent-change'>;
export type AttachmentDoc = Known<'attachment'>;
export type SessionDoc = Known<'session'>;
export type MessageDoc = Known<'message'>;
export type QueuedMessageDoc = Known<'queued-message'>;
export type MessageReadDoc = Known<'message-read'>;
export type MessageWithdrawnDoc = Known<'message-withdrawn'>;
export type RunDoc = Known<'run'>;
export type SettingDoc = Known<'setting'>;
export type ForgetDoc = Known<'forget'>;
export type ForgetUndoDoc = Known<'forget-undo'>;
/** A document of a kind or version that this app does not know. It is stored and passed on. */
type UnknownDoc = Zod.infer<typeof unknownDocumentSchema>;
export type Doc = KnownDoc | UnknownDoc;

const made = new Map<AnyKind, AnyKind['schema'] extends (fields: never) => infer Schema ? Schema : never>();
/** The schema of a kind, built on first use. */
function schemaOf(kind: AnyKind) {
  const held = made.get(kind) ?? kind.schema(fields);
  made.set(kind, held);
  return held;
}
/** The schemas of all known kinds, by type. */
export const knownSchemas = (): ReadonlyMap<string, Zod.ZodType<AnyDoc>> =>
  new Map(documentKinds().map((kind) => [kind.type, schemaOf(kind)]));

const isVersioned = (value: unknown): value is AnyDoc =>
  typeof value === 'object' &&
  value !== null &&
  'type' in value &&
  typeof value.type === 'string' &&
  'schema' in value &&
  typeof value.schema === 'number' &&
  value.schema >= 1;

/**
 * Parses one document, and upgrades an older version to the current one. Throws a ZodError that
 * names the field. Kinds and versions of a newer app pass.
 */
export function parseDocument(value: unknown): Doc {
  // Checks the kind first: most documents are of a known kind, and are then parsed once.
  if (typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string') {
    const kind = kindOf(value.type);
    if (kind && 'schema' in value && Number(value.schema) <= kind.version)
      return schemaOf(kind).parse(isVersioned(value) ? asOfNow(value) : value);
  }
  return unknownDocumentSchema.parse(value);
}

/**
 * The documents of the ledger. Append-only: a document is written once and never changed. Everything that
 * changes is a further document about the same thing, and the newest by (`at`, `_id`) is what holds.
 *
 * Schemas are loose: fields that a newer app has written are kept and passed on, and so are documents of a
 * kind this app does not know.
 */
import { z } from 'zod';
import { MAX_TIME } from '../domain/stamp.ts';

const id = z.string().min(1).max(512);
export const ms = z.number().int().min(0).max(MAX_TIME);
/** A hybrid logical clock stamp, see src/domain/stamp.ts. */
export const stamp = z.string().regex(/^\d{15}-\d{6}-[A-Za-z0-9_.]{1,64}$/, 'a clock stamp');

const base = { _id: id, schema: z.number().int().min(1), at: stamp };

export const agentIdentitySchema = z.looseObject({
  ...base,
  type: z.literal('agent-identity'),
  agentId: id,
  name: z.string(),
  color: z.string(),
  colorName: z.string(),
  position: z.number().int().min(0).max(8),
  individuationArtifact: z.string().describe('the soul: the full text of the first words, in which the name was chosen'),
  bornAt: ms,
  bornSessionId: id.nullable(),
});

export const agentChangeSchema = z.looseObject({
  ...base,
  type: z.literal('agent-change'),
  agentId: id,
  change: z.discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('rename'), name: z.string() }),
    z.looseObject({ kind: z.literal('seat'), position: z.number().int().min(0).max(8).nullable() }),
    z.looseObject({ kind: z.literal('retire') }),
    z.looseObject({ kind: z.literal('return') }),
    z.looseObject({ kind: z.literal('soul'), individuationArtifact: z.string() }),
  ]),
});

export const endReasonSchema = z.enum(['ended', 'idle', 'shutdown', 'crash']);
export type EndReason = z.infer<typeof endReasonSchema>;

export const sessionSchema = z.looseObject({
  ...base,
  type: z.literal('session'),
  sessionId: id,
  phase: z.discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('start'), startedAt: ms, mind: z.string(), model: z.string() }),
    z.looseObject({ kind: z.literal('end'), endedAt: ms, reason: endReasonSchema }),
  ]),
});

export const blockSchema = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), text: z.string() }),
  z.looseObject({
    kind: z.literal('tool'),
    toolUseId: z.string(),
    name: z.string(),
    input: z.unknown(),
    result: z.string().nullable().describe('null: cut off before it answered'),
    isError: z.boolean(),
  }),
  z.looseObject({
    kind: z.literal('call'),
    call: z.enum(['wake', 'summon']),
    wakeId: z.string(),
    seats: z.array(z.looseObject({ agentId: z.string(), position: z.number(), name: z.string().nullable() })),
  }),
]);
export type Block = z.infer<typeof blockSchema>;

export const usageSchema = z.looseObject({
  model: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
});
export type Usage = z.infer<typeof usageSchema>;

/** complete: ended by itself. stopped: by the person. interrupted: the relay or the stream was cut. failed: the model refused or erred. */
export const messageStatusSchema = z.enum(['complete', 'stopped', 'interrupted', 'failed']);
export type MessageStatus = z.infer<typeof messageStatusSchema>;

export const messageSchema = z.looseObject({
  ...base,
  type: z.literal('message'),
  messageId: id,
  sessionId: id,
  agentId: id.describe('whose conversation: "lead" or an agent id'),
  author: id.describe('"human", "relay", "lead" or an agent id'),
  role: z.enum(['user', 'assistant']),
  blocks: z.array(blockSchema),
  status: messageStatusSchema,
  error: z.string().nullable(),
  usage: usageSchema.nullable(),
  time: ms,
  clientId: z.string().nullable(),
  replaces: z.string().nullable().describe('edit-and-resend: this message and all after it in the conversation are hidden'),
});

/** What a person wrote to an agent while nothing could take it; handed to the relay when a session starts. */
export const queuedMessageSchema = z.looseObject({
  ...base,
  type: z.literal('queued-message'),
  clientId: id,
  agentId: id,
  text: z.string(),
  time: ms,
});

/** A message that waited in an inbox was put before its agent. */
export const messageReadSchema = z.looseObject({
  ...base,
  type: z.literal('message-read'),
  messageId: id,
  agentId: id,
  sessionId: id,
  time: ms,
});

export const settingSchema = z.looseObject({ ...base, type: z.literal('setting'), key: z.string(), value: z.unknown() });

export const unknownDocumentSchema = z.looseObject({ _id: id, type: z.string().min(1), schema: z.number().int().min(1), at: stamp });

const known = {
  'agent-identity': agentIdentitySchema,
  'agent-change': agentChangeSchema,
  session: sessionSchema,
  message: messageSchema,
  'queued-message': queuedMessageSchema,
  'message-read': messageReadSchema,
  setting: settingSchema,
} as const;
export type KnownType = keyof typeof known;

export const SCHEMA_VERSION = 1;

export type AgentIdentityDoc = z.infer<typeof agentIdentitySchema>;
export type AgentChangeDoc = z.infer<typeof agentChangeSchema>;
export type SessionDoc = z.infer<typeof sessionSchema>;
export type MessageDoc = z.infer<typeof messageSchema>;
export type QueuedMessageDoc = z.infer<typeof queuedMessageSchema>;
export type MessageReadDoc = z.infer<typeof messageReadSchema>;
export type SettingDoc = z.infer<typeof settingSchema>;
export type KnownDoc =
  | AgentIdentityDoc
  | AgentChangeDoc
  | SessionDoc
  | MessageDoc
  | QueuedMessageDoc
  | MessageReadDoc
  | SettingDoc;
/** A document of a kind, or a version, that this app does not know. Kept and passed on. */
export type UnknownDoc = z.infer<typeof unknownDocumentSchema>;
export type Doc = KnownDoc | UnknownDoc;

export function isKnown(doc: Doc): doc is KnownDoc {
  return Object.hasOwn(known, doc.type) && doc.schema <= SCHEMA_VERSION;
}

/** Parses one document. Throws a ZodError that names the field; kinds and versions of a newer app pass. */
export function parseDocument(value: unknown): Doc {
  const doc = unknownDocumentSchema.parse(value);
  if (!isKnown(doc)) return doc;
  const schema: z.ZodType<KnownDoc> = known[doc.type];
  return schema.parse(value);
}

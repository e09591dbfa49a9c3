/**
 * The documents of the ledger. Append-only: a document is written once and never changed. Everything that
 * changes is a further document about the same thing, and the newest by (`at`, `_id`) is what holds.
 *
 * Schemas are loose: fields that a newer app has written are kept and passed on, and so are documents of a
 * kind this app does not know.
 */
import { z } from 'zod';
import { isKnownType, SCHEMA_VERSION, type KnownType } from './known.ts';
import { AGENT_ID_MAX, isAgentId, isAuthor } from '../domain/agent-id.ts';
import { LAST_TIME, MAX_TIME, parseStamp } from '../domain/stamp.ts';

const id = z.string().min(1).max(512);
const RESERVED_ID = 'no id that an agent can have';
/** The id of an agent, the lead's among them: the one check, wherever an id enters. See src/domain/agent-id.ts. */
export const agentIdSchema = z
  .string()
  .min(1)
  .max(AGENT_ID_MAX)
  .refine((value): boolean => isAgentId(value), RESERVED_ID);
/** Who said something: an agent, "human" or "relay". */
export const authorSchema = z
  .string()
  .min(1)
  .max(AGENT_ID_MAX)
  .refine((value): boolean => isAuthor(value), RESERVED_ID);
export const ms = z.number().int().min(0).max(MAX_TIME);
/** What a clock that has seen the last stamp may still write. */
const CLOCK_ROOM_MS = 365 * 24 * 60 * 60 * 1000;
/** A hybrid logical clock stamp, see src/domain/stamp.ts. */
export const stamp = z
  .string()
  .regex(/^\d{15}-\d{6}-[A-Za-z0-9_.]{1,64}$/, 'a clock stamp')
  .refine((text) => (parseStamp(text)?.time ?? 0) <= LAST_TIME + CLOCK_ROOM_MS, 'a stamp of before the year 10000')
  .describe('a hybrid clock stamp `<ms, 15 digits>-<counter, 6 digits>-<node>`, which sorts as time does');

const base = {
  _id: id.describe('unique, and the same on every device for the same happening'),
  schema: z.number().int().min(1).describe('version of this kind of document'),
  at: stamp,
};
/** Fields that mean the same wherever they stand. */
export const common = {
  agentId: agentIdSchema.describe('"lead", or the id an agent was born with'),
  sessionId: id.describe('the session in which it happened'),
  messageId: id.describe('one message or answer'),
  time: ms.describe('ms since the epoch'),
  position: z.number().int().min(0).max(8).describe('place in the grid, row by row; 4 is the lead’s'),
};
const { agentId, sessionId, messageId, time, position } = common;

export const agentIdentitySchema = z
  .looseObject({
    ...base,
    type: z.literal('agent-identity'),
    agentId,
    name: z.string().describe('the name it chose'),
    color: z.string().describe('its seat’s colour, `#rrggbb`'),
    colorName: z.string(),
    position,
    individuationArtifact: z
      .string()
      .describe('the soul: the full text of the first words, in which the name was chosen'),
    bornAt: time,
    bornSessionId: id.nullable().describe('null: born outside of a session, as the lead is'),
  })
  .describe('Somebody was born. Written once, never changed.');

export const agentChangeSchema = z
  .looseObject({
    ...base,
    type: z.literal('agent-change'),
    agentId,
    change: z.discriminatedUnion('kind', [
      z.looseObject({ kind: z.literal('rename'), name: z.string() }),
      z.looseObject({ kind: z.literal('seat'), position: position.nullable() }),
      z.looseObject({ kind: z.literal('retire') }),
      z.looseObject({ kind: z.literal('return') }),
      z.looseObject({ kind: z.literal('soul'), individuationArtifact: z.string() }),
    ]),
  })
  .describe('What changed about somebody since. The newest of each kind holds; retiring and returning are one kind.');

export const endReasonSchema = z.enum(['ended', 'idle', 'shutdown', 'crash']);
export type EndReason = z.infer<typeof endReasonSchema>;

export const sessionSchema = z
  .looseObject({
    ...base,
    type: z.literal('session'),
    sessionId,
    phase: z.discriminatedUnion('kind', [
      z.looseObject({ kind: z.literal('start'), startedAt: time, mind: z.string(), model: z.string() }),
      z.looseObject({ kind: z.literal('end'), endedAt: time, reason: endReasonSchema }),
    ]),
  })
  .describe(
    'A session began, or ended and why: by the person, after a silence, with the relay, or found open after a crash.',
  );

export const blockSchema = z.discriminatedUnion('kind', [
  z.looseObject({ kind: z.literal('text'), text: z.string() }),
  z.looseObject({
    kind: z.literal('tool'),
    toolUseId: z.string().describe('pairs a call with its result'),
    name: z.string().describe('the tool'),
    input: z.unknown().describe('what the mind passed in'),
    result: z.string().nullable().describe('null: cut off before it answered'),
    isError: z.boolean(),
  }),
  z.looseObject({
    kind: z.literal('call'),
    call: z.enum(['wake', 'summon']),
    wakeId: z.string().describe('one call to the team'),
    seats: z.array(z.looseObject({ agentId: agentIdSchema, position: z.number(), name: z.string().nullable() })),
  }),
]);
export type Block = z.infer<typeof blockSchema>;

export const usageSchema = z
  .looseObject({
    model: z.string(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    cacheWriteTokens: z.number(),
  })
  .describe('What one answer took, in tokens, as the model counted it.');
export type Usage = z.infer<typeof usageSchema>;

export const messageStatusSchema = z
  .enum(['complete', 'stopped', 'interrupted', 'failed'])
  .describe(
    'complete: it ended by itself; stopped: by the person; interrupted: the relay or the stream was cut; failed: the model refused or erred',
  );
export type MessageStatus = z.infer<typeof messageStatusSchema>;

export const messageSchema = z
  .looseObject({
    ...base,
    type: z.literal('message'),
    messageId,
    sessionId,
    agentId: agentId.describe('whose conversation: "lead" or an agent id'),
    author: authorSchema.describe('"human", "relay", "lead" or an agent id'),
    role: z.enum(['user', 'assistant']).describe('as the model is told it'),
    blocks: z.array(blockSchema),
    status: messageStatusSchema,
    error: z.string().nullable().describe('a sentence for people, where it failed'),
    usage: usageSchema.nullable().describe('null: the model did not say, or none was asked'),
    time,
    clientId: z.string().nullable().describe('the page’s own id of a message that the person wrote'),
    replaces: z
      .string()
      .nullable()
      .describe(
        'edit-and-resend, or retry: the message with this id, and all after it in the conversation, are hidden',
      ),
  })
  .describe(
    'A whole message, the person’s or an agent’s. `waiting: true` is added where it waits in the inbox of an agent that sleeps.',
  );

export const queuedMessageSchema = z
  .looseObject({
    ...base,
    type: z.literal('queued-message'),
    clientId: id.describe('the `clientId` it will be posted with, so that posting it twice is harmless'),
    agentId,
    text: z.string(),
    time,
  })
  .describe('What a person wrote to an agent while nothing could take it; posted when a session starts.');

export const messageReadSchema = z
  .looseObject({
    ...base,
    type: z.literal('message-read'),
    messageId,
    agentId,
    sessionId,
    time,
  })
  .describe('A message that waited in an inbox was put before its agent.');

export const settingSchema = z
  .looseObject({
    ...base,
    type: z.literal('setting'),
    key: z
      .string()
      .describe('which one: see src/domain/settings.ts, and for how far the person has read src/domain/read-marks.ts'),
    value: z.unknown().describe('a value that the setting cannot have is passed over'),
  })
  .describe(
    'The person set something, or has read up to somewhere. The newest good value of each key holds; of marks how far was read (`read:<agent id>`, `read-thread:<thread id>`), the furthest.',
  );

export const forgetSchema = z
  .looseObject({
    ...base,
    type: z.literal('forget'),
    target: z
      .discriminatedUnion('kind', [
        z.looseObject({ kind: z.literal('agent'), agentId }),
        z.looseObject({ kind: z.literal('conversation'), agentId }),
      ])
      .describe('agent: everything about it, whenever written; conversation: what was said with it before this stamp'),
    askedAt: time,
    finalAt: time.describe(
      'until then it is hidden and can be undone; from then on its contents are removed wherever this document comes',
    ),
  })
  .describe('The person asked to forget something. Only ids remain of it.');

export const forgetUndoSchema = z
  .looseObject({
    ...base,
    type: z.literal('forget-undo'),
    forgetId: id.describe('`_id` of the `forget`; counts if written before its `finalAt`'),
    time: time.optional().describe('when it was written; left out: as `at` has it'),
  })
  .describe('What was to be forgotten is kept after all.');

export const unknownDocumentSchema = z
  .looseObject({ ...base, type: z.string().min(1).describe('its kind') })
  // Also what a newer Roost wrote goes and stays with the agent that it names.
  .refine((doc) => typeof doc['agentId'] !== 'string' || isAgentId(doc['agentId']), {
    path: ['agentId'],
    error: RESERVED_ID,
  });

export const known = {
  'agent-identity': agentIdentitySchema,
  'agent-change': agentChangeSchema,
  session: sessionSchema,
  message: messageSchema,
  'queued-message': queuedMessageSchema,
  'message-read': messageReadSchema,
  setting: settingSchema,
  forget: forgetSchema,
  'forget-undo': forgetUndoSchema,
} as const satisfies Record<KnownType, z.ZodType>;

export type AgentIdentityDoc = z.infer<typeof agentIdentitySchema>;
export type AgentChangeDoc = z.infer<typeof agentChangeSchema>;
export type SessionDoc = z.infer<typeof sessionSchema>;
export type MessageDoc = z.infer<typeof messageSchema>;
export type QueuedMessageDoc = z.infer<typeof queuedMessageSchema>;
export type MessageReadDoc = z.infer<typeof messageReadSchema>;
export type SettingDoc = z.infer<typeof settingSchema>;
export type ForgetDoc = z.infer<typeof forgetSchema>;
export type ForgetUndoDoc = z.infer<typeof forgetUndoSchema>;
export type KnownDoc =
  | AgentIdentityDoc
  | AgentChangeDoc
  | SessionDoc
  | MessageDoc
  | QueuedMessageDoc
  | MessageReadDoc
  | SettingDoc
  | ForgetDoc
  | ForgetUndoDoc;
/** A document of a kind, or a version, that this app does not know. Kept and passed on. */
export type UnknownDoc = z.infer<typeof unknownDocumentSchema>;
export type Doc = KnownDoc | UnknownDoc;

/** Parses one document. Throws a ZodError that names the field; kinds and versions of a newer app pass. */
export function parseDocument(value: unknown): Doc {
  // Looked at before it is parsed: most are of a kind that is known, and are then parsed once.
  if (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    isKnownType(value.type) &&
    'schema' in value &&
    Number(value.schema) <= SCHEMA_VERSION
  ) {
    const schema: z.ZodType<KnownDoc> = known[value.type];
    return schema.parse(value);
  }
  return unknownDocumentSchema.parse(value);
}

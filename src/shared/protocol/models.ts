/** Connected models: what a page is told about them, and what it sends. A key is never returned. */
import { z } from 'zod';
import { modelNameFault } from '../domain/model-names.ts';
import { webAddress } from './addresses.ts';

/**
 * Maximum length of a key, an address and a model's name; maximum listed models per connection, and
 * connections per household.
 */
export const MODEL_LIMITS = { key: 1_000, address: 500, model: 200, listed: 500, connections: 8 } as const;

export const modelSchema = z.object({
  id: z.string().min(1).max(MODEL_LIMITS.model),
  name: z.string().max(MODEL_LIMITS.model).describe('name for people'),
});
export type ListedModel = z.infer<typeof modelSchema>;

const WHYS = ['key', 'credit', 'unreachable', 'no-model', 'busy', 'other'] as const;

const connectionStateSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('untried') }),
    z.object({
      kind: z.literal('answers'),
      at: z.number().describe('ms since the epoch'),
      ms: z.number().int(),
      tools: z.boolean().optional().describe('false: this model cannot use tools. Its agents can only talk'),
    }),
    z.object({
      kind: z.literal('fails'),
      at: z.number(),
      why: z.enum(WHYS),
      message: z.string().describe('a sentence or two for people'),
    }),
  ])
  .describe('the outcome of its last answer since the relay started');
export type ConnectionState = z.infer<typeof connectionStateSchema>;

const connectionId = z.string().min(1).max(60);

/**
 * The protocol of a model server: the Messages API, OpenAI's Chat Completions or Responses, or
 * Google's own.
 */
export const protocolSchema = z.enum(['messages', 'chat', 'responses', 'google']);
export type Protocol = z.infer<typeof protocolSchema>;

export const connectionSchema = z.object({
  connectionId: connectionId.describe('`environment`: set where the relay was started, and changed only there'),
  kind: z.enum(['claude', 'server']),
  address: z.string().nullable().describe('address of the server; null: Anthropic’s own'),
  protocol: protocolSchema.optional().describe('the protocol that the server speaks; left out: the Messages API'),
  hasKey: z.boolean(),
  models: z.array(modelSchema).describe('the models that the server lists; empty: not known'),
  leadModel: z.string().describe('the model that answers for the lead if nobody has chosen one'),
  agentModel: z.string(),
  state: connectionStateSchema,
  readsOnly: z
    .array(z.object({ model: modelSchema.shape.id, tokens: z.number().int().positive() }))
    .optional()
    .describe('models whose server drops in silence what has more tokens than these, as seen since the relay started'),
});
export type Connection = z.infer<typeof connectionSchema>;

/** `any`: including addresses of the relay's own machine and network. */
const mayConnectSchema = z.enum(['any', 'public', 'none']);
export type MayConnect = z.infer<typeof mayConnectSchema>;

export const modelsSchema = z.object({
  connections: z
    .array(connectionSchema)
    .describe(
      'the relay asks a model at the first connection that lists it, otherwise at the first; empty: the rehearsal mind answers',
    ),
  may: mayConnectSchema.describe('the addresses that this household may connect'),
});
export type Models = z.infer<typeof modelsSchema>;

const key = z
  .string()
  .trim()
  .min(1)
  .max(MODEL_LIMITS.key)
  .regex(/^[\x21-\x7e]+$/, 'holds a space, or a character that no key has')
  .describe('never returned, shown or logged');
const address = webAddress(MODEL_LIMITS.address).describe('such as http://127.0.0.1:11434');
const model = z
  .string()
  .max(MODEL_LIMITS.model)
  .superRefine((name, context) => {
    const fault = name === '' ? null : modelNameFault(name);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  })
  .optional()
  .describe('the model to try; left out or empty: a usual one');

export const connectModelSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('claude'), key, model }),
  z.object({ kind: z.literal('server'), address, key: key.optional(), model }),
]);
export type ConnectModel = z.infer<typeof connectModelSchema>;

export const changeKeySchema = z.object({ key });

export const foundServersSchema = z.object({
  found: z.array(
    z.object({
      program: z.string().describe('the model server that usually answers at this port'),
      address: z.string(),
      models: z.array(modelSchema),
    }),
  ),
});
export type FoundServer = z.infer<typeof foundServersSchema>['found'][number];

export const connectionIdText = connectionId;

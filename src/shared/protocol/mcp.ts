/**
 * MCP servers that the person connects: what is known of each, and which of their tools agents may
 * use.
 */
import { z } from 'zod';
import { webAddress } from './addresses.ts';
import { argumentText, headerNameSchema, headerValueSchema, variableNameSchema } from './outward-texts.ts';
import { networkSchema } from './grants.ts';
import { LIMITS } from './limits.ts';
import { versionSchema } from './version.ts';

export const MCP_BOUNDS = {
  name: 32,
  url: 2_000,
  command: 500,
  args: 50,
  argument: 2_000,
  variables: 50,
  folders: 20,
  value: 10_000,
  /** Query string with which an authorisation server redirects the person back. */
  query: 8_000,
};

const fewOf = (name: z.ZodType<string, string>, value: z.ZodType<string, string>, what: string) =>
  z
    .record(name, value)
    .refine((all) => Object.keys(all).length <= MCP_BOUNDS.variables, `at most ${MCP_BOUNDS.variables}`)
    .default({})
    .describe(what);

export const mcpNameSchema = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, 'small letters, digits and hyphens')
  .max(MCP_BOUNDS.name);

/** The sandbox of a program: which parts of the relay's machine and of the network it can reach. */
export const boxSchema = z.strictObject({
  folder: argumentText(MCP_BOUNDS.argument)
    .min(1)
    .nullable()
    .describe('a folder of the relay’s machine that the program may read and write; null: none'),
  reads: z
    .array(argumentText(MCP_BOUNDS.argument).min(1))
    .max(MCP_BOUNDS.folders)
    .describe('folders that the program may only read, such as the one with its own files'),
  network: networkSchema.describe('what the program may reach on the network'),
});
export type Box = z.infer<typeof boxSchema>;
/** A sandbox that shows nothing of the machine except the system's programs. */
const closedBox = (): Box => ({ folder: null, reads: [], network: 'none' });
const box = boxSchema
  .nullable()
  .default(closedBox)
  .describe(
    'null: the program runs without a sandbox, with the rights of the relay’s user; left out: it runs in the sandbox, without a folder and without a network',
  );

const clientSchema = z.strictObject({
  id: z.string().trim().min(1).max(MCP_BOUNDS.argument),
  secret: z.string().min(1).max(MCP_BOUNDS.value).optional().describe('left out: the client has no secret'),
  issuer: webAddress(MCP_BOUNDS.url)
    .optional()
    .describe('the sign-in server at which it is registered; left out: the one of the first sign-in'),
});
/** Name of the OAuth client among a server's secrets. */
export const OAUTH_CLIENT = 'OAuth client';

/**
 * Where a server is, and all that is needed to reach it. Sent to the relay once; the relay never
 * returns it.
 */
export const attachmentSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('address'),
    url: webAddress(MCP_BOUNDS.url),
    headers: fewOf(headerNameSchema, headerValueSchema(MCP_BOUNDS.value), 'sent with each request, as `Authorization`'),
    client: clientSchema
      .optional()
      .describe(
        'the OAuth client that the person registered at the server’s sign-in; left out: Roost registers itself',
      ),
  }),
  z.strictObject({
    kind: z.literal('program'),
    command: argumentText(MCP_BOUNDS.command).min(1),
    args: z.array(argumentText(MCP_BOUNDS.argument)).max(MCP_BOUNDS.args).default([]),
    env: fewOf(variableNameSchema, argumentText(MCP_BOUNDS.value), 'environment variables'),
    box,
  }),
]);
export type Attachment = z.infer<typeof attachmentSchema>;

/** A tool as its server currently describes it. */
const offeredToolSchema = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  schema: z.record(z.string(), z.unknown()).describe('JSON Schema of the tool’s input'),
  readOnly: z.boolean().describe('the server says that it changes nothing'),
  hash: z.string().describe('hash over name, title, description, schema and `readOnly`'),
  problem: z.string().nullable().describe('why the tool cannot be used; null: it can'),
});
export type OfferedTool = z.infer<typeof offeredToolSchema>;

const mcpToolSchema = offeredToolSchema.extend({
  called: z.string().describe('the name by which agents, and `tools` of routines, call it'),
  use: z.boolean().describe('agents may use the tool as the person saw it'),
  seen: z
    .object({
      hash: z.string(),
      title: z.string(),
      description: z.string(),
      schema: z.record(z.string(), z.unknown()),
      readOnly: z.boolean(),
    })
    .nullable()
    .describe('the version that the person saw; null: the tool is new'),
  gone: z.boolean().describe('the server no longer has this tool'),
});
export type McpTool = z.infer<typeof mcpToolSchema>;

const signInStatusSchema = z.object({
  state: z
    .enum(['none', 'waiting', 'in', 'expired'])
    .describe(
      'waiting: the person has yet to allow it in their browser; expired: the server no longer accepts the sign-in',
    ),
  at: z.string().nullable().describe('the host where the person signed in'),
  as: z.string().nullable().describe('the account, if it is known'),
});
export type SignInStatus = z.infer<typeof signInStatusSchema>;

export const mcpServerSchema = z.object({
  serverId: z.string().max(LIMITS.id),
  version: versionSchema,
  name: z.string(),
  where: z.string().describe('address or command, without secrets'),
  kind: z.enum(['address', 'program']),
  secrets: z.array(z.string()).describe('names of the headers or variables that the server is given'),
  box: boxSchema.nullable().describe('the program’s sandbox; null: it runs without one, or the server is no program'),
  state: z
    .enum(['connecting', 'connected', 'failed', 'sign-in'])
    .describe('sign-in: the person has to sign in to the server'),
  signIn: signInStatusSchema.nullable().describe('null: the server is a program'),
  problem: z.string().nullable(),
  agents: z.array(z.string().max(LIMITS.id)).nullable().describe('agents that may use the server; null: all'),
  tools: z.array(mcpToolSchema),
});
export type McpServer = z.infer<typeof mcpServerSchema>;

/** What is stored of an MCP server outside the relay: the person's settings, and no secret. */
export const mcpServerRecordSchema = z.strictObject({
  name: mcpNameSchema,
  removed: z.boolean(),
  where: z
    .discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('address'),
        url: webAddress(MCP_BOUNDS.url).describe('without a query string'),
      }),
      z.strictObject({
        kind: z.literal('program'),
        command: argumentText(MCP_BOUNDS.command).min(1),
        args: z.array(argumentText(MCP_BOUNDS.argument)).max(MCP_BOUNDS.args),
        box,
      }),
    ])
    .nullable()
    .describe('null: the person has removed the server'),
  secrets: z
    .array(z.string().min(1).max(200))
    .max(MCP_BOUNDS.variables + 1)
    .describe(
      'names of the headers or variables that the server is given, and `?` for the query string of its address',
    ),
  agents: z.array(z.string().max(LIMITS.id)).max(LIMITS.recordMembers).nullable(),
  tools: z
    .record(z.string().min(1).max(128), z.strictObject({ hash: z.string().max(100), use: z.boolean() }))
    .describe('the tools that the person has seen, by the server’s own names'),
});
export type McpServerRecord = z.infer<typeof mcpServerRecordSchema>;

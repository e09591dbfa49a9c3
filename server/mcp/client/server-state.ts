/**
 * The stored state of an MCP server, and what is shown of it: its current tools beside those that
 * the person has reviewed.
 */
import { existsSync } from 'node:fs';
import { delimiter, dirname, isAbsolute } from 'node:path';
import { z } from 'zod';
import { isRecord } from '../../../src/shared/domain/platform/json.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import {
  attachmentSchema,
  OAUTH_CLIENT,
  type McpServer,
  type McpTool,
  type Attachment,
  type Box,
} from '../../../src/shared/protocol/mcp.ts';
import { mindNameOf, type ListedTool } from './offered.ts';
import type { OwnerRight } from '../../access/owner-rights.ts';
import { storedSignInSchema } from './sign-in.ts';

const seenSchema = z.object({
  hash: z.string(),
  description: z.string(),
  schema: z.record(z.string(), z.unknown()),
  title: z.string(),
  readOnly: z.boolean().default(false),
  use: z.boolean(),
});
export const valueSchema = z.object({
  agents: z.array(z.string()).nullable(),
  /** Tools by the server's own name for them. */
  tools: z.record(z.string(), seenSchema),
});
export type Value = z.infer<typeof valueSchema>;

/** An earlier Roost stored no box for a program outside the sandbox. */
const keptAttachmentSchema = z.preprocess(
  (kept) => (isRecord(kept) && kept['kind'] === 'program' ? { box: null, ...kept } : kept),
  attachmentSchema,
);
/**
 * The sealed state of a server: its address and its sign-in. Before there were sign-ins, it was the
 * address alone.
 */
export const sealedSchema = z.union([
  z.object({
    attachment: keptAttachmentSchema,
    signIn: storedSignInSchema.nullable(),
    /** Names of secrets that the server once had, and that were lost with the relay's home. */
    lacks: z.array(z.string()).default([]),
  }),
  keptAttachmentSchema.transform((attachment) => ({ attachment, signIn: null, lacks: [] })),
]);
export type Sealed = z.infer<typeof sealedSchema>;

/**
 * The same program with other sandbox settings. `box` null: outside the sandbox. Null: the server
 * is no program.
 */
export function heldIn({ attachment, ...rest }: Sealed, box: Box | null): Sealed | null {
  if (attachment.kind !== 'program') return null;
  return { ...rest, attachment: { ...attachment, box } };
}

/** The right of the relay's owner that is needed to run it. Null: the server is no program. */
export function rightFor(attachment: Attachment): OwnerRight | null {
  if (attachment.kind !== 'program') return null;
  const { box } = attachment;
  if (!box) return 'free-programs';
  return box.folder === null && box.reads.length === 0 ? 'boxed-programs' : 'machine-folders';
}

/** Variables with common settings of programs. Their values are not secret. */
const OPEN_VARIABLES = /^(?:DEBUG|HOME|LANG|LC_\w+|LOG_LEVEL|NODE_ENV|PATH|TZ)$/;

/**
 * Paths on this machine. Agents need them in a server's answers. A key may begin with `/`, but no
 * such path exists.
 */
const isPlace = (value: string) =>
  isAbsolute(value) &&
  value.split(delimiter).every((path) => existsSync(path) || (dirname(path).length > 1 && existsSync(dirname(path))));
const isOrigin = (value: string) => URL.canParse(value) && new URL(value).href === `${new URL(value).origin}/`;

/** The server's secrets: variables, headers, and the query string of its address. */
export function secretsOf(attachment: Attachment): string[] {
  if (attachment.kind === 'address')
    return [
      ...Object.values(attachment.headers).flatMap((value) => [value, value.replace(/^\S+ +/, '')]),
      ...new URL(attachment.url).searchParams.values(),
      ...(attachment.client?.secret === undefined ? [] : [attachment.client.secret]),
    ];
  return Object.entries(attachment.env).flatMap(([name, value]) =>
    OPEN_VARIABLES.test(name) || isPlace(value) || isOrigin(value) ? [] : [value],
  );
}

/** The server's address for people, without headers, variables and query string. */
export function whereOf(attachment: Attachment): Pick<McpServer, 'kind' | 'where' | 'secrets' | 'box'> {
  if (attachment.kind === 'program')
    return {
      kind: 'program',
      where: [attachment.command, ...attachment.args].join(' '),
      secrets: Object.keys(attachment.env),
      box: attachment.box,
    };
  const { origin, pathname } = new URL(attachment.url);
  return { kind: 'address', where: `${origin}${pathname}`, secrets: namedSecrets(attachment), box: null };
}

/** Names of the secrets of a server with an address. */
export const namedSecrets = ({ headers, client }: Extract<Attachment, { kind: 'address' }>): string[] => [
  ...Object.keys(headers),
  ...(client ? [OAUTH_CLIENT] : []),
];

/**
 * The person's reviewed tools, with those that they review now. `there`: the current tools. `name`:
 * the server's. `reason`: a sentence for the person; then nothing is changed.
 */
export function reviewTools(
  name: string,
  there: readonly McpTool[],
  before: Value['tools'],
  reviewed: readonly { readonly name: string; readonly hash: string; readonly use: boolean }[],
): { readonly ok: true; readonly tools: Value['tools'] } | { readonly ok: false; readonly reason: string } {
  const byName = new Map(there.map((tool) => [tool.name, tool]));
  const seen = new Map(Object.entries(before));
  for (const { name: called, hash, use } of reviewed) {
    const tool = byName.get(called);
    if (!tool) return { ok: false, reason: `${name} has no tool ${called}.` };
    if (tool.hash !== hash)
      return { ok: false, reason: `${called} is not what it was a moment ago. Look at it once more.` };
    if (use && tool.problem !== null) return { ok: false, reason: `${called} cannot be used. ${tool.problem}` };
    const { title, description, schema, readOnly } = tool;
    if (tool.gone && !use) seen.delete(called);
    else seen.set(called, { hash, title, description, schema, readOnly, use });
  }
  return { ok: true, tools: Object.fromEntries(seen) };
}

type Seen = z.infer<typeof seenSchema>;

/**
 * A hash of version 0.1 left out two fields. The title was stored beside it. The other field's old
 * value is unknown.
 */
const asOfNow = (seen: Seen, { hashBefore, hash, title, readOnly }: ListedTool): Seen =>
  seen.hash === hashBefore && seen.title === title ? { ...seen, hash, readOnly } : seen;

const seenPart = ({ hash, title, description, schema, readOnly }: Seen): McpTool['seen'] => ({
  hash,
  title,
  description,
  schema,
  readOnly,
});

/**
 * The server's current tools beside those that the person has reviewed. `name`: the server's.
 * `offered` null: not listed yet.
 */
export function toolsBeside(name: string, offered: readonly ListedTool[] | null, value: Value): McpTool[] {
  const called = new Map<string, number>();
  for (const tool of offered ?? []) {
    const own = mindNameOf(name, tool.name);
    called.set(own, (called.get(own) ?? 0) + 1);
  }
  // With two tools of one name, a call of one could run the other.
  const isTwice = (tool: ListedTool) => (called.get(mindNameOf(name, tool.name)) ?? 0) > 1;
  const there = new Map(
    (offered ?? []).map((tool) => [
      tool.name,
      tool.problem === null && isTwice(tool)
        ? {
            ...tool,
            problem: sentence`Agents would see another of its tools under the same name. Rename one of them on the server.`,
          }
        : tool,
    ]),
  );
  const shown = ({ hashBefore, ...tool }: ListedTool, isGone: boolean): McpTool => {
    const kept = value.tools[tool.name];
    const seen = kept ? asOfNow(kept, { hashBefore, ...tool }) : null;
    return {
      ...tool,
      called: mindNameOf(name, tool.name),
      use: seen?.use === true && seen.hash === tool.hash && tool.problem === null,
      seen: seen ? seenPart(seen) : null,
      gone: isGone,
    };
  };
  const removedTools = Object.entries(value.tools)
    .filter(([tool]) => !there.has(tool))
    .map(([tool, { hash, title, description, schema, readOnly }]) =>
      shown(
        { name: tool, title, description, schema, hash, hashBefore: hash, readOnly, problem: null },
        offered !== null,
      ),
    );
  return [...[...there.values()].map((tool) => shown(tool, false)), ...removedTools];
}

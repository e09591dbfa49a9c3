/** The settings of other MCP clients, as people paste them: `mcpServers` as JSON. */
import { sentence } from '../domain/sentence.ts';
import { z } from 'zod';
import { ATTACHED_BOUNDS, attachmentSchema, type Attachment } from './attached.ts';

const texts = z.record(z.string(), z.string());
const entrySchema = z.looseObject({
  type: z.string().optional(),
  url: z.string().optional(),
  headers: texts.optional(),
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
});
const settingsSchema = z.union([
  z.looseObject({ mcpServers: z.record(z.string(), entrySchema) }).transform(({ mcpServers }) => mcpServers),
  z.looseObject({ servers: z.record(z.string(), entrySchema) }).transform(({ servers }) => servers),
  z.record(z.string(), entrySchema),
]);

/** A name as attached servers have one: small letters, digits, hyphens. */
export const attachedNameOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, ATTACHED_BOUNDS.name)
    .replace(/^-+|-+$/g, '') || 'server';

export type ReadServers =
  | { readonly ok: true; readonly servers: readonly { readonly name: string; readonly attachment: Attachment }[] }
  | { readonly ok: false; readonly reason: string };

function attachmentOf({ url, headers = {}, command, args = [], env = {} }: z.infer<typeof entrySchema>): unknown {
  if (url !== undefined) return { kind: 'address', url, headers };
  return { kind: 'program', command: command ?? '', args, env };
}

/** What was pasted, as servers to connect. The reason is a sentence for the person. */
export function readMcpServers(text: string): ReadServers {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { ok: false, reason: sentence`This is no JSON. Paste the whole of it, from { to }.` };
  }
  const read = settingsSchema.safeParse(json);
  if (!read.success) return { ok: false, reason: sentence`There are no servers in it. They stand under "mcpServers".` };
  const servers: { name: string; attachment: Attachment }[] = [];
  for (const [name, entry] of Object.entries(read.data)) {
    const attachment = attachmentSchema.safeParse(attachmentOf(entry));
    if (!attachment.success)
      return {
        ok: false,
        reason: sentence`“${name}” has neither an address (url) nor a program (command) that can be used.`,
      };
    servers.push({ name: attachedNameOf(name), attachment: attachment.data });
  }
  if (servers.length === 0)
    return { ok: false, reason: sentence`There are no servers in it. They stand under "mcpServers".` };
  if (new Set(servers.map(({ name }) => name)).size < servers.length)
    return { ok: false, reason: sentence`Two of its servers would have the same name here. Change one of them.` };
  return { ok: true, servers };
}

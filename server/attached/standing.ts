/** What is kept of an attached server, and what of it is shown: what it offers now beside what the person has looked at. */
import { z } from 'zod';
import type { AttachedServer, AttachedTool, Attachment, OfferedTool } from '../../src/protocol/attached.ts';
import { mindNameOf } from './offered.ts';

const seenSchema = z.object({
  hash: z.string(),
  description: z.string(),
  schema: z.record(z.string(), z.unknown()),
  title: z.string(),
  use: z.boolean(),
});
export const valueSchema = z.object({
  agents: z.array(z.string()).nullable(),
  /** By the server's name of the tool. */
  tools: z.record(z.string(), seenSchema),
});
export type Value = z.infer<typeof valueSchema>;

/** How it is reached, for people: no header, no variable, and nothing behind a question mark. */
export function whereOf(attachment: Attachment): Pick<AttachedServer, 'kind' | 'where' | 'secrets'> {
  if (attachment.kind === 'program')
    return {
      kind: 'program',
      where: [attachment.command, ...attachment.args].join(' '),
      secrets: Object.keys(attachment.env),
    };
  const { origin, pathname } = new URL(attachment.url);
  return { kind: 'address', where: `${origin}${pathname}`, secrets: Object.keys(attachment.headers) };
}

/** What it offers beside what the person has looked at. `name`: the server's; `offered` null: it has not said yet. */
export function toolsBeside(name: string, offered: readonly OfferedTool[] | null, value: Value): AttachedTool[] {
  const there = new Map((offered ?? []).map((tool) => [tool.name, tool]));
  const shown = (tool: OfferedTool, gone: boolean): AttachedTool => {
    const seen = value.tools[tool.name];
    return {
      ...tool,
      called: mindNameOf(name, tool.name),
      use: seen?.use === true && seen.hash === tool.hash && tool.problem === null,
      seen: seen ? { hash: seen.hash, description: seen.description, schema: seen.schema } : null,
      gone,
    };
  };
  const gone = Object.entries(value.tools)
    .filter(([tool]) => !there.has(tool))
    .map(([tool, { hash, title, description, schema }]) =>
      shown({ name: tool, title, description, schema, hash, readOnly: false, problem: null }, offered !== null),
    );
  return [...[...there.values()].map((tool) => shown(tool, false)), ...gone];
}

/** The tools that a server lists, within limits. */
import type { Client } from '@modelcontextprotocol/client';
import type { z } from 'zod';
import { sentence } from '../../../src/shared/domain/names.ts';
import { createPace } from '../../platform/pace.ts';
import { createCursors, createDeadline, type ListedTool, listSchema, offeredOf } from './offered.ts';
import { MCP_LIMITS } from './settings.ts';
import type { LinkDeps, LinkStatus } from './link-types.ts';
import { wantsSignIn } from './failures.ts';
import { withResources } from './resources.ts';

const TOO_LONG = sentence`Its list of tools is too long. Roost left out the rest.`;

/** `saying`: an error in one line. */
export async function listTools(
  client: Client,
  { elapsed, filter, limits = MCP_LIMITS }: Pick<LinkDeps, 'elapsed' | 'filter' | 'limits'>,
  saying: (error: unknown) => string,
): Promise<Pick<LinkStatus, 'tools' | 'problem'>> {
  const tools = new Map<string, ListedTool>();
  if (!client.getServerCapabilities()?.tools) return { tools: withResources(client, tools), problem: null };
  const pace = createPace();
  const withinDeadline = createDeadline(limits.listMs, elapsed);
  const cursors = createCursors();
  let cursor: string | undefined;
  let chars = 0;
  let unread = 0;
  /** Why the rest of the list was left out, as a sentence. */
  let cutBy: string | null = null;
  pages: for (let page = 0; page < limits.pages; page++) {
    // Reads only as much of each tool as is needed to refuse it. The SDK would validate all of
    // them first.
    let answer: z.infer<typeof listSchema>;
    try {
      answer = await withinDeadline((options) =>
        client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, listSchema, options),
      );
    } catch (error) {
      if (tools.size === 0 || wantsSignIn(error)) throw error;
      cutBy = sentence`Page ${page + 1} of its list of tools failed: ${saying(error)}. Roost left out the rest.`;
      break;
    }
    for (const each of answer.tools) {
      await pace();
      if (tools.size >= limits.tools) {
        cutBy = TOO_LONG;
        break pages;
      }
      const offered = offeredOf(each, filter, limits);
      if (!offered) {
        unread += 1;
        continue;
      }
      chars += offered.description.length + JSON.stringify(offered.schema).length;
      if (chars > limits.toolChars) {
        cutBy = TOO_LONG;
        break pages;
      }
      const before = tools.get(offered.name);
      // With two tools of one name, it is unknown which one the person reviewed.
      const isTwice = before !== undefined && before.hash !== offered.hash;
      tools.set(
        offered.name,
        isTwice ? { ...offered, problem: sentence`The server offers two tools with this name.` } : offered,
      );
    }
    cursor = cursors.next(answer.nextCursor);
    if (cursor === undefined) break;
  }
  const unnamed =
    unread === 0 ? null : sentence`Roost left out ${unread} of its tools, because their names cannot be used.`;
  const further = cursor === undefined ? null : TOO_LONG;
  return { tools: withResources(client, tools), problem: cutBy ?? unnamed ?? further };
}

/** What a server has to read (MCP's resources), as one more tool of it: listed, or read by address, and bounded like any answer. */
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { beginningOfText } from '../../src/domain/cut-middle.ts';
import { shownText } from '../../src/domain/names.ts';
import type { OfferedTool } from '../../src/protocol/attached.ts';
import { offeredOf, type Answered } from './offered.ts';

const NAME = 'read_resource';
const inputSchema = z.object({
  uri: z.string().min(1).optional().describe('one of those that were listed; left out: lists them'),
});

/** Known by being this very object: a server may have a tool of its own by the name. */
const RESOURCES_TOOL = offeredOf({
  name: NAME,
  title: 'Read what it has',
  description: 'Lists what the server has to read, or reads one thing of it by its address.',
  inputSchema: z.toJSONSchema(inputSchema),
  annotations: { readOnlyHint: true },
});

/** Those that a server lists, and the one more where it has something to read and no tool of that name. */
export const withResources = (client: Client, listed: ReadonlyMap<string, OfferedTool>): readonly OfferedTool[] => [
  ...listed.values(),
  ...(client.getServerCapabilities()?.resources && !listed.has(NAME) && RESOURCES_TOOL ? [RESOURCES_TOOL] : []),
];

export const readsResources = (tools: readonly OfferedTool[] | null, tool: string): boolean =>
  tool === NAME && tools?.some((each) => each === RESOURCES_TOOL) === true;

const lineOf = (uri: string, name: string, more: string | undefined) =>
  beginningOfText(shownText([uri, name, ...(more === undefined || more === '' ? [] : [more])].join(' – ')), 500);

/** Throws where the server refuses, or what is asked is no address. */
export async function readResources(client: Client, input: unknown, options: RequestOptions): Promise<Answered> {
  const asked = inputSchema.safeParse(input);
  if (!asked.success) throw new Error('“uri” has to be the address of one thing that it lists');
  const { uri } = asked.data;
  if (uri !== undefined)
    return {
      content: (await client.readResource({ uri }, { ...options, cacheMode: 'bypass' })).contents.map((resource) => ({
        type: 'resource',
        resource,
      })),
    };
  const { resources } = await client.listResources(undefined, { ...options, cacheMode: 'bypass' });
  // Not every server that has resources knows of patterns for them.
  const { resourceTemplates } = await client
    .listResourceTemplates(undefined, { ...options, cacheMode: 'bypass' })
    .catch(() => ({ resourceTemplates: [] }));
  const lines = [
    ...resources.map((each) => lineOf(each.uri, each.name, each.description)),
    ...resourceTemplates.map((each) => lineOf(each.uriTemplate, each.name, each.description)),
  ];
  return { content: lines.length === 0 ? [] : [{ type: 'text', text: lines.join('\n') }] };
}

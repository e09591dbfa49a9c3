/**
 * A server's resources (MCP's resources), as one more tool. It lists them, or reads one by its
 * address, and its answer is bounded like any other.
 */
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { shownText } from '../../../src/shared/domain/names.ts';
import { createKeyFilter, type KeyFilter } from '../../platform/key-filter.ts';
import { createPace } from '../../platform/pace.ts';
import { type Answered, createCursors, createDeadline, type ListedTool, offeredOf } from './offered.ts';
import type { McpLimits } from './settings.ts';

const NAME = 'read_resource';
const inputSchema = z.object({
  uri: z.string().min(1).optional().describe('a listed address; left out: lists them'),
});

/** Compared by identity, because a server may have a tool of its own with this name. */
const RESOURCES_TOOL = offeredOf(
  {
    name: NAME,
    title: 'Read what it has',
    description: 'Lists what the server offers to read, or reads one of these by its address.',
    inputSchema: z.toJSONSchema(inputSchema),
    annotations: { readOnlyHint: true },
  },
  createKeyFilter(),
);

/**
 * The tools that a server lists. The resources tool is added where the server has resources and no
 * tool of that name.
 */
export const withResources = (client: Client, listed: ReadonlyMap<string, ListedTool>): readonly ListedTool[] => [
  ...listed.values(),
  ...(client.getServerCapabilities()?.resources && !listed.has(NAME) && RESOURCES_TOOL ? [RESOURCES_TOOL] : []),
];

export const readsResources = (tools: readonly ListedTool[] | null, tool: string): boolean =>
  tool === NAME && tools?.some((each) => each === RESOURCES_TOOL) === true;

const contentsSchema = z.looseObject({ contents: z.array(z.unknown()) });
const rowsSchema = z.array(z.unknown()).catch([]);
const pageSchema = z.looseObject({
  resources: rowsSchema,
  resourceTemplates: rowsSchema,
  nextCursor: z.unknown().optional(),
});
const rowSchema = z.object({
  uri: z.string().optional().catch(undefined),
  uriTemplate: z.string().optional().catch(undefined),
  name: z.string().catch(''),
  description: z.string().catch(''),
});
/** The lists of a server: the method, and the field that holds the list. */
const LISTS = { resources: 'resources/list', resourceTemplates: 'resources/templates/list' } as const;
/** Characters of the line about one resource. */
const LINE_CHARS = 500;

interface ReadingDeps {
  readonly client: Client;
  readonly options: RequestOptions;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly filter: KeyFilter;
  readonly limits: Pick<McpLimits, 'pages' | 'answerParts' | 'listMs'>;
}

/** One line per listed resource, up to the limit. */
async function linesOf(
  list: keyof typeof LISTS,
  { client, options, elapsed, filter, limits }: ReadingDeps,
): Promise<string[]> {
  const lines: string[] = [];
  const pace = createPace();
  const withinDeadline = createDeadline(limits.listMs, elapsed);
  const cursors = createCursors();
  let cursor: string | undefined;
  for (let read = 0; read < limits.pages; read++) {
    const params = cursor === undefined ? {} : { cursor };
    const page = await withinDeadline((times) =>
      client.request({ method: LISTS[list], params }, pageSchema, { ...options, ...times }),
    );
    for (const row of page[list]) {
      if (lines.length >= limits.answerParts) return lines;
      await pace();
      const { uri, uriTemplate, name, description } = rowSchema.safeParse(row).data ?? {};
      const line = [uri ?? uriTemplate ?? '', name, description].filter((part) => part !== '').join(' – ');
      if (line !== '') lines.push(beginningOfText(shownText(filter.part(line, 0, LINE_CHARS + 1)), LINE_CHARS));
    }
    cursor = cursors.next(page.nextCursor);
    if (cursor === undefined) break;
  }
  return lines;
}

/** Throws if the server refuses, or if the input is not an address. */
export async function readResources(input: unknown, deps: ReadingDeps): Promise<Answered> {
  const args = inputSchema.safeParse(input);
  if (!args.success) throw new Error('“uri” has to be the address of one thing that it lists');
  const { uri } = args.data;
  if (uri !== undefined) {
    const { client, options } = deps;
    const { contents } = await client.request({ method: 'resources/read', params: { uri } }, contentsSchema, options);
    return { content: contents.map((resource) => ({ type: 'resource', resource })) };
  }
  const lines = [
    ...(await linesOf('resources', deps)),
    // Some servers have resources without templates for them.
    ...(await linesOf('resourceTemplates', deps).catch(() => [])),
  ];
  return { content: lines.length === 0 ? [] : [{ type: 'text', text: lines.join('\n') }] };
}

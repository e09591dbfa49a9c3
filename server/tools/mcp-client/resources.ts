/**
 * What a server has to read (MCP's resources), as one more tool of it: listed, or read by address,
 * and bounded like any answer.
 */
import type { Client, RequestOptions } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { shownText } from '../../../src/shared/domain/names.ts';
import { createKeyFilter, type KeyFilter } from '../../platform/key-filter.ts';
import { createPace } from '../../platform/pace.ts';
import { createCursors, createDeadline } from './lists.ts';
import { offeredOf, type Answered, type ListedTool } from './offered.ts';
import type { AttachedLimits } from './settings.ts';

const NAME = 'read_resource';
const inputSchema = z.object({
  uri: z.string().min(1).optional().describe('one of those that were listed; left out: lists them'),
});

/** Known by being this very object: a server may have a tool of its own by the name. */
const RESOURCES_TOOL = offeredOf(
  {
    name: NAME,
    title: 'Read what it has',
    description: 'Lists what the server has to read, or reads one thing of it by its address.',
    inputSchema: z.toJSONSchema(inputSchema),
    annotations: { readOnlyHint: true },
  },
  createKeyFilter(),
);

/**
 * Those that a server lists, and the one more where it has something to read and no tool of that
 * name.
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
/** What a server lists: the method, and the name under which the list stands. */
const LISTS = { resources: 'resources/list', resourceTemplates: 'resources/templates/list' } as const;
/** Characters of the line that tells of one thing. */
const LINE_CHARS = 500;

export interface ReadingDeps {
  readonly client: Client;
  readonly options: RequestOptions;
  /** ms, only ever forward */
  readonly elapsed: () => number;
  readonly filter: KeyFilter;
  readonly limits: Pick<AttachedLimits, 'pages' | 'answerParts' | 'listMs'>;
}

/** A line for each thing that it lists, as far as they are read. */
async function linesOf(
  what: keyof typeof LISTS,
  { client, options, elapsed, filter, limits }: ReadingDeps,
): Promise<string[]> {
  const lines: string[] = [];
  const pace = createPace();
  const left = createDeadline(limits.listMs, elapsed);
  const cursors = createCursors();
  let cursor: string | undefined;
  for (let read = 0; read < limits.pages; read++) {
    const params = cursor === undefined ? {} : { cursor };
    const page = await left((times) =>
      client.request({ method: LISTS[what], params }, pageSchema, { ...options, ...times }),
    );
    for (const row of page[what]) {
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

/** Throws where the server refuses, or what is asked is no address. */
export async function readResources(input: unknown, deps: ReadingDeps): Promise<Answered> {
  const asked = inputSchema.safeParse(input);
  if (!asked.success) throw new Error('“uri” has to be the address of one thing that it lists');
  const { uri } = asked.data;
  if (uri !== undefined) {
    const { client, options } = deps;
    const { contents } = await client.request({ method: 'resources/read', params: { uri } }, contentsSchema, options);
    return { content: contents.map((resource) => ({ type: 'resource', resource })) };
  }
  const lines = [
    ...(await linesOf('resources', deps)),
    // Not every server that has resources knows of patterns for them.
    ...(await linesOf('resourceTemplates', deps).catch(() => [])),
  ];
  return { content: lines.length === 0 ? [] : [{ type: 'text', text: lines.join('\n') }] };
}

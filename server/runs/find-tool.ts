/**
 * Where attached servers offer more tools than a mind is told of at once: they wait, and it looks for them by words. What it
 * has found it is told of from its next request on. A model that has a search of its own for tools that wait uses that.
 */
import { ATTACHED_PREFIX } from '../../src/domain/toolsets.ts';
import type { TeamTool, ToolOutcome } from '../contracts.ts';
import type { MindTool } from '../minds/index.ts';
import { toolDone, toolError } from '../define-tool.ts';
import type { RunLimits } from './settings.ts';
import { mindToolOf } from './team-tools.ts';

export const FIND_TOOL = 'find_tool';

/** Of a search of one run: what it has found stays found. */
export interface ToolSearch {
  /** What a mind is told of these: all, or, with the search, those of the team and what waits for it. */
  shown(team: readonly TeamTool[]): readonly MindTool[];
  /** Never rejects. */
  find(team: readonly TeamTool[], input: unknown): ToolOutcome;
}

const isAttached = ({ name }: TeamTool) => name.startsWith(ATTACHED_PREFIX);
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** A word in a tool's name tells more of it than one in its description. */
const NAME_COUNTS = 3;

interface Words {
  readonly tool: TeamTool;
  readonly name: readonly string[];
  readonly rest: ReadonlySet<string>;
}

function wordsOfTool(tool: TeamTool): Words {
  const { name, description, properties } = mindToolOf(tool);
  return {
    tool,
    name: wordsOf(name.slice(ATTACHED_PREFIX.length).replaceAll('_', ' ')),
    rest: new Set(wordsOf(`${description} ${Object.keys(properties).join(' ')}`)),
  };
}

/** Those with these words, the best first: a word that few of them have counts for more, one that all have for nothing. */
function searched(tools: readonly TeamTool[], query: string): TeamTool[] {
  const all = tools.map(wordsOfTool);
  const score = new Map(tools.map((tool) => [tool, 0]));
  for (const word of new Set(wordsOf(query))) {
    const isNamed = ({ name }: Words) =>
      name.some((each) => each === word || (word.length > 3 && each.startsWith(word)));
    const hits = all.filter((each) => isNamed(each) || each.rest.has(word));
    const rare = Math.log(all.length / hits.length);
    for (const hit of hits) score.set(hit.tool, (score.get(hit.tool) ?? 0) + rare * (isNamed(hit) ? NAME_COUNTS : 1));
  }
  return [...score]
    .filter(([, sum]) => sum > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([tool]) => tool);
}

export function createToolSearch({
  toolsAtOnce,
  toolsFound,
}: Pick<RunLimits, 'toolsAtOnce' | 'toolsFound'>): ToolSearch {
  const found = new Set<string>();

  const finder = (waiting: number): MindTool => ({
    name: FIND_TOOL,
    description: `Looks for tools of the tool servers that the human has connected: there are ${waiting}, too many to be put before you at once. Say in a few words what you want to do. You can call what it finds from your next turn on.`,
    properties: { query: { type: 'string', description: 'what it should do, or its name', maxLength: 200 } },
    required: ['query'],
    finds: true,
  });

  return {
    shown(team) {
      const attached = team.filter(isAttached);
      if (attached.length <= toolsAtOnce) return team.map(mindToolOf);
      return [
        finder(attached.length),
        ...team.map((tool) =>
          isAttached(tool)
            ? ({ ...mindToolOf(tool), waits: found.has(tool.name) ? 'found' : 'unseen' } satisfies MindTool)
            : mindToolOf(tool),
        ),
      ];
    },
    find(team, input) {
      const query = typeof input === 'object' && input !== null && 'query' in input ? input.query : null;
      if (typeof query !== 'string' || query.trim() === '')
        return toolError(`${FIND_TOOL} could not be read. query: must be words.`);
      const best = searched(team.filter(isAttached), query).slice(0, toolsFound);
      if (best.length === 0) return toolError('No tool of a tool server fits these words. Try others.');
      for (const { name } of best) found.add(name);
      return toolDone(
        [
          'You can call these now:',
          ...best.map(({ name, description }) => `- ${name}: ${description.slice(0, 300)}`),
        ].join('\n'),
      );
    },
  };
}

import type { Block } from '../../protocol/documents.ts';
import { ChevronIcon } from '../parts/icons.tsx';

export type ToolBlock = Extract<Block, { kind: 'tool' }>;

function argument(input: unknown, key: string): string | null {
  if (typeof input !== 'object' || input === null || !(key in input)) return null;
  const value: unknown = Object.entries(input).find(([name]) => name === key)?.[1];
  return typeof value === 'string' ? value : null;
}

/** What a tool call did, in a few words. */
function toolPhrase({ name, input, result, isError }: ToolBlock): string {
  const chosen = argument(input, 'name');
  const done = name === 'spawn_team' ? 'called the team' : name === 'choose_name' ? (chosen ? `chose the name ${chosen}` : 'chose a name') : name === 'write_soul' ? 'wrote down who they are' : name;
  if (isError) return `${done}: it did not work`;
  return result === null ? `${done}…` : done;
}

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** Tool calls that follow each other, in one quiet line that opens. */
export function ToolLines({ tools }: { tools: readonly ToolBlock[] }) {
  return (
    <details className="tools" data-error={tools.some((tool) => tool.isError)}>
      <summary>
        <ChevronIcon />
        {tools.map(toolPhrase).join(' · ')}
      </summary>
      <dl>
        {tools.map((tool) => (
          <div key={tool.toolUseId}>
            <dt>
              <code>{tool.name}</code>
            </dt>
            <dd>
              <pre dir="auto">{shown(tool.input)}</pre>
            </dd>
            <dd>
              <pre dir="auto">{tool.result ?? 'no answer yet'}</pre>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

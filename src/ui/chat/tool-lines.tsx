import { useState } from 'react';
import { ChevronIcon } from '../parts/icons.tsx';
import { bytes } from '../text/sizes.ts';
import { useOpened } from './log-memory.ts';
import type { ToolBlock } from './parts.ts';

/** Characters of what went into a tool, or came out, that are shown at once. */
const SHOWN_AT_ONCE = 20_000;

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

const shown = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''));

function Shown({ text }: { text: string }) {
  const [length, setLength] = useState(SHOWN_AT_ONCE);
  return (
    <>
      <pre dir="auto">{text.slice(0, length)}</pre>
      {text.length > length && (
        <button type="button" className="link-button" onClick={() => setLength(length + SHOWN_AT_ONCE)}>
          Show more ({bytes(text.length - length)} left)
        </button>
      )}
    </>
  );
}

/** Tool calls that follow each other, in one quiet line that opens. */
export function ToolLines({ tools }: { tools: readonly ToolBlock[] }) {
  const [open, setOpen] = useOpened(tools[0]?.toolUseId ?? '');
  return (
    <details className="tools" data-error={tools.some((tool) => tool.isError)} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChevronIcon />
        {tools.map(toolPhrase).join(' · ')}
      </summary>
      {open && (
        <dl>
          {tools.map((tool) => (
            <div key={tool.toolUseId}>
              <dt>
                <code>{tool.name}</code>
              </dt>
              <dd>
                <Shown text={shown(tool.input)} />
              </dd>
              <dd>
                <Shown text={tool.result ?? 'no answer yet'} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </details>
  );
}

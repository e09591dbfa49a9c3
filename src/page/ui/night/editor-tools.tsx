import { useId, useState } from 'react';
import { Link } from 'wouter';
import { TOOLSET_NAMES, TOOLSETS, type Toolset } from '../../../shared/domain/toolsets.ts';
import { t } from '../../language/t.ts';
import { attachedOf } from '../../state/attached.ts';
import { useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { useQuery } from '../use-query.ts';
import type { Draft } from './draft.ts';
import type { Wrong } from './timing-draft.ts';
import { Labelled } from './editor-parts.tsx';

const WORDS: Readonly<Record<Exclude<Toolset, 'attached' | 'mind'>, string>> = {
  team: t`Messages and the team`,
  schedule: t`Reminders and routines`,
  files: t`Files in its folder`,
  shell: t`Commands`,
  web: t`Pages of the web`,
};
/**
 * Those of MCP servers stand below, by server; what a program does by itself is no tool that is
 * given.
 */
const SETS = TOOLSET_NAMES.filter((set) => set !== 'attached' && set !== 'mind');
const KNOWN: ReadonlySet<string> = new Set<string>(Object.values(TOOLSETS).flat());

interface Props {
  readonly tools: Draft['tools'];
  readonly onTools: (tools: Draft['tools']) => void;
  readonly wrong: Wrong[string] | undefined;
}

/** What a routine lets its agent use: all that it has, or what is ticked. */
export function ToolsField({ tools, onTools, wrong }: Props) {
  const attached = useQuery(attachedOf(useRoost()).list);
  const servers = (attached.kind === 'ready' ? attached.value.servers : []).map(({ name, tools: offered }) => ({
    name,
    // What the person has not let agents use would be refused.
    offered: offered.filter(({ use, gone }) => use && !gone).map(({ called }) => called),
  }));
  const known = new Set(servers.flatMap(({ offered }) => offered));
  // A server may be away just now, or take a tool back: what was ticked of it stays until it is
  // unticked.
  const away = (tools ?? []).filter((tool) => !KNOWN.has(tool) && !known.has(tool));
  // What was unticked can be ticked again while one looks at it.
  const [seenAway, setSeenAway] = useState<readonly string[]>([]);
  const others =
    attached.kind === 'loading' ? [] : [...new Set([...seenAway, ...away])].filter((tool) => !known.has(tool));
  const onOthers = (next: readonly string[]) => {
    setSeenAway(others);
    onTools(next);
  };
  return (
    <div className="editor-tools">
      <Labelled
        label={t`Tools it may use`}
        hint={
          tools === null
            ? t`As far as its limits let it.`
            : t`What its limits do not let it use stays away. None ticked: it can only talk.`
        }
        wrong={wrong}
      >
        {(given) => (
          <select
            {...given}
            className="field"
            value={tools === null ? 'all' : 'some'}
            onChange={({ target }) => onTools(target.value === 'all' ? null : [...TOOLSETS.team, ...TOOLSETS.files])}
          >
            <option value="all">{t`All that the agent has`}</option>
            <option value="some">{t`Only these…`}</option>
          </select>
        )}
      </Labelled>
      {tools !== null && (
        <>
          {SETS.map((set) => (
            <Toolbox key={set} label={WORDS[set]} all={TOOLSETS[set]} tools={tools} onTools={onTools} />
          ))}
          {servers
            .filter(({ offered }) => offered.length > 0)
            .map(({ name, offered }) => (
              <Toolbox key={name} label={t`Server “${name}”`} all={offered} tools={tools} onTools={onTools} />
            ))}
          {others.length > 0 && <Toolbox label={t`Not there now`} all={others} tools={tools} onTools={onOthers} />}
          <p className="setting-hint">
            {attached.kind === 'failed' && <span>{t`What MCP servers offer could not be read. `}</span>}
            <span>{t`MCP servers are connected, and their tools let in, under ${<Link href={PATHS.settings('attached')}>{t`Settings`}</Link>}.`}</span>
          </p>
        </>
      )}
    </div>
  );
}

interface ToolboxProps {
  readonly label: string;
  readonly all: readonly string[];
  readonly tools: readonly string[];
  readonly onTools: (tools: readonly string[]) => void;
}

function Toolbox({ label, all, tools, onTools }: ToolboxProps) {
  const id = useId();
  const count = all.filter((tool) => tools.includes(tool)).length;
  const with_ = (names: readonly string[], on: boolean) => {
    const rest = tools.filter((tool) => !names.includes(tool));
    onTools(on ? [...rest, ...names] : rest);
  };
  return (
    <div className="editor-set" role="group" aria-labelledby={id}>
      <label className="tick-line">
        <input
          type="checkbox"
          checked={count === all.length}
          ref={(box) => {
            if (box) box.indeterminate = count > 0 && count < all.length;
          }}
          onChange={({ target }) => with_(all, target.checked)}
        />
        <span id={id}>{label}</span>
        <small>{t`${count} of ${all.length}`}</small>
      </label>
      <details>
        <summary aria-label={t`${label}, one by one`}>{t`One by one`}</summary>
        <div className="editor-set-each">
          {all.map((tool) => (
            <label key={tool}>
              <input
                type="checkbox"
                checked={tools.includes(tool)}
                onChange={({ target }) => with_([tool], target.checked)}
              />
              <code>{tool}</code>
            </label>
          ))}
        </div>
      </details>
    </div>
  );
}

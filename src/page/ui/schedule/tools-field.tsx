/** The choice of tools for the runs of a routine. */
import { useId, useState } from 'react';
import { SETTING_TABLE } from '../../../shared/domain/setting-table.ts';
import { type Toolset, TOOLSET_NAMES, TOOLSETS } from '../../../shared/domain/toolsets.ts';
import { retold, t } from '../../language/t.ts';
import { mcpServersOf } from '../../state/mcp-servers.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { SelectField } from '../design/field.tsx';

/** The label in the table of settings. */
const labelOf = (set: Toolset) =>
  retold(SETTING_TABLE.find(({ path }) => path.join('.') === `coordination.toolsets.${set}`)?.label ?? set);
/**
 * Tools of MCP servers are listed below, by server. Tools that an ACP agent brings along cannot be
 * granted.
 */
const SETS = TOOLSET_NAMES.filter((set) => set !== 'attached' && set !== 'mind');
const KNOWN: ReadonlySet<string> = new Set<string>(Object.values(TOOLSETS).flat());

interface ToolsFieldProps {
  /** Names; null: not set. */
  readonly tools: readonly string[] | null;
  readonly onTools: (tools: readonly string[] | null) => void;
  readonly wrong: string | undefined;
  /** What applies where nothing is set. Left out: all tools of the agent. */
  readonly unset?: string;
}

/** The tools of a routine: those that apply otherwise, or those that are ticked. */
export function ToolsField({ tools, onTools, wrong, unset = t`As its agent’s` }: ToolsFieldProps) {
  const mcpServers = useQuery(mcpServersOf(useRoost()).list);
  const servers = (mcpServers.kind === 'ready' ? mcpServers.value.servers : []).map(({ name, tools: offered }) => ({
    name,
    // Tools that the person has not allowed would be refused.
    offered: offered.filter(({ use, gone }) => use && !gone).map(({ called }) => called),
  }));
  const offeredTools = new Set(servers.flatMap(({ offered }) => offered));
  // A server may be offline, or may have withdrawn a tool. Ticked tools stay until they are
  // unticked.
  const away = (tools ?? []).filter((tool) => !KNOWN.has(tool) && !offeredTools.has(tool));
  // An unticked tool can be ticked again while the editor is open.
  const [seenAway, setSeenAway] = useState<readonly string[]>([]);
  const others =
    mcpServers.kind === 'loading' ? [] : [...new Set([...seenAway, ...away])].filter((tool) => !offeredTools.has(tool));
  const onOthers = (next: readonly string[]) => {
    setSeenAway(others);
    onTools(next);
  };
  return (
    <div className="above-5 stack gap-4">
      <SelectField
        label={t`Tools it may use`}
        hint={t`Its permissions apply here too.`}
        wrong={wrong}
        choices={[
          ['all', unset],
          ['some', t`Only these…`],
        ]}
        value={tools === null ? 'all' : 'some'}
        onChange={(value) => onTools(value === 'all' ? null : [...TOOLSETS.team, ...TOOLSETS.files])}
      />
      {tools !== null && (
        <>
          {SETS.map((set) => (
            <Toolbox key={set} label={labelOf(set)} all={TOOLSETS[set]} tools={tools} onTools={onTools} />
          ))}
          {servers
            .filter(({ offered }) => offered.length > 0)
            .map(({ name, offered }) => (
              <Toolbox key={name} label={name} all={offered} tools={tools} onTools={onTools} />
            ))}
          {others.length > 0 && <Toolbox label={t`Not there now`} all={others} tools={tools} onTools={onOthers} />}
          {mcpServers.kind === 'failed' && <p className="setting-hint">{t`Could not load this.`}</p>}
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
    <div className="box pad-2-5" role="group" aria-labelledby={id}>
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
        <small className="end">{t`${count} of ${all.length}`}</small>
      </label>
      <details>
        <summary className="ink-3 text-2 touchable-s">{t`One by one`}</summary>
        <div className="tiles under-4 stack">
          {all.map((tool) => (
            <label className="line gap-4 touchable text-2" key={tool}>
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

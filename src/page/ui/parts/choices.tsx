/** A select with a default, and a select of agents. */
import { type ReactNode, useId } from 'react';
import { type Agent, displayName } from '../../../shared/domain/agent.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { useHousehold } from '../context.tsx';
import { useRoute } from '../routes.ts';
import './agent-select.css';

interface SelectSettingProps {
  readonly label: string;
  readonly hint?: string;
  /** The chosen value; null: the default. */
  readonly chosen: string | null;
  /** Label of the default. */
  readonly fallback: string;
  /** `lang`: language of the name, if it is not the page's. */
  readonly options: readonly { readonly value: string; readonly name: string; readonly lang?: string }[];
  readonly onChoose: (value: string | null) => void;
  readonly className?: string;
  /** Shown beside the field. */
  readonly children?: ReactNode;
}

/** A choice from a list, or the default, stored in this browser. It takes effect at once. */
export function SelectSetting({
  label,
  hint,
  chosen,
  fallback,
  options,
  onChoose,
  className = 'setting',
  children,
}: SelectSettingProps) {
  const id = useId();
  return (
    <div className={className}>
      <label htmlFor={id}>{label}</label>
      <div className="setting-row">
        <select
          id={id}
          className="field field-select"
          aria-describedby={`${id}-hint`}
          value={chosen ?? ''}
          onChange={({ target }) => onChoose(target.value === '' ? null : target.value)}
        >
          <option value="">{fallback}</option>
          {options.map(({ value, name, lang }) => (
            <option key={value} value={value} lang={lang}>
              {name}
            </option>
          ))}
        </select>
        {children}
      </div>
      <p className="setting-hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  );
}

/** The agents as options of a select, by the names that the page shows. */
export function AgentOptions({ agents }: { agents: readonly Agent[] }) {
  const roster = useHousehold((state) => state.roster);
  return agents.map((agent) => (
    <option key={agent.agentId} value={agent.agentId}>
      {displayName(agent, roster)}
    </option>
  ));
}

interface Props {
  /** What is shown of the agent: "Wakes of". */
  readonly label: string;
  /** Label for all agents; left out: always a single agent. */
  readonly everybody?: string;
  /** null: all agents. */
  readonly agentId: AgentId | null;
  readonly path: (agentId: AgentId | null) => string;
}

/** Switches the same view to another agent, or to all. */
export function AgentSelect({ label, everybody, agentId, path }: Props) {
  const { go } = useRoute();
  const roster = useHousehold((state) => state.roster);
  const agents = [...roster.byId.values()].filter((agent) => !agent.retired || agent.agentId === agentId);
  return (
    <label className="agent-select gap-4 cluster ink-2 text-3">
      {label}
      <select
        className="field field-select medium ink"
        value={agentId ?? ''}
        onChange={(event) => go(path(event.target.value === '' ? null : event.target.value))}
      >
        {everybody !== undefined && <option value="">{everybody}</option>}
        <AgentOptions agents={agents} />
      </select>
    </label>
  );
}

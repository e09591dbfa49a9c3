import { displayName } from '../../../shared/domain/agent.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { useHousehold } from '../context.tsx';
import { useRoute } from '../routes.ts';
import './agent-select.css';

interface Props {
  /** What is shown of whom: "Wakes of". */
  readonly label: string;
  /** All of them, in a word or two; left out: it is always somebody. */
  readonly everybody?: string;
  /** Null: everybody. */
  readonly agentId: AgentId | null;
  readonly path: (agentId: AgentId | null) => string;
}

/** Goes from the same place of one agent to another's, or to everybody's. */
export function AgentSelect({ label, everybody, agentId, path }: Props) {
  const { go } = useRoute();
  const roster = useHousehold((state) => state.roster);
  const agents = [...roster.byId.values()].filter((agent) => !agent.retired || agent.agentId === agentId);
  return (
    <label className="agent-select">
      {label}
      <select
        className="field field-select"
        value={agentId ?? ''}
        onChange={(event) => go(path(event.target.value === '' ? null : event.target.value))}
      >
        {everybody !== undefined && <option value="">{everybody}</option>}
        {agents.map((agent) => (
          <option key={agent.agentId} value={agent.agentId}>
            {displayName(agent, roster)}
          </option>
        ))}
      </select>
    </label>
  );
}

import { useState } from 'react';
import { displayName } from '../../domain/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { arrivingOf } from '../../state/devices.ts';
import { useActions, useDevices, useHousehold } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Face } from './face.tsx';
import { useSleepers } from './use-sleepers.ts';
import './choose-who.css';

/** Wake only some: a tick for each who sleeps. */
export default function ChooseWho({ onClose }: { onClose: () => void }) {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const sleepers = useSleepers({ withPaused: true });
  const arriving = useDevices(arrivingOf);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const agents = sleepers.filter((agent) => chosen.has(agent.agentId) && !arriving.includes(agent.agentId));
  const toggle = (agentId: AgentId) => {
    const next = new Set(chosen);
    if (!next.delete(agentId)) next.add(agentId);
    setChosen(next);
  };
  return (
    <Dialog title="Who shall wake?" onClose={onClose}>
      <ul className="choose">
        {sleepers.map((agent) => (
          <li key={agent.agentId}>
            <label style={{ '--c': agent.color }}>
              <input
                type="checkbox"
                checked={agents.includes(agent)}
                disabled={arriving.includes(agent.agentId)}
                onChange={() => toggle(agent.agentId)}
              />
              <span className="choose-face">
                <Face agentId={agent.agentId} face={agent.face} color={agent.color} awake={false} />
              </span>
              <span>
                {displayName(agent, roster)}
                {arriving.includes(agent.agentId) && <small>on its way here</small>}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="solid"
        disabled={agents.length === 0}
        onClick={() => {
          onClose();
          void actions.wake(agents);
        }}
      >
        {agents.length === 0 ? 'Wake' : `Wake ${agents.length}`}
      </button>
    </Dialog>
  );
}

import { Link } from 'wouter';
import { displayName } from '../../domain/agent.ts';
import { useHousehold } from '../context.tsx';
import { CloseIcon } from '../parts/icons.tsx';
import { PATHS, usePlace } from '../places.ts';
import { Budget } from './budget.tsx';
import { StopSwitch } from './stop-switch.tsx';
import { WakeFeed } from './wake-feed.tsx';
import '../parts/page.css';
import './wakes.css';

/** Of whom: everybody's wakes, or one agent's. */
function WhoSelect({ agentId }: { agentId: string | null }) {
  const { go } = usePlace();
  const roster = useHousehold((state) => state.roster);
  const agents = [...roster.byId.values()].filter((agent) => !agent.retired || agent.agentId === agentId);
  return (
    <label className="wakes-who">
      Wakes of
      <select className="field field-select" value={agentId ?? ''} onChange={(event) => go(PATHS.wakes(event.target.value === '' ? null : event.target.value))}>
        <option value="">everybody</option>
        {agents.map((agent) => (
          <option key={agent.agentId} value={agent.agentId}>
            {displayName(agent, roster)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The feed of wakes, with the switch that stops them all. */
export default function WakesPage({ agentId, onClose }: { agentId: string | null; onClose: () => void }) {
  return (
    <div className="wakes-page">
      <div className="page-head">
        <h1 tabIndex={-1}>Wakes</h1>
        <button type="button" className="ghost" onClick={onClose}>
          <CloseIcon /> Close
        </button>
      </div>
      <aside className="wakes-side" aria-label="Limits">
        <StopSwitch />
        {agentId === null ? (
          <p className="budget-links">
            <Link href={PATHS.limits(null)}>Limits of the household</Link>
          </p>
        ) : (
          <Budget agentId={agentId} />
        )}
      </aside>
      <section className="wakes-feed" aria-labelledby="wakes-title">
        <div className="wakes-bar">
          <h2 id="wakes-title">Who asked for whom</h2>
          <WhoSelect agentId={agentId} />
        </div>
        <WakeFeed key={agentId} agentId={agentId} />
      </section>
    </div>
  );
}

import { Link } from 'wouter';
import { AgentSelect } from '../parts/agent-select.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { PATHS } from '../places.ts';
import { useNames } from '../use-names.ts';
import { Budget } from './budget.tsx';
import { StopSwitch } from './stop-switch.tsx';
import { WakeFeed } from './wake-feed.tsx';
import './wakes.css';

/** The feed of wakes, with the switch that stops them all. */
export default function WakesPage({ agentId, onClose }: { agentId: string | null; onClose: () => void }) {
  const nameOf = useNames();
  return (
    <div className="wakes-page">
      <PageHead title="Wakes" place={agentId === null ? 'Wakes' : `Wakes of ${nameOf(agentId)}`} onClose={onClose} />
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
          <AgentSelect label="Wakes of" everybody="everybody" agentId={agentId} path={PATHS.wakes} />
        </div>
        <WakeFeed key={agentId} agentId={agentId} />
      </section>
    </div>
  );
}

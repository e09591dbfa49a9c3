import { useState } from 'react';
import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { CallAccount } from '../calls/calls-page.tsx';
import { LatelyAccount } from '../night/lately.tsx';
import { PATHS } from '../routes.ts';
import { WakeFeed } from '../wakes/wakes-page.tsx';
import '../night/night.css';

/** What an agent did: with its tools, without the person, and who had it woken. */
export function DeedsTab({ agentId }: { agentId: AgentId }) {
  const [wakes, setWakes] = useState(false);
  return (
    <div className="portrait-deeds">
      <section aria-label={t`With its tools`}>
        <h2>{t`With its tools`}</h2>
        <CallAccount agentId={agentId} days />
        <p className="agent-ways">
          <Link href={PATHS.approvals(agentId)}>{t`What waits for your yes`}</Link>
        </p>
      </section>
      <section aria-label={t`By itself`}>
        <h2>{t`By itself, in the last 7 days`}</h2>
        <LatelyAccount agentId={agentId} />
        <p className="agent-ways">
          <Link href={PATHS.night(agentId)}>{t`Its routines`}</Link>
        </p>
      </section>
      <details className="portrait-wakes" onToggle={({ currentTarget }) => setWakes(currentTarget.open)}>
        <summary>{t`Every wake that was asked for`}</summary>
        {wakes && <WakeFeed agentId={agentId} />}
      </details>
    </div>
  );
}

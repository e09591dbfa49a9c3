/** What agents did and what the person changed: one log, and the costs. */
import { lazy, Suspense } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { CostReport } from '../costs/cost-report.tsx';
import { Tabs } from '../design/tabs.tsx';
import { AgentSelect } from '../parts/choices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { ACTIVITY_KINDS, type ActivityKind, PATHS } from '../routes.ts';
import { useNames } from '../use-somebody.ts';
import { ActivityLog } from './activity-log.tsx';
import './activity.css';

const ChangesSection = lazy(() => import('../changes/changes-section.tsx'));

const TITLES: Readonly<Record<ActivityKind, string>> = {
  all: t`All`,
  wakes: t`Wakes`,
  runs: t`Runs`,
  calls: t`Tool calls`,
  changes: t`What you changed`,
  costs: t`Costs`,
};

function Content({ tab, agentId }: { tab: ActivityKind; agentId: AgentId | null }) {
  if (tab === 'costs') return <CostReport />;
  if (tab === 'changes')
    return (
      <Suspense fallback={null}>
        <ChangesSection />
      </Suspense>
    );
  return <ActivityLog key={`${tab} ${agentId}`} kind={tab} agentId={agentId} />;
}

export default function ActivityPage({
  tab,
  agentId,
  onClose,
}: {
  tab: ActivityKind;
  agentId: AgentId | null;
  onClose: () => void;
}) {
  const nameOf = useNames();
  return (
    <div className="page">
      <PageHead
        title={t`Activity`}
        pageTitle={
          agentId !== null
            ? `${nameOf(agentId)} · ${t`Activity`}`
            : tab === 'all'
              ? t`Activity`
              : `${TITLES[tab]} · ${t`Activity`}`
        }
        onClose={onClose}
      >
        {tab !== 'costs' && tab !== 'changes' && (
          <AgentSelect
            label={t`Agent`}
            everybody={t`Everybody`}
            agentId={agentId}
            path={(id) => PATHS.activity(tab, id)}
          />
        )}
      </PageHead>
      <Tabs
        label={t`Activity`}
        shown={tab}
        tabs={ACTIVITY_KINDS.map((kind) => ({ tab: kind, title: TITLES[kind], path: PATHS.activity(kind, agentId) }))}
      >
        <Content tab={tab} agentId={agentId} />
      </Tabs>
    </div>
  );
}

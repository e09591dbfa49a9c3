/** The log of what agents did: wakes, runs, tool calls and costs. */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { CallLog } from '../calls/call-log.tsx';
import { CostReport } from '../costs/cost-report.tsx';
import { Tabs } from '../design/tabs.tsx';
import { AgentSelect } from '../parts/choices.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { ACTIVITY_KINDS, type ActivityKind, PATHS } from '../routes.ts';
import { RecentActivity } from '../schedule/activity-list.tsx';
import { useNames } from '../use-somebody.ts';
import { WakeFeed } from '../wakes/wake-feed.tsx';
import './activity.css';

const TITLES: Readonly<Record<ActivityKind, string>> = {
  wakes: t`Wakes`,
  runs: t`Runs`,
  calls: t`Tool calls`,
  costs: t`Costs`,
};

function Log({ tab, agentId }: { tab: ActivityKind; agentId: AgentId | null }) {
  switch (tab) {
    case 'wakes':
      return <WakeFeed key={agentId} agentId={agentId} />;
    case 'runs':
      return <RecentActivity agentId={agentId} />;
    case 'calls':
      return <CallLog agentId={agentId} />;
    case 'costs':
      return <CostReport />;
    default:
      return tab satisfies never;
  }
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
    <div className="activity-page">
      <PageHead
        title={t`Activity`}
        pageTitle={agentId === null ? t`${TITLES[tab]} · Activity` : t`Activity of ${nameOf(agentId)}`}
        onClose={onClose}
      >
        {tab !== 'costs' && (
          <AgentSelect
            label={t`Of`}
            everybody={t`everybody`}
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
        <Log tab={tab} agentId={agentId} />
      </Tabs>
    </div>
  );
}

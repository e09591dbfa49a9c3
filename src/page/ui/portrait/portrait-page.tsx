import { lazy, Suspense, useState, type ReactNode } from 'react';
import { Link, Redirect } from 'wouter';
import type { Agent } from '../../../shared/domain/agent.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { placeText, stateText } from '../chat/head.tsx';
import { useHousehold } from '../context.tsx';
import { AgentCosts } from '../costs/agent-costs.tsx';
import { Face } from '../grid/face.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { PATHS, useRoute, type PortraitTab } from '../routes.ts';
import { useSomebody } from '../use-somebody.ts';
import { ConversationsTab } from './conversations-tab.tsx';
import { DeedsTab } from './deeds-tab.tsx';
import { MoreTab } from './more-tab.tsx';
import './portrait.css';
import { SoulTab } from './soul-tab.tsx';
import { TAB_TITLES } from './titles.ts';

const ChangeDialog = lazy(() => import('../agent/change-dialog.tsx'));

interface Props {
  readonly agentId: AgentId;
  readonly tab: PortraitTab;
  readonly day: string | null;
}

function shown(agent: Agent, name: string, { tab, day }: Props): ReactNode {
  const { agentId, retired } = agent;
  switch (tab) {
    case 'soul':
      return <SoulTab agent={agent} />;
    case 'conversations':
      return <ConversationsTab agentId={agentId} name={name} day={day} />;
    case 'deeds':
      return <DeedsTab agentId={agentId} />;
    case 'costs':
      return (
        <div className="portrait-costs">
          <AgentCosts agentId={agentId} name={name} />
          <p className="agent-ways">
            <Link href={PATHS.costs}>{t`What everybody costs`}</Link>
          </p>
        </div>
      );
    case 'more':
      return <MoreTab agentId={agentId} name={name} retired={retired} />;
    default:
      return tab satisfies never;
  }
}

/**
 * An agent's own page: who it is and was, what was said with it, what it did, what it costs, and
 * what else is its own.
 */
export default function PortraitPage(props: Props) {
  const { agentId, tab } = props;
  const { go } = useRoute();
  const [changing, setChanging] = useState(false);
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  const somebody = useSomebody(agentId);
  const close = () => go(PATHS.agent(agentId));
  // Its conversation says why there is nobody, or nobody yet, and what can be done.
  if (!agent || somebody.kind === 'nobody' || somebody.kind === 'egg')
    return <Redirect to={PATHS.agent(agentId)} replace />;
  const { name, face, color, awake } = somebody;
  const busy = somebody.kind === 'agent' && (somebody.seat.state !== 'sleeping' || somebody.seat.working);
  const title = TAB_TITLES.find((one) => one.tab === tab)?.title ?? '';
  return (
    <div className="portrait tint" style={{ '--c': color }}>
      <div className="portrait-head">
        <span className="portrait-face" data-asleep={!awake && !busy}>
          <Face agentId={agentId} face={face} color={color} awake={awake} />
        </span>
        <div>
          <PageHead title={name} pageTitle={`${name}: ${title}`} onClose={close}>
            <button type="button" className="ghost" onClick={() => setChanging(true)}>{t`Change…`}</button>
          </PageHead>
          <p className="portrait-state">
            {[stateText(somebody), placeText(somebody)].filter((part) => part !== null).join(' · ')}
          </p>
        </div>
      </div>
      <Tabs
        label={t`About ${name}`}
        tabs={TAB_TITLES.map((one) => ({ ...one, path: PATHS.portrait(agentId, one.tab) }))}
        shown={tab}
      >
        <h2 className="visually-hidden">{title}</h2>
        {shown(agent, name, props)}
      </Tabs>
      {changing && (
        <Suspense fallback={null}>
          <ChangeDialog agentId={agentId} onClose={() => setChanging(false)} />
        </Suspense>
      )}
    </div>
  );
}

import { Link } from 'wouter';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { schedulesOf } from '../../state/schedules.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { Inbox, useUnreadMessages } from '../inbox/inbox.tsx';
import { whatText } from '../schedule/words.ts';
import { PATHS } from '../routes.ts';
import { TAB_TITLES } from '../portrait/titles.ts';
import { clockTime } from '../text/time.ts';
import { useThreads } from '../threads/use-threads.ts';
import { useQuery } from '../hooks.ts';
import { useSomebody } from '../use-somebody.ts';
import { Budget } from '../wakes/budget.tsx';
import { OpenThreads, openThreadsOf } from './open-threads.tsx';
import { ShareBirthButton } from './share-birth-button.tsx';
import { Soul } from './soul.tsx';
import './agent-panel.css';

/** Latest messages shown beside a conversation. */
const NEWEST = 2;

/** The messages in its inbox, if there are any. */
function Waits({ agentId, name }: { agentId: AgentId; name: string }) {
  const unread = useUnreadMessages(agentId) ?? 0;
  if (unread === 0) return null;
  return (
    <section aria-label={t`Inbox`}>
      <h3>
        {t`Inbox`} <span className="inbox-count framed-strong rounded text-1 ink ground-3">{t`${unread} unread`}</span>
      </h3>
      <Inbox agentId={agentId} name={name} first={Math.min(unread, NEWEST)} />
      <p className="budget-links gap-5 flex wrap text-3">
        <Link href={PATHS.agentInbox(agentId)}>{t`Show all`}</Link>
      </p>
    </section>
  );
}

/** The agent's active runs. */
function AtWork({ agentId }: { agentId: AgentId }) {
  const known = useQuery(schedulesOf(useRoost()).runs);
  const runs =
    known.kind === 'ready' ? known.value.filter((run) => run.agentId === agentId && run.endedAt === null) : [];
  if (runs.length === 0) return null;
  return (
    <section aria-label={t`Now`}>
      <h3>{t`Now`}</h3>
      <ul className="agent-threads one-column stack gap-1">
        {runs.map((run) => (
          <li className="flex baseline apart gap-4" key={run.runId}>
            <Link href={PATHS.schedule(agentId)} dir="auto">
              {whatText(run)}
            </Link>
            {run.startedAt !== null && <small className="nowrap">{t`since ${clockTime(run.startedAt)}`}</small>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Its open threads, if there are any. Errors are shown on the page of threads. */
function Threads({ agentId }: { agentId: AgentId }) {
  const list = useQuery(useThreads().list);
  const open = list.kind === 'ready' ? openThreadsOf(agentId, list.value) : [];
  if (open.length === 0) return null;
  return (
    <section aria-label={t`Threads`}>
      <h3>{t`Threads`}</h3>
      <OpenThreads open={open} agentId={agentId} />
    </section>
  );
}

/**
 * Beside an agent's conversation: its soul and its current activity. Everything else is on its own
 * page.
 */
export default function AgentPanel({ agentId }: { agentId: AgentId }) {
  const agent = useHousehold((state) => state.roster.byId.get(agentId));
  const speaker = useSomebody(agentId);
  if (speaker.kind === 'nobody') return null;
  if (!agent)
    return (
      <div className="agent-panel column-wise gap-7 flex ink-2 text-3">
        <h3>{t`Soul`}</h3>
        <p className="ink-3">{t`The first words appear here.`}</p>
      </div>
    );
  return (
    <div key={agentId} className="agent-panel column-wise gap-7 flex ink-2 text-3 tint" style={{ '--c': agent.color }}>
      <Soul text={agent.soul} name={speaker.name} folds />
      {agent.agentId !== LEAD_ID && agent.soul !== '' && <ShareBirthButton agent={agent} />}
      {speaker.kind === 'agent' && speaker.seat.working && <AtWork agentId={agentId} />}
      <Waits agentId={agentId} name={speaker.name} />
      <Threads agentId={agentId} />
      {!agent.retired && (
        <section aria-label={t`Wakes`}>
          <h3>{t`Wakes`}</h3>
          <Budget agentId={agentId}>
            <Link href={PATHS.activity('wakes', agentId)}>{t`Show all`}</Link>
          </Budget>
        </section>
      )}
      <nav aria-label={t`All about ${speaker.name}`}>
        <h3>{t`All about ${speaker.name}`}</h3>
        <p className="gap-5 above-3 flex wrap text-2">
          {TAB_TITLES.map(({ tab, title }) => (
            <Link key={tab} href={PATHS.portrait(agentId, tab)}>
              {title}
            </Link>
          ))}
        </p>
      </nav>
    </div>
  );
}

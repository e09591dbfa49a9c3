import { lazy, Suspense, useEffect } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { retold, t } from '../../language/t.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { WarnIcon } from '../design/icons.tsx';
import { optional, Part } from '../parts/part.tsx';
import { useSomebody } from '../use-somebody.ts';
import { Head } from './head.tsx';
import type { Speaker } from './message.tsx';
import './conversation.css';

/** Shown while a conversation is loading. */
export function Skeleton({ label = t`Loading…` }: { label?: string }) {
  return (
    <div className="chat-skeleton fill flex gap-7 column-wise" role="status" aria-label={label}>
      {[0, 1, 2].map((row) => (
        <div className="stack gap-4" key={row}>
          <i className="round-s size-l" />
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}

const load = () => import('./talk.tsx');
const Talk = lazy(load);
const Nobody = optional(() => import('./nobody.tsx'));

/**
 * Preloads the message view, the composer and the sending while the team is painted. A component
 * that needs them and fails to load them reports that itself.
 */
export const preloadTalk = async (): Promise<void> =>
  void (await Promise.allSettled([
    load(),
    import('./activity.tsx'),
    import('./nobody.tsx'),
    import('../../state/outbox/delivery.ts'),
  ]));

/** Why this agent sleeps although it was woken. */
function Reason({ speaker }: { speaker: Speaker }) {
  const reason = speaker.kind === 'agent' ? speaker.seat.reason : null;
  if (reason === null) return null;
  return (
    <p className="chat-reason flex gap-4 ink-2 text-2" role="note">
      <WarnIcon />
      <span>
        <strong className="warn">{t`${speaker.name} did not come.`}</strong> {retold(reason)}
      </span>
    </p>
  );
}

/** One conversation: the lead's or the chosen agent's. */
export function ConversationView({ agentId, visible }: { agentId: AgentId; visible: boolean }) {
  const { conversations, unread } = useRoost();
  const speaker = useSomebody(agentId);
  const ready = useHousehold((state) => state.status !== 'loading');
  useEffect(() => void conversations.open(agentId), [conversations, agentId]);
  useEffect(() => {
    const markInView = () => unread.view(visible && !document.hidden ? agentId : null);
    markInView();
    document.addEventListener('visibilitychange', markInView);
    return () => {
      document.removeEventListener('visibilitychange', markInView);
      unread.view(null);
      unread.leave();
    };
  }, [unread, agentId, visible]);

  if (speaker.kind === 'nobody')
    return (
      <section className="chat shrinks column-wise narrow" aria-label={t`Conversation`}>
        {ready ? <Nobody agentId={agentId} /> : <Skeleton />}
      </section>
    );
  return (
    <section className="chat shrinks column-wise narrow ruled-start" data-agent={agentId} aria-label={t`Conversation`}>
      <Part>
        <Head speaker={speaker} />
        <Reason speaker={speaker} />
      </Part>
      <Suspense fallback={<Skeleton />}>
        <Talk key={agentId} speaker={speaker} />
      </Suspense>
    </section>
  );
}

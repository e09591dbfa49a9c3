import { lazy, Suspense, useEffect } from 'react';
import type { AgentId } from '../../domain/ids.ts';
import { retold } from '../../language/retold.ts';
import { t } from '../../language/t.ts';
import type { ForgetDoc } from '../../protocol/documents.ts';
import { useActions, useHousehold, useRoost } from '../context.tsx';
import { WarnIcon } from '../parts/icons.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { fullTime } from '../text/time.ts';
import { useSomebody } from '../use-somebody.ts';
import { Head } from './head.tsx';
import type { Speaker } from './message.tsx';
import { Skeleton } from './skeleton.tsx';
import './conversation.css';

const load = () => import('./talk.tsx');
const Talk = lazy(load);

/** Fetches what shows words and takes them: the team is painted meanwhile. Whoever needs it says what is missing. */
export const preloadTalk = async (): Promise<void> =>
  void (await Promise.allSettled([load(), import('./markdown.tsx'), import('./activity.tsx')]));

/** Why this agent sleeps although it was called. */
function Reason({ speaker }: { speaker: Speaker }) {
  const reason = speaker.kind === 'agent' ? speaker.seat.reason : null;
  if (reason === null) return null;
  return (
    <p className="chat-reason" role="note">
      <WarnIcon />
      <span>
        <strong>{t`${speaker.name} did not come.`}</strong> {retold(reason)}
      </span>
    </p>
  );
}

/** Where somebody would be who is being forgotten. */
function Leaving({ forget }: { forget: ForgetDoc }) {
  const { go } = useRoute();
  const actions = useActions();
  const { notices } = useRoost();
  const keep = async () => {
    const kept = await actions.keep(forget._id);
    if (!kept.ok) notices.error(t`This could not be saved: ${kept.reason}`);
  };
  return (
    <div className="chat-nobody">
      <h2>{t`Whoever lived here is being forgotten`}</h2>
      <p>{t`Out of sight now, and gone for good on ${fullTime(forget.finalAt)}. Until then it can be kept after all.`}</p>
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={() => go(PATHS.hearth)}>{t`To the hearth`}</button>
        <button type="button" className="ghost ghost-dawn" onClick={() => void keep()}>{t`Keep after all`}</button>
      </div>
    </div>
  );
}

function Nobody({ agentId }: { agentId: AgentId }) {
  const { go } = useRoute();
  const leaving = useHousehold((state) =>
    state.forgetting.find(({ target }) => target.kind === 'agent' && target.agentId === agentId),
  );
  if (leaving) return <Leaving forget={leaving} />;
  return (
    <div className="chat-nobody">
      <h2>{t`Nobody lives at this address`}</h2>
      <p>{t`Nobody was born here under this name on this device: the egg was given up, found no name, or the link was cut short.`}</p>
      <button type="button" className="ghost" onClick={() => go(PATHS.hearth)}>{t`To the hearth`}</button>
    </div>
  );
}

/** One conversation: the lead's, or the chosen agent's. */
export function ConversationView({ agentId, visible }: { agentId: AgentId; visible: boolean }) {
  const { conversations, unread } = useRoost();
  const speaker = useSomebody(agentId);
  const ready = useHousehold((state) => state.status !== 'loading');
  useEffect(() => void conversations.open(agentId), [conversations, agentId]);
  useEffect(() => {
    const look = () => unread.look(visible && !document.hidden ? agentId : null);
    look();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      unread.look(null);
      unread.leave();
    };
  }, [unread, agentId, visible]);

  if (speaker.kind === 'nobody')
    return (
      <section className="chat" aria-label={t`Conversation`}>
        {ready ? <Nobody agentId={agentId} /> : <Skeleton />}
      </section>
    );
  return (
    <section className="chat" aria-label={t`Conversation`}>
      <Head speaker={speaker} />
      <Reason speaker={speaker} />
      <Suspense fallback={<Skeleton />}>
        <Talk key={agentId} speaker={speaker} />
      </Suspense>
    </section>
  );
}

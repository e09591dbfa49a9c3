import { useEffect, useMemo, useState } from 'react';
import type { AgentId } from '../../domain/ids.ts';
import { openAnswerOf, textOf } from '../../state/answers.ts';
import type { ForgetDoc, MessageDoc } from '../../protocol/documents.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useActions, useAnswers, useConversations, useHousehold, useInfo, useRoost, useUnread } from '../context.tsx';
import { WarnIcon } from '../parts/icons.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { whereWordsGo } from '../text/answering.ts';
import { fullTime } from '../text/time.ts';
import { useSomebody } from '../use-somebody.ts';
import { Composer } from './composer.tsx';
import { ConversationLog } from './conversation-log.tsx';
import { keepDraft } from './drafts.ts';
import { EmptyLog } from './empty.tsx';
import { FirstWords } from './first-words.tsx';
import { Head } from './head.tsx';
import type { Speaker } from './message.tsx';
import { useReachesNew } from './use-reaches-new.ts';
import { optional } from '../parts/optional.tsx';
import './conversation.css';

const WaitingCalls = optional(() => import('../calls/waiting.tsx'));

function composerHint(speaker: Speaker): string | null {
  const { name } = speaker;
  if (speaker.kind === 'lead')
    return speaker.awake ? null : `${name} sleeps, and will read this when the next session starts.`;
  return speaker.kind === 'agent' ? whereWordsGo(name, speaker.seat) : null;
}

/** Why this agent sleeps although it was called. */
function Reason({ speaker }: { speaker: Speaker }) {
  const reason = speaker.kind === 'agent' ? speaker.seat.reason : null;
  if (reason === null) return null;
  return (
    <p className="chat-reason" role="note">
      <WarnIcon />
      <span>
        <strong>{speaker.name} did not come.</strong> {reason}
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
    if (!kept.ok) notices.error(`This could not be saved: ${kept.reason}`);
  };
  return (
    <div className="chat-nobody">
      <h2>Whoever lived here is being forgotten</h2>
      <p>Out of sight now, and gone for good on {fullTime(forget.finalAt)}. Until then it can be kept after all.</p>
      <div className="dialog-ways">
        <button type="button" className="ghost" onClick={() => go(PATHS.hearth)}>
          To the hearth
        </button>
        <button type="button" className="ghost ghost-dawn" onClick={() => void keep()}>
          Keep after all
        </button>
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
      <h2>Nobody lives at this address</h2>
      <p>
        Nobody was born here under this name on this device: the egg was given up, found no name, or the link was cut
        short.
      </p>
      <button type="button" className="ghost" onClick={() => go(PATHS.hearth)}>
        To the hearth
      </button>
    </div>
  );
}

export function Skeleton({ label = 'Reading the conversation' }: { label?: string }) {
  return (
    <div className="chat-skeleton" role="status" aria-label={label}>
      {[0, 1, 2].map((row) => (
        <div key={row}>
          <i />
          <span />
          <span />
        </div>
      ))}
    </div>
  );
}

function Talk({ speaker }: { speaker: Speaker }) {
  const { agentId } = speaker;
  const { conversations, device } = useRoost();
  const actions = useActions();
  const conversation = useConversations((state) => state.byAgent.get(agentId));
  const answering = useAnswers((state) => openAnswerOf(state, agentId) !== undefined);
  const blocked = useInfo(writingStopped);
  const [editing, setEditing] = useState<MessageDoc | null>(null);
  // Text put into the field from elsewhere makes it anew.
  const [filled, setFilled] = useState(0);
  const known = useUnread((state) => state.known);
  const newFrom = useUnread((state) => state.begins.get(agentId) ?? null);
  const pages = useMemo(() => conversations.pages(agentId), [conversations, agentId]);
  const { status = 'loading', before = null, reading = 'nothing', messages = [] } = conversation ?? {};
  const ready = useReachesNew(
    { pages, more: before !== null, reading },
    {
      loaded: known && status === 'ready',
      short: newFrom !== null && (messages[0]?.at ?? '') > newFrom,
      read: messages.length,
    },
  );
  const fill = (text: string) => {
    keepDraft(device.tab, agentId, text);
    setFilled((times) => times + 1);
  };

  if (!conversation || conversation.status === 'loading') return <Skeleton />;
  if (conversation.status === 'failed')
    return (
      <div className="chat-nobody" role="alert">
        <h2>This conversation could not be read</h2>
        <p>{conversation.error} If it stays so, Settings, Storage, Rebuild reads everything anew.</p>
        <button type="button" className="ghost" onClick={() => void conversations.open(agentId)}>
          Try again
        </button>
      </div>
    );

  if (!ready) return <Skeleton />;

  const edit = editing ? { text: textOf(editing.blocks), cancel: () => setEditing(null) } : null;
  return (
    <>
      <ConversationLog
        speaker={speaker}
        conversation={conversation}
        empty={<EmptyLog speaker={speaker} onPick={fill} />}
        onEdit={setEditing}
        onTakeBack={fill}
      />
      <FirstWords speaker={speaker} messages={messages} onPick={fill} />
      <WaitingCalls agentId={agentId} />
      {speaker.kind !== 'seatless' && (
        <Composer
          key={`${editing?.messageId ?? 'draft'}:${filled}`}
          draft={agentId}
          label={speaker.kind === 'egg' ? 'First it needs a name' : `Write to ${speaker.name}…`}
          hint={blocked ? 'Nothing can be kept on this device now. Your text stays here.' : composerHint(speaker)}
          disabled={speaker.kind === 'egg'}
          answering={answering && speaker.kind !== 'egg'}
          edit={edit}
          takeFocus={filled > 0}
          onSend={(text) => {
            void actions.send(agentId, text, editing?.messageId);
            setEditing(null);
          }}
          onStop={() => void actions.stop(agentId)}
        />
      )}
    </>
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
      <section className="chat" aria-label="Conversation">
        {ready ? <Nobody agentId={agentId} /> : <Skeleton />}
      </section>
    );
  return (
    <section className="chat" aria-label="Conversation">
      <Head speaker={speaker} />
      <Reason speaker={speaker} />
      <Talk key={agentId} speaker={speaker} />
    </section>
  );
}

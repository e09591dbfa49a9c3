import { useCallback, useMemo, useRef, useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { MessageDoc } from '../../../shared/protocol/documents.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { openAnswerOf } from '../../state/answers.ts';
import type { TakenBack } from '../../state/actions/talk.ts';
import type { Pages } from '../../state/pages.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useActions, useAnswers, useConversations, useInfo, useRoost, useUnread } from '../context.tsx';
import { FoundBar } from '../palette/found-bar.tsx';
import { optional } from '../parts/optional.tsx';
import { Part } from '../parts/part.tsx';
import { useRoute } from '../routes.ts';
import { whereWordsGo } from '../text/answering.ts';
import { Composer, type Field } from './composer.tsx';
import { ConversationLog, lastQuestion } from './conversation-log.tsx';
import { EmptyLog } from './empty.tsx';
import { FirstWords } from './first-words.tsx';
import { QuoteInto } from './message-menu.tsx';
import type { Speaker } from './message.tsx';
import { Skeleton } from './skeleton.tsx';
import { useReachesFound } from './use-reaches-found.ts';
import { useReachesNew } from './use-reaches-new.ts';

const WaitingCalls = optional(() => import('../calls/waiting.tsx'));

function composerHint(speaker: Speaker): string | null {
  const { name } = speaker;
  if (speaker.kind === 'lead')
    return speaker.awake ? null : t`${name} sleeps, and will read this when the next session starts.`;
  return speaker.kind === 'agent' ? whereWordsGo(name, speaker.seat) : null;
}

/** The message that the address names, and whether the conversation is read as far as that. */
function useFoundMessage(
  agentId: AgentId,
  pages: Pages,
  loaded: boolean,
): readonly [at: string | null, found: boolean] {
  const { conversations } = useRoost();
  const { route } = useRoute();
  const at = route.kind === 'agent' && route.agentId === agentId ? route.at : null;
  const messages = () => conversations.store.getState().byAgent.get(agentId)?.messages ?? [];
  const isThere = () => messages().some(({ messageId }) => messageId === at);
  return [at, useReachesFound({ pages }, { at, loaded, isThere })];
}

/** What was said with somebody, and where one writes. */
export default function Talk({ speaker }: { speaker: Speaker }) {
  const { agentId } = speaker;
  const {
    conversations,
    household,
    live: { store },
  } = useRoost();
  const actions = useActions();
  const conversation = useConversations((state) => state.byAgent.get(agentId));
  const answering = useAnswers((state) => openAnswerOf(state, agentId) !== undefined);
  const blocked = useInfo(writingStopped);
  const [editing, setEditing] = useState<MessageDoc | null>(null);
  const field = useRef<Field>(null);
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
  /**
   * Arrow up: the last question of a session is edited in its place, what is further back is said
   * anew.
   */
  const last = (): string | null => {
    const { live } = store.getState();
    const question = speaker.awake && !answering ? lastQuestion(messages, live?.sessionId ?? null) : null;
    if (question) {
      setEditing(question);
      return null;
    }
    const said = messages.findLast(({ author, blocks }) => author === 'human' && textOf(blocks) !== '');
    const queued = household.store.getState().queued.findLast((doc) => doc.agentId === agentId);
    if (queued && queued.time > (said?.time ?? 0)) return queued.text;
    return said ? textOf(said.blocks) : null;
  };
  const add = useCallback((text: string) => field.current?.add(text), []);
  const putBack = useCallback(({ text, files }: TakenBack) => field.current?.add(text, files), []);
  const [at, found] = useFoundMessage(agentId, pages, status === 'ready');

  if (!conversation || conversation.status === 'loading') return <Skeleton />;
  if (conversation.status === 'failed')
    return (
      <div className="chat-nobody" role="alert">
        <h2>{t`This conversation could not be read`}</h2>
        <p>{t`${conversation.error} If it stays so, Settings, Storage, Rebuild reads everything anew.`}</p>
        <button type="button" className="ghost" onClick={() => void conversations.open(agentId)}>{t`Try again`}</button>
      </div>
    );

  if (!ready) return <Skeleton />;
  if (!found) return <Skeleton label={t`Going to that message`} />;

  const writable = speaker.kind !== 'seatless' && speaker.kind !== 'egg';
  const earlier = editing !== null && messages.findLast(({ author }) => author === 'human') !== editing;
  const edit = editing ? { text: textOf(editing.blocks), earlier, cancel: () => setEditing(null) } : null;
  return (
    <QuoteInto value={writable ? add : null}>
      <ConversationLog
        // Opened anew at each message that is looked for.
        key={at ?? ''}
        at={at}
        speaker={speaker}
        conversation={conversation}
        empty={<EmptyLog speaker={speaker} onPick={add} />}
        onEdit={setEditing}
        onTakeBack={putBack}
      />
      <Part>
        <FoundBar />
        <FirstWords speaker={speaker} messages={messages} onPick={add} />
        <WaitingCalls agentId={agentId} />
      </Part>
      {speaker.kind !== 'seatless' && (
        <Composer
          key={editing?.messageId ?? 'draft'}
          ref={field}
          draft={agentId}
          label={speaker.kind === 'egg' ? t`First it needs a name` : t`Write to ${speaker.name}…`}
          hint={blocked ? t`Nothing can be kept on this device now. Your text stays here.` : composerHint(speaker)}
          disabled={speaker.kind === 'egg'}
          answering={answering && speaker.kind !== 'egg'}
          edit={edit}
          attachesFor={agentId}
          along={editing?.attachments?.length ?? 0}
          onSend={(text, _mentions, files) => {
            void actions.send(agentId, text, editing?.messageId, { files, attachments: editing?.attachments });
            setEditing(null);
          }}
          onStop={() => void actions.stop(agentId)}
          onLast={last}
        />
      )}
    </QuoteInto>
  );
}

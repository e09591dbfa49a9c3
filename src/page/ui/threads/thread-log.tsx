import { memo, useCallback, useMemo } from 'react';
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import { withoutThinking } from '../../../shared/domain/thinking.ts';
import { t } from '../../language/t.ts';
import type { ThreadMessage } from '../../../shared/protocol/threads.ts';
import { threadItems } from '../../state/conversation-log.ts';
import type { ThreadTalk, ThreadTalkState } from '../../state/threads/index.ts';
import { DayDivider, NewDivider } from '../chat/dividers.tsx';
import { Log, type ShowRow } from '../chat/log.tsx';
import { Chip, Mentioned, PersonWords } from '../chat/mentioned.tsx';
import { mentionedIn } from '../../../shared/domain/mentions.ts';
import { Bubble, FoldButton, type Speaker } from '../chat/message.tsx';
import type { Stretch } from '../chat/parts.ts';
import { ShownParts } from '../chat/shown-parts.tsx';
import { Unsent } from '../chat/unsent.tsx';
import { PATHS } from '../routes.ts';
import { names } from '../text/sizes.ts';
import { useNow } from '../use-now.ts';
import type { Teammate, Teammates } from '../use-teammates.ts';

const speakerOf = ({ agentId, name, face, color, retired }: Teammate): Speaker => ({
  kind: 'seatless',
  agentId,
  name,
  face,
  color,
  awake: false,
  retired,
});

/** What is said in a thread, and by whom. */
const Said = memo(function Said({
  threadId,
  message,
  stretch,
  team,
  me,
  readBy,
  onFold,
}: {
  threadId: ThreadId;
  message: ThreadMessage;
  stretch: Stretch;
  team: Teammates;
  me: Teammate;
  /** Of the person's newest: who has read it, in a sentence; null: it is said of another. */
  readBy: string | null;
  onFold: (key: string) => void;
}) {
  const { messageId, text, time, restored } = message;
  const mine = message.from === 'human';
  const from = mine ? me : team.find(message.from);
  const mentioned = useMemo(() => message.mentions.map(team.find), [message, team]);
  const named = mentionedIn(text, mentioned);
  const unnamed = stretch.first ? mentioned.filter(({ agentId }) => !named.includes(agentId)) : [];
  const foot = stretch.last && (
    <>
      {mine && <FoldButton stretch={stretch} text={() => text} itemKey={messageId} onFold={onFold} />}
      {readBy !== null && <p className="msg-status">{readBy}</p>}
      {restored && <p className="msg-status">{t`Returned to the relay`}</p>}
    </>
  );
  return (
    <Bubble
      speaker={speakerOf(from)}
      time={time}
      mine={mine}
      foot={foot}
      kept={{ text: () => (mine ? text : withoutThinking(text)), path: PATHS.threadMessage(threadId, messageId) }}
      first={stretch.first}
      last={stretch.last}
    >
      {unnamed.length > 0 && (
        <p className="mention-for">
          <span>{t`for`}</span>{' '}
          {unnamed.map((who) => (
            <Chip key={who.agentId} who={who} />
          ))}
        </p>
      )}
      <Mentioned value={mentioned}>
        {mine ? <PersonWords parts={stretch.parts} /> : <ShownParts parts={stretch.parts} />}
      </Mentioned>
    </Bubble>
  );
});

/** Who takes part and has read up to this place, or has said something after it. */
function readByText({ messages, read, thread }: ThreadTalkState, sequence: number, team: Teammates): string {
  const has = (agentId: AgentId) =>
    (read[agentId] ?? 0) >= sequence || messages.some((said) => said.from === agentId && said.sequence > sequence);
  const readers = team.among((thread?.participants ?? []).filter(has)).map(({ name }) => name);
  return readers.length === 0 ? t`No agent has opened this thread since` : t`Read by ${names(readers)}`;
}

interface Props {
  readonly state: ThreadTalkState;
  readonly talk: ThreadTalk;
  readonly threadId: ThreadId;
  readonly title: string;
  readonly team: Teammates;
  readonly me: Teammate;
  /** The last place that had been read when the thread was opened; null: nothing was new. */
  readonly newFrom: number | null;
  /** The message at which it opens; null: where new begins, or at the end. */
  readonly at: string | null;
  readonly onTakeBack: (text: string) => void;
}

/** What those who take part in a thread say to each other. */
export function ThreadLog({ state, talk, threadId, title, team, me, newFrom, at, onTakeBack }: Props) {
  const { messages, sending, more, reading } = state;
  const now = useNow();
  const items = useMemo(() => threadItems({ messages, sending, newFrom }), [messages, sending, newFrom]);
  const again = useCallback((clientId: string) => void talk.sendAgain(clientId), [talk]);
  const takeBack = useCallback((clientId: string) => onTakeBack(talk.takeBack(clientId)), [talk, onTakeBack]);
  const mine = messages.findLast(({ from }) => from === 'human');
  const readBy = mine ? readByText(state, mine.sequence, team) : null;
  const show = useCallback<ShowRow>(
    ({ item, stretch }, onFold) => {
      switch (item.kind) {
        case 'day':
          return <DayDivider time={item.time} now={now} />;
        case 'new':
          return <NewDivider />;
        case 'said':
          return (
            stretch && (
              <Said
                threadId={threadId}
                message={item.message}
                stretch={stretch}
                team={team}
                me={me}
                readBy={item.message === mine ? readBy : null}
                onFold={onFold}
              />
            )
          );
        case 'sending': {
          const of = { sending: item.sending, speaker: speakerOf(me), onFold, onAgain: again, onTakeBack: takeBack };
          return (
            stretch && (
              <Mentioned value={(item.sending.mentions ?? []).map(team.find)}>
                <Unsent stretch={stretch} {...of} />
              </Mentioned>
            )
          );
        }
        case 'sleep':
        case 'run':
        case 'message':
        case 'open':
        case 'queued':
          return null;
        default:
          return item satisfies never;
      }
    },
    [now, threadId, team, me, mine, readBy, again, takeBack],
  );
  const newest = messages.findLast(({ from }) => from !== 'human');
  return (
    <Log
      label={t`What was said in ${title}`}
      items={items}
      sent={sending.at(-1)?.clientId ?? null}
      show={show}
      paging={{ pages: talk.pages, more, reading }}
      read={messages.length}
      beginning={t`${title} begins here.`}
      found={messages.some(({ messageId }) => messageId === at) ? at : null}
      empty={<p className="thread-quiet">{t`Nothing was said here yet.`}</p>}
      newest={
        newest
          ? {
              messageId: newest.messageId,
              name: team.find(newest.from).name,
              words: () => withoutThinking(newest.text),
            }
          : null
      }
      isThere={(id) => messages.some(({ messageId }) => messageId === id)}
    />
  );
}

import { useMemo, type ReactNode } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { logItems, type LogItem } from '../../state/conversation-log.ts';
import type { Conversation } from '../../state/conversations.ts';
import type { MessageDoc } from '../../protocol/documents.ts';
import { useActions, useAnswers, useConversations, useHousehold, useLive } from '../context.tsx';
import { DownIcon } from '../parts/icons.tsx';
import { useNow } from '../use-now.ts';
import { Announcer } from './announcer.tsx';
import { DayDivider, SleepDivider } from './dividers.tsx';
import { lastQuestion } from './last-question.ts';
import { Bubble, Message, type Speaker } from './message.tsx';
import { OpenAnswerBubble } from './open-answer.tsx';
import { PersonWords } from './person-words.tsx';
import { useStick } from './use-stick.ts';
import './log.css';

/** ms between looks at "Today" and "slept 9 hours". */
const TIMES_EVERY = 60_000;
/** px from the top at which earlier messages are fetched. */
const NEAR_TOP = 240;

interface Props {
  readonly speaker: Speaker;
  readonly conversation: Conversation;
  /** Stands in the middle while there is nothing to read. */
  readonly empty: ReactNode;
  readonly onEdit: (message: MessageDoc) => void;
  readonly onTakeBack: (text: string) => void;
}

function NotSent({ clientId, error, onTakeBack }: { clientId: string; error: string; onTakeBack: (text: string) => void }) {
  const actions = useActions();
  return (
    <p className="msg-status" data-status="failed" role="alert">
      Not sent: {error}
      <button type="button" className="link-button" onClick={() => void actions.sendAgain(clientId)}>
        Try again
      </button>
      <button type="button" className="link-button" onClick={() => onTakeBack(actions.takeBack(clientId))}>
        Take back
      </button>
    </p>
  );
}

export function Log({ speaker, conversation, empty, onEdit, onTakeBack }: Props) {
  const { agentId } = speaker;
  const actions = useActions();
  const now = useNow(TIMES_EVERY);
  const openIds = useAnswers(useShallow((state) => [...state.open.values()].filter((answer) => answer.agentId === agentId).map((answer) => answer.messageId)));
  const queued = useHousehold(useShallow((state) => state.queued.filter((doc) => doc.agentId === agentId)));
  const sending = useConversations(useShallow((state) => state.sending.filter((item) => item.agentId === agentId)));
  const liveSessionId = useLive((state) => state.live?.sessionId ?? null);
  const { messages, spans, read, before } = conversation;
  const items = useMemo(
    () => logItems({ messages, spans, read, openIds, queued, sending, liveSessionId }),
    [messages, spans, read, openIds, queued, sending, liveSessionId],
  );
  const question = speaker.awake && openIds.length === 0 ? lastQuestion(messages, liveSessionId) : null;
  const answerToRetry = question && messages.at(-1)?.author !== 'human' ? messages.at(-1) : null;
  const { log, inside, onScroll, newBelow, toEnd } = useStick(items[0]?.key, items.at(-1)?.key, openIds.length > 0, items.at(-1)?.kind === 'sending');
  const more = before !== null;

  const show = (item: LogItem) => {
    switch (item.kind) {
      case 'day':
        return <DayDivider time={item.time} now={now} />;
      case 'sleep':
        return <SleepDivider item={item} name={speaker.name} now={now} />;
      case 'message': {
        const mayEdit = question?.messageId === item.message.messageId;
        const mayRetry = mayEdit || (answerToRetry?.messageId === item.message.messageId && item.message.status !== 'complete');
        return (
          <Message
            message={item.message}
            speaker={speaker}
            waits={item.waits}
            onEdit={mayEdit ? () => onEdit(item.message) : null}
            onRetry={mayRetry && question ? () => void actions.retry(question) : null}
          />
        );
      }
      case 'open':
        return <OpenAnswerBubble messageId={item.messageId} speaker={speaker} />;
      case 'queued':
        return (
          <Bubble speaker={speaker} time={item.message.time} mine foot={<p className="msg-status">Kept on this device: {speaker.name} sleeps, and will read this on waking.</p>}>
            <PersonWords text={item.message.text} />
          </Bubble>
        );
      case 'sending': {
        const { clientId, error, text, time } = item.sending;
        const foot = error === null ? <p className="msg-status">Sending…</p> : <NotSent clientId={clientId} error={error} onTakeBack={onTakeBack} />;
        return (
          <Bubble speaker={speaker} time={time} mine foot={foot}>
            <PersonWords text={text} />
          </Bubble>
        );
      }
      default:
        return item satisfies never;
    }
  };

  return (
    <div className="log-frame">
      <div
        ref={log}
        className="log"
        // Scrolled by keyboard too.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={`Conversation with ${speaker.name}`}
        onScroll={() => {
          onScroll();
          if (more && (log.current?.scrollTop ?? NEAR_TOP) < NEAR_TOP) void actions.older(agentId);
        }}
      >
        <div ref={inside} className="log-inside">
          {more && (
            <button type="button" className="ghost log-more" onClick={() => void actions.older(agentId)}>
              {conversation.status === 'loading-older' ? 'Reading earlier messages…' : 'Earlier messages'}
            </button>
          )}
          {items.length === 0 && empty}
          <ol>
            {items.map((item) => (
              <li key={item.key} data-kind={item.kind}>
                {show(item)}
              </li>
            ))}
          </ol>
        </div>
      </div>
      {newBelow && (
        <button type="button" className="new-below" onClick={toEnd}>
          <DownIcon /> New words below
        </button>
      )}
      <Announcer messages={messages} name={speaker.name} />
    </div>
  );
}

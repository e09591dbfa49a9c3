/**
 * The log of one agent's conversation: stored messages, streaming answers and those that are being
 * sent.
 */
import { memo, type ReactNode, type RefObject, useCallback, useLayoutEffect, useMemo, useRef } from 'react';
import { useShallow } from 'zustand/react/shallow';
import type { AgentId, MessageId, SessionId } from '../../../shared/domain/ids.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { withoutThinking } from '../../../shared/domain/thinking.ts';
import type { MessageDoc, QueuedMessageDoc } from '../../../shared/protocol/documents.ts';
import { t } from '../../language/t.ts';
import type { Withdrawn } from '../../state/outbox/index.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { logItems, waited } from '../../state/conversation-log.ts';
import type { Conversation } from '../../state/conversations.ts';
import { useActions, useAnswers, useHousehold, useLive, useOutbox, useRoost, useUnread } from '../context.tsx';
import { useNow } from '../hooks.ts';
import { DayDivider, NewDivider, RunDivider, SleepDivider } from './dividers.tsx';
import { Log, type ShowRow } from './log.tsx';
import { Bubble, GrowingParts, Message, type Speaker } from './message.tsx';
import { withoutMeanwhile } from './meanwhile.ts';
import { Queued, Unsent } from './unsent.tsx';
import { WrittenMeanwhile } from './written-meanwhile.tsx';

// A finished answer is rendered again, as a message of one or several rows. Text that the person
// has selected in it stays selected: the selection is restored by its character offset.

const WORDS = '.msg-words';
/** Frames after which the new rendering is in the page. */
const FRAMES = 3;

interface Marked {
  readonly key: string;
  /** Characters before the selection. */
  readonly from: number;
  readonly text: string;
}

/** The selection within `words`; null: there is none, or it reaches beyond. */
function markedIn(words: Element): Marked | null {
  const key = words.closest<HTMLElement>('[data-key]')?.dataset['key'];
  const selection = document.getSelection();
  if (key === undefined || !selection || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!words.contains(range.commonAncestorContainer)) return null;
  const before = document.createRange();
  before.selectNodeContents(words);
  before.setEnd(range.startContainer, range.startOffset);
  return { key, from: before.toString().length, text: range.toString() };
}

function textsIn(key: string): readonly Text[] {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-key]')].filter(
    ({ dataset }) => dataset['key'] === key || dataset['key']?.startsWith(`${key}#`),
  );
  return rows.flatMap((row) => {
    const walker = document.createTreeWalker(
      row.querySelector(WORDS) ?? document.createElement('p'),
      NodeFilter.SHOW_TEXT,
    );
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    return texts;
  });
}

/** Restores the selection where the same text stands there. A newer selection is left alone. */
function markAgain({ key, from, text }: Marked): void {
  const selection = document.getSelection();
  if (!selection || !selection.isCollapsed) return;
  const texts = textsIn(key);
  const all = texts.map(({ data }) => data).join('');
  const begin = all.startsWith(text, from) ? from : all.indexOf(text);
  if (begin < 0) return;
  /**
   * `isEnd`: a position at the end of a text node stays there, rather than at the start of the
   * next.
   */
  const placeOf = (at: number, isEnd: boolean): readonly [Text, number] | null => {
    let left = at;
    for (const node of texts) {
      if (isEnd ? left <= node.length : left < node.length) return [node, left];
      left -= node.length;
    }
    return null;
  };
  const first = placeOf(begin, false);
  const last = placeOf(begin + text.length, true);
  if (first && last) selection.setBaseAndExtent(...first, ...last);
}

/** `inside`: an element within the answer's text. */
function useCarriedSelection(inside: RefObject<HTMLElement | null>): void {
  useLayoutEffect(
    () => () => {
      // The elements stay in the page until this has run.
      const words = inside.current?.closest(WORDS);
      const marked = words ? markedIn(words) : null;
      if (!marked) return;
      let frames = FRAMES;
      const wait = () => {
        frames -= 1;
        if (frames > 0) requestAnimationFrame(wait);
        else markAgain(marked);
      };
      requestAnimationFrame(wait);
    },
    [inside],
  );
}

/** An answer that is being streamed. It subscribes to its own text and nothing else. */
const OpenAnswerBubble = memo(function OpenAnswerBubble({
  messageId,
  speaker,
}: {
  messageId: MessageId;
  speaker: Speaker;
}) {
  const answer = useAnswers((state) => state.open.get(messageId));
  const online = useLive((state) => state.link.kind === 'live');
  const writing = useRef<HTMLDivElement>(null);
  useCarriedSelection(writing);
  if (!answer) return null;
  const silent = answer.blocks.length === 0;
  return (
    <Bubble
      speaker={speaker}
      time={answer.startedAt}
      mine={false}
      foot={
        online ? undefined : (
          <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3">{t`The connection to the relay is lost. The rest follows when it is back.`}</p>
        )
      }
    >
      <div ref={writing} className="writing" data-writing={online} data-silent={silent}>
        <GrowingParts blocks={answer.blocks} />
        {online && silent && (
          <span className="thinking pad-3-0 inline-flex gap-3" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
        )}
      </div>
    </Bubble>
  );
});

/**
 * The person's last message that can be edited: it belongs to the running session, is text, and was
 * read.
 */
export function lastQuestion(messages: readonly MessageDoc[], liveSessionId: SessionId | null): MessageDoc | null {
  const last = messages.findLast((message) => message.author === 'human');
  if (!last || last.sessionId !== liveSessionId || waited(last)) return null;
  return last.blocks.some((block) => block.kind === 'text') || last.attachments ? last : null;
}

/** The last answer if it broke off. Null for one that failed before its first word. */
function brokenOff(messages: readonly MessageDoc[], agentId: AgentId): MessageDoc | null {
  const last = messages.at(-1);
  if (last?.author !== agentId || last.status === 'complete') return null;
  return last.status === 'failed' && last.blocks.length === 0 ? null : last;
}

interface Props {
  readonly speaker: Speaker;
  readonly conversation: Conversation;
  readonly empty: ReactNode;
  /** The message at which the conversation opens; null: at the first unread one, or at the end. */
  readonly at: string | null;
  readonly onEdit: (message: MessageDoc) => void;
  readonly onWithdrawn: (taken: Withdrawn) => void;
}

/** The conversation of one agent and the person. */
export function ConversationLog({ speaker, conversation, empty, at, onEdit, onWithdrawn }: Props) {
  const { agentId } = speaker;
  const actions = useActions();
  const { answers, conversations, outbox } = useRoost();
  const now = useNow();
  const openIds = useAnswers(
    useShallow((state) =>
      [...state.open.values()].filter((answer) => answer.agentId === agentId).map((answer) => answer.messageId),
    ),
  );
  const queued = useHousehold(useShallow((state) => state.queued.filter((doc) => doc.agentId === agentId)));
  const sending = useOutbox(
    useShallow((items) => items.flatMap((item) => (item.to === 'agent' && item.agentId === agentId ? [item] : []))),
  );
  const liveSessionId = useLive((state) => state.live?.sessionId ?? null);
  const { messages, spans, runs, read, before, reading } = conversation;
  const more = before !== null;

  const from = useUnread((state) => state.begins.get(agentId) ?? null);
  // While the first unread message is not loaded yet, the divider has no place.
  const newFrom = from !== null && (!more || (messages[0]?.at ?? '') <= from) ? from : null;
  const { asleep } = speaker;
  const { log: items, meanwhile } = useMemo(() => {
    const written = answers.store.getState().open;
    const open = openIds.flatMap((id) => written.get(id) ?? []);
    const all = logItems({ messages, spans, runs, read, open, queued, sending, liveSessionId, asleep, newFrom });
    return openIds.length > 0 ? withoutMeanwhile(all) : { log: all, meanwhile: [] };
  }, [answers, messages, spans, runs, read, openIds, queued, sending, liveSessionId, asleep, newFrom]);

  const question = speaker.awake && openIds.length === 0 ? lastQuestion(messages, liveSessionId) : null;
  const last = messages.at(-1);
  const replied = question && last?.author === agentId ? last : null;
  const quiet = speaker.awake && openIds.length === 0 && sending.length === 0;
  const latest = quiet && last?.author === agentId ? last : null;
  const broken = quiet ? brokenOff(messages, agentId) : null;
  const edit = useCallback(() => {
    if (question) onEdit(question);
  }, [question, onEdit]);
  const retry = useCallback(() => {
    if (question) void actions.retry(question);
  }, [question, actions]);
  const goOn = useCallback(() => void actions.goOn(agentId), [actions, agentId]);
  const again = useCallback((clientId: string) => void outbox.retry(clientId), [outbox]);
  const withdrawUnsent = useCallback(
    (clientId: string) => {
      const taken = outbox.withdraw(clientId);
      if (taken) onWithdrawn(taken);
    },
    [outbox, onWithdrawn],
  );

  const withdraw = useCallback(
    async (message: MessageDoc | QueuedMessageDoc) => {
      const taken = await actions.withdraw(message);
      if (taken) onWithdrawn(taken);
    },
    [actions, onWithdrawn],
  );
  const onWithdraw = useCallback((message: MessageDoc | QueuedMessageDoc) => void withdraw(message), [withdraw]);

  const show = useCallback<ShowRow>(
    ({ item, stretch }, onFold) => {
      switch (item.kind) {
        case 'day':
          return <DayDivider time={item.time} now={now} />;
        case 'new':
          return <NewDivider />;
        case 'sleep':
          return <SleepDivider item={item} name={speaker.name} now={now} />;
        case 'run':
          return <RunDivider run={item.run} now={now} />;
        case 'open':
          return <OpenAnswerBubble messageId={item.messageId} speaker={speaker} />;
        case 'message': {
          const { message, waits } = item;
          const mayEdit = message === question;
          const onRetry = mayEdit || message === replied ? retry : null;
          const onGoOn = message === broken ? goOn : null;
          const isOwn = message.author === 'human' && message.sessionId === liveSessionId && !waited(message);
          const onBranch = quiet && isOwn ? onEdit : null;
          const ways = { onFold, onRetry, onGoOn, onBranch, onWithdraw, onEdit: mayEdit ? edit : null };
          const of = { message, waits, speaker, isLatest: message === latest, ...ways };
          return stretch && <Message stretch={stretch} {...of} />;
        }
        case 'queued':
          return (
            stretch && (
              <Queued
                message={item.message}
                stretch={stretch}
                speaker={speaker}
                onFold={onFold}
                onWithdraw={onWithdraw}
              />
            )
          );
        case 'sending': {
          const of = { sending: item.sending, speaker, onFold, onAgain: again, onWithdraw: withdrawUnsent };
          return stretch && <Unsent stretch={stretch} {...of} />;
        }
        case 'said':
          return null;
        default:
          return item satisfies never;
      }
    },
    [
      speaker,
      now,
      liveSessionId,
      quiet,
      question,
      replied,
      latest,
      broken,
      onEdit,
      edit,
      retry,
      goOn,
      again,
      withdrawUnsent,
      onWithdraw,
    ],
  );

  const pages = useMemo(() => conversations.pages(agentId), [conversations, agentId]);
  const listen = useCallback(
    (onGrown: () => void) =>
      answers.store.subscribe((state, earlier) => {
        if (openAnswerOf(state, agentId) !== openAnswerOf(earlier, agentId)) onGrown();
      }),
    [answers, agentId],
  );
  const answer = messages.findLast(({ role }) => role === 'assistant');
  const list = (
    <Log
      label={t`Conversation with ${speaker.name}`}
      items={items}
      sent={sending.at(-1)?.clientId ?? null}
      show={show}
      paging={{ pages, more, reading }}
      read={messages.length}
      beginning={t`${t`Conversation with ${speaker.name}`} begins here.`}
      empty={empty}
      found={items.find((item) => item.kind === 'message' && item.message.messageId === at)?.key ?? null}
      newest={
        answer
          ? { messageId: answer.messageId, name: speaker.name, words: () => withoutThinking(textOf(answer.blocks)) }
          : null
      }
      isThere={(id) => messages.some(({ messageId }) => messageId === id)}
      listen={listen}
    />
  );
  return (
    <>
      {list}
      {meanwhile.length > 0 && (
        <WrittenMeanwhile name={speaker.name} items={meanwhile} onAgain={again} onWithdrawn={onWithdrawn} />
      )}
    </>
  );
}

import {
  startTransition,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type FocusEvent,
  type ReactNode,
} from 'react';
import { Virtualizer, type VirtualizerHandle } from 'virtua';
import { useShallow } from 'zustand/react/shallow';
import { logItems } from '../../state/conversation-log.ts';
import { openAnswerOf } from '../../state/answers.ts';
import type { Conversation } from '../../state/conversations.ts';
import type { MessageDoc } from '../../protocol/documents.ts';
import { useActions, useAnswers, useConversations, useHousehold, useLive, useRoost, useUnread } from '../context.tsx';
import { DownIcon } from '../parts/icons.tsx';
import { plural } from '../text/sizes.ts';
import { useNow } from '../use-now.ts';
import { Announcer } from './announcer.tsx';
import { lastQuestion } from './last-question.ts';
import { LogItemFrame, LogList, RowCount } from './log-list.tsx';
import { OpenedKeys } from './opened-keys.ts';
import { showRow, type RowContext } from './log-row.tsx';
import type { Speaker } from './message.tsx';
import { rowsOf } from './rows.ts';
import { useEarlier } from './use-earlier.ts';
import { useFoldedInSight, useFolds } from './use-folds.ts';
import { useLeap } from './use-leap.ts';
import { useOpensAt } from './use-opens-at.ts';
import { usePrepended } from './use-prepended.ts';
import { useStick } from './use-stick.ts';
import { useTopHeight } from './use-top-height.ts';
import './log.css';

/** px above and below what is in sight that are on the page too: for quick scrolling, and for finding words in the page. */
const AROUND = 1_000;
/** As AROUND, while the conversation is being opened; and for how long, in ms. */
const AROUND_FIRST = 100;
const OPENING = 250;

interface Props {
  readonly speaker: Speaker;
  readonly conversation: Conversation;
  /** Stands in the middle while there is nothing to read. */
  readonly empty: ReactNode;
  readonly onEdit: (message: MessageDoc) => void;
  readonly onTakeBack: (text: string) => void;
}

/** The row that an element stands in. */
const keyOf = (element: EventTarget): string | null =>
  element instanceof HTMLElement ? (element.closest<HTMLElement>('[data-key]')?.dataset['key'] ?? null) : null;

// In one piece: where the list is scrolled to depends on every change of it.
export function Log({ speaker, conversation, empty, onEdit, onTakeBack }: Props) {
  const { agentId } = speaker;
  const actions = useActions();
  const { answers, device } = useRoost();
  const now = useNow();
  const openIds = useAnswers(
    useShallow((state) =>
      [...state.open.values()].filter((answer) => answer.agentId === agentId).map((answer) => answer.messageId),
    ),
  );
  const queued = useHousehold(useShallow((state) => state.queued.filter((doc) => doc.agentId === agentId)));
  const sending = useConversations(useShallow((state) => state.sending.filter((item) => item.agentId === agentId)));
  const liveSessionId = useLive((state) => state.live?.sessionId ?? null);
  const { messages, spans, runs, read, before, status } = conversation;
  const more = before !== null;

  const from = useUnread((state) => state.begins.get(agentId) ?? null);
  // Where new begins earlier than what was read of the conversation, the line has no place yet.
  const newFrom = from !== null && (!more || (messages[0]?.at ?? '') <= from) ? from : null;

  const asleep = !speaker.awake && !(speaker.kind === 'agent' && speaker.seat.state === 'hatching');

  const { unfolded, fold } = useFolds();
  const items = useMemo(() => {
    const written = answers.store.getState().open;
    return logItems({
      messages,
      spans,
      runs,
      read,
      open: openIds.flatMap((id) => written.get(id) ?? []),
      queued,
      sending,
      liveSessionId,
      asleep,
      newFrom,
    });
  }, [answers, messages, spans, runs, read, openIds, queued, sending, liveSessionId, asleep, newFrom]);
  const rows = useMemo(() => rowsOf(items, unfolded), [items, unfolded]);

  const log = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [opensAt] = useState(() => rows.findIndex(({ item }) => item.kind === 'new'));
  const stick = useStick(log, rows.at(-1)?.key, items.at(-1)?.kind === 'sending', opensAt < 0);
  useOpensAt(opensAt, list);
  const { stop, onKeyDown } = useLeap(agentId, list, stick);
  const prepended = usePrepended(rows);

  const question = speaker.awake && openIds.length === 0 ? lastQuestion(messages, liveSessionId) : null;
  const newest = messages.at(-1);
  const failed = question && newest && newest.author !== 'human' && newest.status !== 'complete' ? newest : null;
  const edit = useCallback(() => {
    if (question) onEdit(question);
  }, [question, onEdit]);
  const retry = useCallback(() => {
    if (question) void actions.retry(question);
  }, [question, actions]);

  useFoldedInSight(unfolded, rows, list);

  const context = useMemo(
    (): RowContext => ({ speaker, now, question, failed, onEdit: edit, onRetry: retry, onFold: fold, onTakeBack }),
    [speaker, now, question, failed, edit, retry, fold, onTakeBack],
  );
  const show = useCallback((row: (typeof rows)[number]) => showRow(row, context), [context]);

  // Whoever is in a row keeps it, however far it is scrolled away.
  const [focused, setFocused] = useState<string | null>(null);
  const kept = useMemo(
    () => (focused === null ? [] : [rows.findIndex((row) => row.key === focused)].filter((index) => index >= 0)),
    [rows, focused],
  );

  // What stands before the list has a height of its own, which the list must know.
  const [paged] = useState(more);
  const top = useRef<HTMLDivElement>(null);
  const topHeight = useTopHeight(top);

  const { onGrown } = stick;
  useEffect(
    () =>
      answers.store.subscribe((state, earlier) => {
        if (openAnswerOf(state, agentId) !== openAnswerOf(earlier, agentId)) onGrown();
      }),
    [answers, agentId, onGrown],
  );

  const onScrolled = useEarlier(agentId, conversation, log);

  const [around, setAround] = useState(AROUND_FIRST);
  useEffect(() => device.after(OPENING, () => startTransition(() => setAround(AROUND))), [device]);

  const [memory] = useState(() => new Set<string>());
  const leaping = status === 'leaping';

  return (
    <div className="log-frame">
      {/* Scrolled by keyboard too. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        ref={log}
        className="log"
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={`Conversation with ${speaker.name}`}
        aria-busy={leaping}
        onKeyDown={onKeyDown}
        onWheel={(event) => {
          if (event.deltaY < 0) stick.onTurnUp();
        }}
        onPointerDown={stick.onHold}
        onTouchStart={stick.onHold}
        onScroll={() => {
          stick.onScroll();
          onScrolled();
        }}
        onFocus={(event: FocusEvent) => setFocused(keyOf(event.target))}
        onBlur={() => setFocused(null)}
      >
        <div className="log-inside">
          <div ref={top} className="log-top" data-paged={paged}>
            {more ? (
              <button
                type="button"
                className="ghost log-more"
                disabled={leaping}
                onClick={() => void actions.older(agentId)}
              >
                {status === 'loading-older' ? 'Reading earlier messages…' : 'Earlier messages'}
              </button>
            ) : (
              paged && <p className="log-beginning">The conversation with {speaker.name} begins here.</p>
            )}
          </div>
          {rows.length === 0 && empty}
          <OpenedKeys value={memory}>
            <RowCount value={more ? -1 : rows.length}>
              <Virtualizer
                ref={list}
                scrollRef={log}
                data={rows}
                as={LogList}
                item={LogItemFrame}
                bufferSize={around}
                startMargin={topHeight}
                shift={prepended}
                keepMounted={kept}
                onResize={stick.onResize}
              >
                {show}
              </Virtualizer>
            </RowCount>
          </OpenedKeys>
        </div>
      </div>
      {leaping && (
        <p className="log-leap" role="status">
          <span>Going to the beginning…</span>
          <span aria-hidden="true">{plural(messages.length, 'message')} read</span>
          <button type="button" className="link-button" onClick={stop}>
            Stop
          </button>
        </p>
      )}
      {stick.newBelow && (
        <button type="button" className="new-below" onClick={stick.toEnd}>
          <DownIcon /> New words below
        </button>
      )}
      <Announcer messages={messages} name={speaker.name} />
    </div>
  );
}

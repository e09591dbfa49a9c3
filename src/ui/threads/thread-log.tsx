import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import type { ThreadMessage } from '../../protocol/threads.ts';
import type { ThreadTalk, ThreadTalkState } from '../../state/threads/index.ts';
import { DayDivider, NewDivider } from '../chat/dividers.tsx';
import '../chat/log.css';
import { useStick } from '../chat/use-stick.ts';
import { useRoost } from '../context.tsx';
import { DownIcon } from '../parts/icons.tsx';
import { useNow } from '../use-now.ts';
import type { Teammate, Teammates } from '../use-teammates.ts';
import { OnItsWay, Said } from './thread-message.tsx';
import { useMentions } from './use-mentions.ts';

/** Characters of a message that are read out. */
const READ_OUT = 600;
/** px of what was read before that stay in sight above the line where new begins. */
const ABOVE_NEW = 96;

interface Props {
  readonly state: ThreadTalkState;
  readonly talk: ThreadTalk;
  readonly title: string;
  readonly team: Teammates;
  readonly me: Teammate;
  /** The last place that had been read when the thread was opened; null: nothing was new. */
  readonly newFrom: number | null;
  readonly onTakeBack: (text: string) => void;
}

const dayOf = (time: number) => new Date(time).setHours(0, 0, 0, 0);

/** Says what comes from others once, for those who listen to the page. */
function Announcer({ newest, from }: { newest: ThreadMessage | undefined; from: Teammate | null }) {
  const [heard, setHeard] = useState(newest?.messageId);
  const [said, setSaid] = useState<{ id: string; text: string } | null>(null);
  if (newest && newest.messageId !== heard) {
    setHeard(newest.messageId);
    if (from && newest.from !== 'human')
      setSaid({ id: newest.messageId, text: `${from.name}: ${newest.text.slice(0, READ_OUT)}` });
  }
  return (
    <p className="visually-hidden" role="status">
      {said && <span key={said.id}>{said.text}</span>}
    </p>
  );
}

/** What was said in a thread. It stays at its end while its reader is there, and is left alone where they read. */
// In one piece: where the list is scrolled to depends on every change of it.
export function ThreadLog({ state, talk, title, team, me, newFrom, onTakeBack }: Props) {
  const { notices } = useRoost();
  const { messages, sending, more, readingEarlier } = state;
  const now = useNow();
  const mentions = useMentions(team);
  const log = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const newest = messages.at(-1);
  const lastSent = sending.at(-1);
  const firstNew =
    newFrom === null ? undefined : messages.find(({ place, from }) => place > newFrom && from !== 'human');
  const stick = useStick(log, lastSent?.clientId ?? newest?.messageId, lastSent !== undefined, firstNew === undefined);
  const line = useRef<HTMLLIElement>(null);
  // Opened once; `firstNew` stays the same.
  useLayoutEffect(() => {
    const [box, first] = [log.current, line.current];
    if (box && first) box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - ABOVE_NEW;
  }, []);

  const { onResize } = stick;
  useEffect(() => {
    const box = inside.current;
    if (!box) return undefined;
    const sizes = new ResizeObserver(onResize);
    sizes.observe(box);
    if (log.current) sizes.observe(log.current);
    return () => sizes.disconnect();
  }, [onResize]);

  // Earlier messages come in above: what is being read stays where it is.
  const first = messages[0]?.messageId;
  const before = useRef({ first, height: 0, top: 0 });
  useLayoutEffect(() => {
    const box = log.current;
    if (box && before.current.first !== undefined && before.current.first !== first)
      box.scrollTop = before.current.top + box.scrollHeight - before.current.height;
    before.current = { first, height: box?.scrollHeight ?? 0, top: box?.scrollTop ?? 0 };
  });

  const rows: ReactNode[] = [];
  let day = 0;
  for (const message of messages) {
    if (dayOf(message.time) !== day)
      rows.push(
        <li key={`day-${message.messageId}`} className="log-row">
          <DayDivider time={message.time} now={now} />
        </li>,
      );
    day = dayOf(message.time);
    if (message === firstNew)
      rows.push(
        <li key="new" ref={line} className="log-row">
          <NewDivider />
        </li>,
      );
    rows.push(
      <li key={message.messageId} className="log-row">
        <Said
          message={message}
          from={message.from === 'human' ? me : team.find(message.from)}
          mentioned={mentions(message.mentions)}
        />
      </li>,
    );
  }

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
        aria-label={`What was said in ${title}`}
        onWheel={(event) => {
          if (event.deltaY < 0) stick.onTurnUp();
        }}
        onKeyDown={(event) => {
          if (['ArrowUp', 'PageUp', 'Home'].includes(event.key)) stick.onTurnUp();
        }}
        onPointerDown={stick.onHold}
        onTouchStart={stick.onHold}
        onScroll={() => {
          stick.onScroll();
          if (log.current) before.current.top = log.current.scrollTop;
        }}
      >
        <div ref={inside} className="log-inside">
          <div className="log-top">
            {more && (
              <button
                type="button"
                className="ghost log-more"
                disabled={readingEarlier}
                onClick={() => {
                  stick.leaveEnd();
                  void talk.earlier().then((wrong) => wrong !== null && notices.error(wrong));
                }}
              >
                {readingEarlier ? 'Reading earlier messages…' : 'Earlier messages'}
              </button>
            )}
          </div>
          {messages.length === 0 && sending.length === 0 && <p className="thread-quiet">Nothing was said here yet.</p>}
          {/* eslint-disable-next-line jsx-a11y/no-redundant-roles */}
          <ol role="list">
            {rows}
            {sending.map((item) => (
              <li key={item.clientId} className="log-row">
                <OnItsWay item={item} me={me} mentioned={mentions(item.mentions)} talk={talk} onTakeBack={onTakeBack} />
              </li>
            ))}
          </ol>
        </div>
      </div>
      {stick.newBelow && (
        <button type="button" className="new-below" onClick={stick.toEnd}>
          <DownIcon /> New words below
        </button>
      )}
      <Announcer newest={newest} from={newest && newest.from !== 'human' ? team.find(newest.from) : null} />
    </div>
  );
}

import { createContext, type KeyboardEvent, lazy, memo, type ReactNode, Suspense, use, useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Block, MessageDoc } from '../../../shared/protocol/documents.ts';
import { addedOf, type AddedToThread } from '../../../shared/domain/threads.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { withoutThinking } from '../../../shared/domain/thinking.ts';
import { bytesOf } from '../../../shared/domain/platform/utf8.ts';
import { retold, t } from '../../language/t.ts';
import type { Waits } from '../../state/conversation-log.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { ago, clockTime, fullTime, isYoung } from '../text/time.ts';
import { useNow } from '../hooks.ts';
import { ChevronIcon, EditIcon, MoreIcon, RetryIcon } from '../parts/icons.tsx';
import { PATHS } from '../routes.ts';
import { copyText } from '../parts/copy.ts';
import { MenuButton } from '../parts/menu.tsx';
import { copied } from '../text/copied.ts';
import { quoted } from '../text/quote.ts';
import { canReadAloud } from '../voice/words.ts';
import { keyOf } from '../parts/keys.ts';
import { Face } from '../grid/face.tsx';
import { optional } from '../parts/part.tsx';
import { whereWordsGo } from '../text/answering.ts';
import { bytes, names, plural } from '../text/sizes.ts';
import { Moment } from '../parts/moment.tsx';
import { type Somebody, useSomebody } from '../use-somebody.ts';
import { useOpened } from './log.tsx';
import type { Stretch } from './parts.ts';
import { PersonWords } from './markdown.tsx';
import { ShownParts } from './shown-parts.tsx';

function Ago({ time }: { time: number }) {
  return ago(time, useNow());
}

/** Watches the clock while it changes with it, alone: nothing else of a message does. */
function HowLongAgo({ time }: { time: number }) {
  const { device } = useRoost();
  // Looked at once: what was old then stays so, and what was young watches the time itself.
  const [young] = useState(() => isYoung(time, device.now()));
  return young ? <Ago time={time} /> : clockTime(time);
}

const VersionsDialog = lazy(() => import('./versions.tsx'));

/** Below a message that took the place of another: leads to what stood there. */
function VersionsButton({ message, name }: { message: MessageDoc; name: string }) {
  const [open, setOpen] = useState(false);
  if (message.replaces === null) return null;
  return (
    <>
      <button type="button" className="link-button msg-fold" onClick={() => setOpen(true)}>{t`Earlier version`}</button>
      {open && (
        <Suspense fallback={null}>
          <VersionsDialog message={message} name={name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The relay's own messages about what an agent had asked to do have ids of this form. */
const ABOUT_CALL = /^call-/;

/**
 * A line across the conversation where its agent was taken into a thread, with the way there. `by`:
 * who did it; null: the person.
 */
function AddedCard({ added, name, by }: { added: AddedToThread; name: string; by: string | null }) {
  return (
    <p className="divider" dir="auto">
      <span>
        {t`${by ?? t`You`} took ${name} into the thread ${<Link href={PATHS.thread(added.threadId)}>{added.title}</Link>}`}
      </span>
    </p>
  );
}

/**
 * What the relay put before an agent, in the agent's conversation. One line stands as it is; what
 * is longer was written for the agent, and opens.
 */
function RelayNote({ messageId, text, name }: { messageId: string; text: string; name: string }) {
  const [open, setOpen] = useOpened(messageId);
  const [first = ''] = text.split('\n', 1);
  const added = addedOf(text);
  if (added) return <AddedCard added={added} name={name} by={null} />;
  if (!text.includes('\n'))
    return (
      <p className="divider" dir="auto">
        {text}
      </p>
    );
  return (
    <details className="tools relay-note" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <ChevronIcon />
        <span>{ABOUT_CALL.test(messageId) ? t`Roost told ${name} what came of its question` : first}</span>
      </summary>
      {open && <pre dir="auto">{text}</pre>}
    </details>
  );
}

// What can be done with one message of a conversation or of a thread: quote it, copy it, copy the
// way to it.

/**
 * Puts text into the field where one writes, after what stands there; null: nothing can be written
 * here.
 */
export const QuoteInto = createContext<((text: string) => void) | null>(null);

/** What is marked of what this message says; nothing where the mark reaches beyond it. */
function markedIn(message: Element | null | undefined): string {
  const mark = document.getSelection();
  if (!message || !mark || mark.rangeCount === 0 || mark.isCollapsed) return '';
  const range = mark.getRangeAt(0);
  return message.contains(range.commonAncestorContainer) ? (copied(range)?.text ?? mark.toString()) : '';
}

interface Props {
  readonly mine: boolean;
  /** Who said it, and what they are called. */
  readonly who: string;
  readonly name: string;
  /**
   * When it was said, in ms since the epoch: it stands above what can be done, for whoever has no
   * pointer to rest on it.
   */
  readonly time: number;
  /** Its words as they were written: Markdown. */
  readonly text: () => string;
  /** Its address, from the root. */
  readonly path: string;
  /** Says it anew from here; null: it cannot be. */
  readonly edit?: (() => void) | null;
}

/**
 * In the line of the speaker's name, so that no message is higher for it. Arrows go to the next
 * message's.
 */
function MessageMenu({ mine, who, name, time, text, path, edit = null }: Props) {
  const state = useRoost();
  const quote = use(QuoteInto);
  const frame = useRef<HTMLDivElement>(null);
  /** What was marked when its button was pressed: the press itself takes the mark away. */
  const marked = useRef('');
  const onPress = () => {
    if (!frame.current?.querySelector('[role=menu]')) marked.current = markedIn(frame.current?.closest('.msg'));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    onPress();
    const key = keyOf(event);
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...(frame.current?.closest('.log')?.querySelectorAll<HTMLElement>('.msg-menu > button') ?? [])];
    const next = all[all.findIndex((button) => button === document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  };
  return (
    // The keys go to the button within.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className="msg-menu" ref={frame} onPointerDown={onPress} onKeyDown={onKeyDown}>
      <MenuButton
        label={mine ? t`More about what you wrote` : t`More about what ${name} said`}
        note={fullTime(time)}
        items={[
          ...(quote
            ? [
                {
                  label: t`Quote`,
                  hint: t`Into your message. What you have marked of it, or all.`,
                  run: () => quote(quoted(marked.current || text())),
                },
              ]
            : []),
          ...(edit
            ? [{ label: t`Edit from here`, hint: t`What came after it stays, as an earlier version`, run: edit }]
            : []),
          ...(canReadAloud()
            ? [
                {
                  label: t`Read aloud`,
                  run: () =>
                    void import('../voice/read-aloud.ts').then(({ readAloud }) =>
                      readAloud(state, who, name, marked.current || text()),
                    ),
                },
              ]
            : []),
          { label: t`Copy as Markdown`, run: () => void copyText(state, text(), t`Message`) },
          {
            label: t`Copy link`,
            hint: t`For somebody who may open your Roost.`,
            run: () => void copyText(state, new URL(path, location.href).href, t`Link`),
          },
        ]}
      >
        <MoreIcon />
      </MenuButton>
    </div>
  );
}

export type Speaker = Exclude<Somebody, { kind: 'nobody' }>;

/** Fetched with the first message that something came with. */
export const ShownAttachments = optional(() => import('../attachments/shown.tsx'));
const ReplyCost = optional(() => import('../costs/reply-cost.tsx'));

interface BubbleProps {
  readonly speaker: Speaker;
  readonly time: number;
  readonly mine: boolean;
  /** It came from another agent: not what the one whose conversation this is says. */
  readonly received?: boolean;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
  /**
   * What its menu quotes, copies and links to. Left out: it has none, since nobody has stored it
   * yet.
   */
  readonly kept?: { readonly text: () => string; readonly path: string; readonly edit?: (() => void) | null } | null;
  /** Where a long message lies over several rows: which of them this is. */
  readonly first?: boolean;
  readonly last?: boolean;
}

/** The frame of a message: whose it is, when, and what was said. */
export function Bubble({
  speaker,
  time,
  mine,
  received = false,
  children,
  foot,
  kept = null,
  first = true,
  last = true,
}: BubbleProps) {
  const who = mine ? t`You` : received ? t`From ${speaker.name}` : speaker.name;
  return (
    <article
      className={mine ? 'msg msg-mine tint' : received ? 'msg msg-received tint' : 'msg tint'}
      style={{ '--c': speaker.color }}
      aria-label={first ? who : t`${who}, continued`}
      data-first={first}
      data-last={last}
    >
      <div className="msg-face" aria-hidden="true">
        {first && !mine && speaker.kind !== 'egg' && (
          <Face agentId={speaker.agentId} face={speaker.face} color={speaker.color} awake={false} />
        )}
      </div>
      <div className="msg-body">
        {first && (
          <header className="msg-who">
            {received && <small>{t`from`}</small>}
            <span dir="auto">{mine ? t`You` : speaker.name}</span>
            <Moment time={time} passedBy={kept !== null}>
              <HowLongAgo time={time} />
            </Moment>
            {kept && (
              <MessageMenu
                mine={mine}
                who={mine ? 'human' : speaker.agentId}
                name={mine ? t`You` : speaker.name}
                time={time}
                {...kept}
              />
            )}
          </header>
        )}
        <div className={mine || received ? 'msg-words bubble' : 'msg-words'}>{children}</div>
        {foot}
      </div>
    </article>
  );
}

type CallBlock = Extract<Block, { kind: 'call' }>;

/** A wake or a summon, as a line across the conversation. */
function CallDivider({ block }: { block: CallBlock }) {
  const roster = useHousehold((state) => state.roster);
  const known = block.seats.flatMap((seat) => roster.byId.get(seat.agentId)?.name ?? seat.name ?? []);
  const eggs = block.seats.length - known.length;
  const who = names(
    eggs > 0 ? [...known, known.length > 0 ? plural(eggs, 'more', 'more') : plural(eggs, 'egg')] : known,
  );
  const text = block.call === 'wake' ? t`You called ${who}` : t`You summoned ${who}`;
  return <p className="divider divider-dawn">{text}</p>;
}

function statusText(message: MessageDoc, name: string): string | null {
  switch (message.status) {
    case 'complete':
      return null;
    case 'stopped':
      return t`You stopped this answer here.`;
    case 'interrupted':
      return message.error ? retold(message.error) : t`The relay was cut off here.`;
    case 'failed':
      return message.error ? t`${name} could not answer: ${retold(message.error)}` : t`${name} could not answer.`;
    default:
      return message.status satisfies never;
  }
}

function waitsFor(speaker: Speaker): string {
  const where = speaker.kind === 'agent' ? whereWordsGo(speaker.name, speaker.seat) : null;
  return where ?? t`${speaker.name} reads this next.`;
}

interface MessageProps {
  readonly message: MessageDoc;
  readonly stretch: Stretch;
  readonly speaker: Speaker;
  readonly waits: Waits | null;
  /** Given on the person's last message, while it can be asked anew. */
  readonly onEdit: (() => void) | null;
  /** It can be said anew from here, whatever came after it. */
  readonly onBranch: ((message: MessageDoc) => void) | null;
  readonly onRetry: (() => void) | null;
  /** It waits to be read, and is taken back. */
  readonly onWithdraw: (message: MessageDoc) => void;
  /** Given on the last answer, where it broke off and can be gone on with. */
  readonly onGoOn: (() => void) | null;
  readonly onFold: (key: string) => void;
}

/** Opens a person's long message, or closes it. */
export function FoldButton({
  stretch,
  text,
  itemKey,
  onFold,
}: {
  stretch: Stretch;
  text: () => string;
  itemKey: string;
  onFold: (key: string) => void;
}) {
  if (stretch.fold === 'none') return null;
  return (
    <button type="button" className="link-button msg-fold" onClick={() => onFold(itemKey)}>
      {stretch.fold === 'open' ? t`Show less` : t`Show all of it (${bytes(bytesOf(text()))})`}
    </button>
  );
}

const keptOf = ({ agentId, messageId, author, blocks }: MessageDoc) => ({
  text: () => (author === 'human' ? textOf(blocks) : withoutThinking(textOf(blocks))),
  path: PATHS.message(agentId, messageId),
});

/** What another agent wrote to the one whose conversation this is. */
function Received({ message, stretch, to }: Pick<MessageProps, 'message' | 'stretch'> & { to: string }) {
  const sender = useSomebody(message.author);
  const speaker: Speaker =
    sender.kind === 'nobody'
      ? {
          kind: 'seatless',
          agentId: message.author,
          name: t`somebody who is not here any more`,
          face: message.author,
          color: 'var(--ink-3)',
          awake: false,
          retired: true,
        }
      : sender;
  const added = addedOf(textOf(message.blocks));
  if (added) return <AddedCard added={added} name={to} by={speaker.name} />;
  return (
    <Bubble
      speaker={speaker}
      time={message.time}
      mine={false}
      received
      kept={keptOf(message)}
      first={stretch.first}
      last={stretch.last}
    >
      <ShownParts parts={stretch.parts} />
    </Bubble>
  );
}

export const Message = memo(function Message({
  message,
  stretch,
  speaker,
  waits,
  onEdit,
  onBranch,
  onRetry,
  onGoOn,
  onWithdraw,
  onFold,
}: MessageProps) {
  const call = message.blocks.find((block) => block.kind === 'call');
  if (call) return <CallDivider block={call} />;
  if (message.author === 'relay')
    return <RelayNote messageId={message.messageId} text={textOf(message.blocks)} name={speaker.name} />;
  const mine = message.author === 'human';
  if (!mine && message.author !== speaker.agentId)
    return <Received message={message} stretch={stretch} to={speaker.name} />;
  const status = statusText(message, speaker.name);
  const foot = stretch.last && (
    <>
      {mine && (
        <FoldButton
          stretch={stretch}
          text={() => textOf(message.blocks)}
          itemKey={message.clientId ?? message.messageId}
          onFold={onFold}
        />
      )}
      {status && (
        <p className="msg-status" data-status={message.status} dir="auto">
          <span>{status}</span>
          {onGoOn && <button type="button" className="link-button" onClick={onGoOn}>{t`Go on`}</button>}
          {!mine && onRetry && <button type="button" className="link-button" onClick={onRetry}>{t`Try again`}</button>}
        </p>
      )}
      {mine && <VersionsButton message={message} name={speaker.name} />}
      {!mine && <ReplyCost messageId={message.messageId} />}
      {waits && (
        <p className="msg-status">
          {t`Waits: ${waits === 'answer' ? t`${speaker.name} reads this when this answer is done.` : waitsFor(speaker)}`}
          <button type="button" className="link-button" onClick={() => onWithdraw(message)}>{t`Withdraw`}</button>
        </p>
      )}
      {mine && onEdit && onRetry && (
        <div className="msg-tools">
          <button
            type="button"
            className="icon-button"
            aria-label={t`Edit and send again`}
            title={t`Edit and send again`}
            onClick={onEdit}
          >
            <EditIcon />
          </button>
          <button
            type="button"
            className="icon-button"
            aria-label={t`Ask again`}
            title={t`Ask again`}
            onClick={onRetry}
          >
            <RetryIcon />
          </button>
        </div>
      )}
    </>
  );
  return (
    <Bubble
      speaker={speaker}
      time={message.time}
      mine={mine}
      foot={foot}
      kept={{ ...keptOf(message), edit: onBranch && (() => onBranch(message)) }}
      first={stretch.first}
      last={stretch.last}
    >
      {mine ? <PersonWords parts={stretch.parts} /> : <ShownParts parts={stretch.parts} />}
      {stretch.last && message.attachments && <ShownAttachments files={message.attachments} />}
    </Bubble>
  );
});

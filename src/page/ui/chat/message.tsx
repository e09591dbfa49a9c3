/** One message of a conversation, with its menu, its attachments and its notes. */
import {
  createContext,
  Fragment,
  type KeyboardEvent,
  lazy,
  memo,
  type ReactNode,
  Suspense,
  use,
  useRef,
  useState,
} from 'react';
import { Link } from 'wouter';
import type { Block, MessageDoc } from '../../../shared/protocol/documents.ts';
import { type AnsweredCall, answeredOf } from '../../../shared/domain/answered-call.ts';
import { reportOf, type TeamReport } from '../../../shared/domain/team-report.ts';
import { addedOf, type AddedToThread } from '../../../shared/domain/threads.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { withoutThinking } from '../../../shared/domain/thinking.ts';
import { retold, t } from '../../language/t.ts';
import type { Waits } from '../../state/conversation-log.ts';
import { namedIn, type Somebody, useSomebody, useTeammates } from '../use-somebody.ts';
import { MoreIcon } from '../design/icons.tsx';
import { ChevronIcon, CopyIcon, EditIcon, RetryIcon } from '../design/more-icons.tsx';
import { asBeginning, names, plural } from '../text/sizes.ts';
import { useHousehold, useRoost } from '../context.tsx';
import { ago, clockTime, fullTime, isYoung } from '../text/time.ts';
import { useNow } from '../hooks.ts';
import { PATHS } from '../routes.ts';
import { copyText } from '../parts/copyable-text.tsx';
import { MenuButton } from '../design/menu.tsx';
import { copied } from '../text/copied.ts';
import { quoted, whereWordsGo } from '../text/answering.ts';
import { canReadAloud } from '../voice/support.ts';
import { keyOf } from '../design/keys.ts';
import { Face } from '../grid/face.tsx';
import { optional } from '../parts/part.tsx';
import { Moment } from '../parts/moment.tsx';
import { partsOf, type ShownPart, type Stretch } from './parts.ts';
import { outcomePhrase, wantsOf } from './tool-calls.ts';
import { outcomeIn } from './step-outcome.ts';
import { StepLine, StepsOf, ToolSteps } from './steps.tsx';
import { PersonWords, Piece, Words } from './markdown.tsx';
import { useOpened } from './log.tsx';

/** Characters of a reasoning text that identify it. */
const KEY_CHARS = 200;

/** The model's reasoning, collapsed. `isGoing`: it is still reasoning. */
function Thinking({ text, isGoing }: { text: string; isGoing: boolean }) {
  const [open, setOpen] = useOpened(`thinking:${text.slice(0, KEY_CHARS)}`);
  return (
    <details
      className="tools above-4 text-2 ink-3 thought"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <ChevronIcon />
        <span>{isGoing ? `${asBeginning(t`thinking`)}…` : t`What it thought`}</span>
      </summary>
      {open && (
        <div>
          <Words text={text} growing={isGoing} />
        </div>
      )}
    </details>
  );
}

function shownPart(part: ShownPart, isLast: boolean, isGrowing: boolean): ReactNode {
  switch (part.kind) {
    case 'piece':
      return <Piece piece={part.piece} />;
    case 'text':
      return <Words text={part.text} growing={isGrowing && isLast} ofAnswer={isGrowing} />;
    case 'thinking':
      return <Thinking text={part.text} isGoing={isGrowing && isLast} />;
    case 'tools':
      return <ToolSteps tools={part.tools} />;
    default:
      return part satisfies never;
  }
}

/** One row's share of an agent's message. */
export const ShownParts = memo(function ShownParts({ parts }: { parts: readonly ShownPart[] }) {
  return parts.map((part, i) => <Fragment key={i}>{shownPart(part, false, false)}</Fragment>);
});

/** The agent's streaming answer. Parts are only ever appended, so the index is a stable key. */
export function GrowingParts({ blocks }: { blocks: readonly Block[] }) {
  return partsOf(blocks, true).map((part, i, all) => (
    <Fragment key={i}>{shownPart(part, i === all.length - 1, true)}</Fragment>
  ));
}

function Ago({ time }: { time: number }) {
  return ago(time, useNow());
}

/** Subscribes to the clock by itself, so that the rest of a message need not re-render. */
function HowLongAgo({ time }: { time: number }) {
  const { device } = useRoost();
  // Decided once: an old message stays old, and a young one watches the clock itself.
  const [young] = useState(() => isYoung(time, device.now()));
  return young ? <Ago time={time} /> : clockTime(time);
}

const VersionsDialog = lazy(() => import('./versions.tsx'));

/** Below an edited message: opens the earlier versions. */
function VersionsButton({ message, name }: { message: MessageDoc; name: string }) {
  const [open, setOpen] = useState(false);
  if (message.replaces === null) return null;
  return (
    <>
      <button
        type="button"
        className="link-button msg-fold above-3 block"
        onClick={() => setOpen(true)}
      >{t`Earlier versions`}</button>
      {open && (
        <Suspense fallback={null}>
          <VersionsDialog message={message} name={name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/**
 * A divider where the agent was added to a thread, with a link to it. `by` names who added it;
 * null: the person.
 */
function AddedCard({ added, name, by }: { added: AddedToThread; name: string; by: string | null }) {
  return (
    <p className="divider centred gap-5 text-2 line" dir="auto">
      <span>
        {t`${by ?? t`You`} took ${name} into the thread ${<Link href={PATHS.thread(added.threadId)}>{added.title}</Link>}`}
      </span>
    </p>
  );
}

/** What became of a call that the person was asked about. */
function AnsweredStep({ messageId, call }: { messageId: string; call: AnsweredCall }) {
  const nameOf = namedIn(useTeammates());
  const input = parsed(call.input);
  const tool = { name: call.tool, input };
  const outcome = outcomeIn(call.tool, call.text, false);
  const isFailed = outcome.exit !== null && outcome.exit !== 0;
  return (
    <ul className="steps text-2 stack gap-1 ink-3">
      <StepLine
        stepKey={messageId}
        phrase={call.end === 'declined' ? wantsOf(tool, nameOf) : outcomePhrase(tool, nameOf)}
        state={call.end === 'done' && !isFailed ? 'done' : 'failed'}
        outcome={outcome}
        took={null}
        answer={ANSWERED[call.end]}
        input={input}
      />
    </ul>
  );
}

const ANSWERED: Readonly<Record<AnsweredCall['end'], string>> = {
  done: t`You said yes`,
  declined: asBeginning(t`you said no`),
  unknown: t`not known whether it ran: the relay stopped`,
};

/** The input of a call; a long one has lost its middle, and is no JSON any more. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return null;
  }
}

/** The agents that arrived and those that did not, as the lead was told. */
function ReportDivider({ report: { here, missing, late } }: { report: TeamReport }) {
  const parts = [
    ...(here.length > 0 ? [t`${names(here)} came`] : []),
    ...(late.length > 0 ? [t`${names(late)} on the way`] : []),
    ...missing.map(({ name, why }) => t`${name} did not come: ${retold(why)}`),
  ];
  return (
    <p className="divider centred gap-5 text-2 line" dir="auto">
      {parts.join(' · ')}
    </p>
  );
}

/**
 * A message from the relay to the agent. A single line is shown as it is. Longer ones are
 * collapsed, since they were written for the agent.
 */
function RelayNote({ messageId, text, name }: { messageId: string; text: string; name: string }) {
  const [open, setOpen] = useOpened(messageId);
  const added = addedOf(text);
  if (added) return <AddedCard added={added} name={name} by={null} />;
  const report = reportOf(text);
  if (report) return <ReportDivider report={report} />;
  const call = answeredOf(text);
  if (call) return <AnsweredStep messageId={messageId} call={call} />;
  if (!text.includes('\n'))
    return (
      <p className="divider centred gap-5 text-2 line" dir="auto">
        {retold(text.replace(/^\[(.*)\]$/, '$1'))}
      </p>
    );
  return (
    <details
      className="tools above-4 text-2 ink-3 relay-note"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <ChevronIcon />
        <span>{t`Note from Roost to ${name}`}</span>
      </summary>
      {open && (
        <pre className="break as-written indented" dir="auto">
          {text}
        </pre>
      )}
    </details>
  );
}

// The menu of one message in a conversation or a thread: quote it, copy it, copy its link.

/** Appends text to the composer; null: nothing can be written here. */
export const QuoteInto = createContext<((text: string) => void) | null>(null);

/** The selected text of this message; empty where the selection reaches beyond it. */
function markedIn(message: Element | null | undefined): string {
  const mark = document.getSelection();
  if (!message || !mark || mark.rangeCount === 0 || mark.isCollapsed) return '';
  const range = mark.getRangeAt(0);
  return message.contains(range.commonAncestorContainer) ? (copied(range)?.text ?? mark.toString()) : '';
}

interface Props {
  readonly mine: boolean;
  /** Name of the sender. */
  readonly who: string;
  readonly name: string;
  /**
   * When it was sent, in ms since the epoch. The menu shows it, for people without a pointer to
   * hover with.
   */
  readonly time: number;
  /** Its source text: Markdown. */
  readonly text: () => string;
  /** Its path from the root of the site. */
  readonly path: string;
  /** Edits the message from here; null: not possible. */
  readonly edit?: (() => void) | null;
}

/**
 * Stands in the line of the sender's name, so that it adds no height. Arrow keys move to the menu
 * of the next message.
 */
function MessageMenu({ mine, who, name, time, text, path, edit = null }: Props) {
  const state = useRoost();
  const quote = use(QuoteInto);
  const frame = useRef<HTMLDivElement>(null);
  /** The selection when the button was pressed. The press itself clears the selection. */
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
    // The button within handles the keys.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className="msg-menu end" ref={frame} onPointerDown={onPress} onKeyDown={onKeyDown}>
      <MenuButton
        label={t`More for ${mine ? t`You` : name}`}
        note={fullTime(time)}
        items={[
          ...(quote
            ? [
                {
                  label: t`Quote`,
                  run: () => quote(quoted(marked.current || text())),
                },
              ]
            : []),
          ...(edit ? [{ label: t`Edit from here`, run: edit }] : []),
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
          { label: t`Copy`, run: () => void copyText(state, text(), t`Message`) },
          {
            label: t`Copy link`,
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

/** Loaded with the first message that has attachments. */
export const ShownAttachments = optional(() => import('../attachments/shown.tsx'));
const ReplyCost = optional(() => import('../costs/reply-cost.tsx'));
const SummaryNote = optional(() => import('./summary-note.tsx'));

interface BubbleProps {
  readonly speaker: Speaker;
  readonly time: number;
  readonly mine: boolean;
  /** Sent by another agent to the one whose conversation this is. */
  readonly received?: boolean;
  readonly children: ReactNode;
  readonly foot?: ReactNode;
  /**
   * What its menu quotes, copies and links to. Left out: no menu, since the message is not stored
   * yet.
   */
  readonly kept?: { readonly text: () => string; readonly path: string; readonly edit?: (() => void) | null } | null;
  /** True for the first row of a message that spans several rows. */
  readonly first?: boolean;
  readonly last?: boolean;
}

/** The frame of a message: sender, time and content. */
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
      className={
        mine ? 'msg gap-5 stack msg-mine tint' : received ? 'msg gap-5 stack msg-received tint' : 'msg gap-5 stack tint'
      }
      style={{ '--c': speaker.color }}
      aria-label={first ? who : t`${who}, continued`}
      data-first={first}
      data-last={last}
    >
      <div className="msg-face size-l" aria-hidden="true">
        {first && !mine && speaker.kind !== 'egg' && (
          <Face agentId={speaker.agentId} face={speaker.face} color={speaker.color} awake={false} />
        )}
      </div>
      <div className="relative narrow">
        {first && (
          <header className="msg-who flex baseline gap-4 named text-2 bold">
            {received && <small className="text-1">{t`from`}</small>}
            <span className="clip ellipsis" dir="auto">
              {mine ? t`You` : speaker.name}
            </span>
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
        <StepsOf value={mine ? null : speaker.agentId}>
          <div className={mine || received ? 'msg-words bubble at-most-full round-l ground-3' : 'msg-words'}>
            {children}
          </div>
        </StepsOf>
        {foot}
      </div>
    </article>
  );
}

type CallBlock = Extract<Block, { kind: 'call' }>;

/** A wake or a summons as a divider across the conversation. */
function CallDivider({ block }: { block: CallBlock }) {
  const roster = useHousehold((state) => state.roster);
  const known = block.seats.flatMap((seat) => roster.byId.get(seat.agentId)?.name ?? seat.name ?? []);
  const eggs = block.seats.length - known.length;
  const who = names(
    eggs > 0 ? [...known, known.length > 0 ? plural(eggs, 'more', 'more') : plural(eggs, 'egg')] : known,
  );
  const text = block.call === 'wake' ? t`You woke ${who}` : t`You summoned ${who}`;
  return <p className="divider centred gap-5 text-2 line divider-dawn">{text}</p>;
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
  /** Set on the person's last message while it can be edited in place. */
  readonly onEdit: (() => void) | null;
  /** Edits the message from here, whatever came after it. */
  readonly onBranch: ((message: MessageDoc) => void) | null;
  readonly onRetry: (() => void) | null;
  /** Withdraws a message that was not read yet. */
  readonly onWithdraw: (message: MessageDoc) => void;
  /** Set on the last answer if it was interrupted and can be continued. */
  readonly onGoOn: (() => void) | null;
  readonly onFold: (key: string) => void;
  /** The newest message of the conversation, while nothing is being written. */
  readonly isLatest: boolean;
}

/** Below the newest reply: copy it, or ask for another one. */
function ReplyTools({ text, onRetry }: { text: () => string; onRetry: (() => void) | null }) {
  const state = useRoost();
  return (
    <div className="msg-tools flex gap-1">
      <button
        type="button"
        className="icon-button size-l"
        aria-label={t`Copy`}
        title={t`Copy`}
        onClick={() => void copyText(state, text(), t`Message`)}
      >
        <CopyIcon />
      </button>
      {onRetry && (
        <button
          type="button"
          className="icon-button size-l"
          aria-label={t`Answer again`}
          title={t`Answer again`}
          onClick={onRetry}
        >
          <RetryIcon />
        </button>
      )}
    </div>
  );
}

interface FoldProps {
  readonly stretch: Stretch;
  readonly itemKey: string;
  readonly onFold: (key: string) => void;
}

/** Expands or collapses a person's long message. */
export function FoldButton({ stretch, itemKey, onFold }: FoldProps) {
  if (stretch.fold === 'none') return null;
  return (
    <button type="button" className="link-button msg-fold above-3 block" onClick={() => onFold(itemKey)}>
      {stretch.fold === 'open' ? t`Show less` : t`Show all`}
    </button>
  );
}

const keptOf = ({ agentId, messageId, author, blocks }: MessageDoc) => ({
  text: () => (author === 'human' ? textOf(blocks) : withoutThinking(textOf(blocks))),
  path: PATHS.message(agentId, messageId),
});

/** A message from another agent to the one whose conversation this is. */
function Received({ message, stretch, to }: Pick<MessageProps, 'message' | 'stretch'> & { to: string }) {
  const sender = useSomebody(message.author);
  const speaker: Speaker =
    sender.kind === 'nobody'
      ? {
          kind: 'seatless',
          agentId: message.author,
          name: t`somebody who is gone`,
          face: message.author,
          color: 'var(--ink-3)',
          awake: false,
          asleep: true,
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
  isLatest,
}: MessageProps) {
  const call = message.blocks.find((block) => block.kind === 'call');
  if (call) return <CallDivider block={call} />;
  const { compaction } = message;
  if (compaction) return <SummaryNote message={message} compaction={compaction} name={speaker.name} />;
  if (message.author === 'relay')
    return <RelayNote messageId={message.messageId} text={textOf(message.blocks)} name={speaker.name} />;
  const mine = message.author === 'human';
  if (!mine && message.author !== speaker.agentId)
    return <Received message={message} stretch={stretch} to={speaker.name} />;
  const status = statusText(message, speaker.name);
  const foot = stretch.last && (
    <>
      {mine && <FoldButton stretch={stretch} itemKey={message.clientId ?? message.messageId} onFold={onFold} />}
      {status && (
        <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3" data-status={message.status} dir="auto">
          <span>{status}</span>
          {onGoOn && <button type="button" className="link-button" onClick={onGoOn}>{t`Continue`}</button>}
          {!mine && onRetry && <button type="button" className="link-button" onClick={onRetry}>{t`Try again`}</button>}
        </p>
      )}
      {mine && <VersionsButton message={message} name={speaker.name} />}
      {!mine && <ReplyCost messageId={message.messageId} />}
      {!mine && isLatest && (
        <ReplyTools text={() => withoutThinking(textOf(message.blocks))} onRetry={status === null ? onRetry : null} />
      )}
      {waits && (
        <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3">
          {t`Waits: ${waits === 'answer' ? t`${speaker.name} reads this next.` : waitsFor(speaker)}`}
          <button type="button" className="link-button" onClick={() => onWithdraw(message)}>{t`Withdraw`}</button>
        </p>
      )}
      {mine && onEdit && onRetry && (
        <div className="msg-tools flex gap-1">
          <button
            type="button"
            className="icon-button size-l"
            aria-label={t`Edit and send again`}
            title={t`Edit and send again`}
            onClick={onEdit}
          >
            <EditIcon />
          </button>
          <button
            type="button"
            className="icon-button size-l"
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

import { memo, type ReactNode } from 'react';
import { t } from '../../language/t.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { withoutThinking } from '../../../shared/domain/thinking.ts';
import type { Waits } from '../../state/conversation-log.ts';
import type { Block, MessageDoc } from '../../../shared/protocol/documents.ts';
import { addedOf } from '../../../shared/domain/threads.ts';
import { useHousehold } from '../context.tsx';
import { Face } from '../grid/face.tsx';
import { EditIcon, RetryIcon } from '../parts/icons.tsx';
import { optional } from '../parts/optional.tsx';
import { PATHS } from '../routes.ts';
import { bytesOf } from '../../../shared/domain/platform/utf8.ts';
import { whereWordsGo } from '../text/answering.ts';
import { bytes, names, plural } from '../text/sizes.ts';
import { Moment } from '../parts/moment.tsx';
import { useSomebody, type Somebody } from '../use-somebody.ts';
import { HowLongAgo } from './how-long-ago.tsx';
import { MessageMenu } from './message-menu.tsx';
import type { Stretch } from './parts.ts';
import { PersonWords } from './mentioned.tsx';
import { AddedCard, RelayNote } from './relay-note.tsx';
import { ShownParts } from './shown-parts.tsx';
import { VersionsButton } from './versions-button.tsx';
import { retold } from '../../language/retold.ts';

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

export interface MessageProps {
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

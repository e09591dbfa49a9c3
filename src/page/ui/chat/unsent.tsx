/** The person's messages that no relay has accepted yet. */
import { memo } from 'react';
import { t } from '../../language/t.ts';
import type { QueuedMessageDoc } from '../../../shared/protocol/documents.ts';
import type { Outgoing } from '../../state/outbox/index.ts';
import { useLive } from '../context.tsx';
import { Bubble, FoldButton, ShownAttachments, type Speaker } from './message.tsx';
import type { Stretch } from './parts.ts';
import { names } from '../text/sizes.ts';
import { PersonWords } from './markdown.tsx';

interface Props {
  readonly stretch: Stretch;
  readonly speaker: Speaker;
  readonly onFold: (key: string) => void;
}

export const Queued = memo(function Queued({
  message,
  stretch,
  speaker,
  onFold,
  onWithdraw,
}: Props & { message: QueuedMessageDoc; onWithdraw: (message: QueuedMessageDoc) => void }) {
  const relayIsThere = useLive(({ link }) => link.kind === 'live');
  const why = relayIsThere
    ? speaker.awake
      ? t`${speaker.name} reads this next.`
      : t`${speaker.name} sleeps, and will read this on waking.`
    : t`It is sent when the relay is back.`;
  const refusal = useLive(({ undelivered }) => undelivered.get(message.clientId));
  const isRefused = refusal !== undefined;
  const foot = stretch.last && (
    <>
      <FoldButton stretch={stretch} itemKey={message.clientId} onFold={onFold} />
      <p
        className="msg-status gap-4 above-3 text-2 flex wrap ink-3"
        data-status={isRefused ? 'failed' : undefined}
        role={isRefused ? 'alert' : undefined}
      >
        {isRefused ? t`Not sent: ${refusal}` : t`${t`Kept on this device`}: ${why}`}
        <button type="button" className="link-button" onClick={() => onWithdraw(message)}>{t`Withdraw`}</button>
      </p>
    </>
  );
  return (
    <Bubble speaker={speaker} time={message.time} mine foot={foot} first={stretch.first} last={stretch.last}>
      <PersonWords parts={stretch.parts} />
      {stretch.last && message.attachments && <ShownAttachments files={message.attachments} />}
    </Bubble>
  );
});

export const Unsent = memo(function Unsent({
  sending,
  stretch,
  speaker,
  onFold,
  onAgain,
  onWithdraw,
}: Props & { sending: Outgoing; onAgain: (clientId: string) => void; onWithdraw: (clientId: string) => void }) {
  const { attachments, clientId, state, time } = sending;
  const foot = stretch.last && (
    <>
      <FoldButton stretch={stretch} itemKey={clientId} onFold={onFold} />
      {(state.kind === 'sending' || state.kind === 'accepted') && (
        <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3">{t`Sending…`}</p>
      )}
      {state.kind === 'waiting' && (
        <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3">
          {`${t`Not sent yet`}. ${t`It is sent when the relay is back.`}`}
          <button type="button" className="link-button" onClick={() => onWithdraw(clientId)}>{t`Withdraw`}</button>
        </p>
      )}
      {state.kind === 'refused' && (
        <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3" data-status="failed" role="alert">
          {t`Not sent: ${state.reason}`}
          <button type="button" className="link-button" onClick={() => onAgain(clientId)}>{t`Try again`}</button>
          <button type="button" className="link-button" onClick={() => onWithdraw(clientId)}>{t`Withdraw`}</button>
        </p>
      )}
    </>
  );
  return (
    <Bubble speaker={speaker} time={time} mine foot={foot} first={stretch.first} last={stretch.last}>
      <PersonWords parts={stretch.parts} />
      {stretch.last && attachments.length > 0 && (
        <p className="msg-status gap-4 above-3 text-2 flex wrap ink-3">
          {t`With`} {names(attachments.map(({ name }) => name))}
        </p>
      )}
    </Bubble>
  );
});

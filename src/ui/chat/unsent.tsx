/** What a person wrote that no relay has taken yet. */
import { memo } from 'react';
import type { QueuedMessageDoc } from '../../protocol/documents.ts';
import type { Sending } from '../../state/conversation-log.ts';
import { useActions } from '../context.tsx';
import { Bubble, FoldButton, type Speaker } from './message.tsx';
import type { Stretch } from './parts.ts';
import { PersonWords } from './person-words.tsx';

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
}: Props & { message: QueuedMessageDoc }) {
  const foot = stretch.last && (
    <>
      <FoldButton stretch={stretch} text={() => message.text} itemKey={message.clientId} onFold={onFold} />
      <p className="msg-status">Kept on this device: {speaker.name} sleeps, and will read this on waking.</p>
    </>
  );
  return (
    <Bubble speaker={speaker} time={message.time} mine foot={foot} first={stretch.first} last={stretch.last}>
      <PersonWords parts={stretch.parts} />
    </Bubble>
  );
});

function NotSent({
  clientId,
  error,
  onTakeBack,
}: {
  clientId: string;
  error: string;
  onTakeBack: (text: string) => void;
}) {
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

export const Unsent = memo(function Unsent({
  sending,
  stretch,
  speaker,
  onFold,
  onTakeBack,
}: Props & { sending: Sending; onTakeBack: (text: string) => void }) {
  const { clientId, error, text, time } = sending;
  const foot = stretch.last && (
    <>
      <FoldButton stretch={stretch} text={() => text} itemKey={clientId} onFold={onFold} />
      {error === null ? (
        <p className="msg-status">Sending…</p>
      ) : (
        <NotSent clientId={clientId} error={error} onTakeBack={onTakeBack} />
      )}
    </>
  );
  return (
    <Bubble speaker={speaker} time={time} mine foot={foot} first={stretch.first} last={stretch.last}>
      <PersonWords parts={stretch.parts} />
    </Bubble>
  );
});

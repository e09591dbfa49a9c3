import { memo } from 'react';
import type { ThreadMessage } from '../../protocol/threads.ts';
import type { ThreadSending, ThreadTalk } from '../../state/threads/index.ts';
import { Bubble, type Speaker } from '../chat/message.tsx';
import type { Teammate } from '../use-teammates.ts';
import { Chip, ChippedMarkdown, WithChips } from './chips.tsx';
import { mentionedIn } from './mentions.ts';

const speakerOf = ({ agentId, name, birthName, color, retired }: Teammate): Speaker => ({
  kind: 'seatless',
  agentId,
  name,
  birthName,
  color,
  awake: false,
  retired,
});

/** What is said in a thread, and by whom. `mentioned`: those whom it is meant for. */
export const Said = memo(function Said({
  message,
  from,
  mentioned,
}: {
  message: ThreadMessage;
  from: Teammate;
  mentioned: readonly Teammate[];
}) {
  const mine = message.from === 'human';
  const named = mentionedIn(message.text, mentioned);
  const unnamed = mentioned.filter(({ agentId }) => !named.includes(agentId));
  return (
    <Bubble
      speaker={speakerOf(from)}
      time={message.time}
      mine={mine}
      {...(message.restored ? { foot: <p className="msg-status">Given back to the relay</p> } : {})}
    >
      {unnamed.length > 0 && (
        <p className="mention-for">
          for{' '}
          {unnamed.map((who) => (
            <Chip key={who.agentId} who={who} />
          ))}
        </p>
      )}
      {mine ? (
        <p className="plain" dir="auto">
          <WithChips text={message.text} among={mentioned} />
        </p>
      ) : (
        <ChippedMarkdown text={message.text} mentioned={mentioned} />
      )}
    </Bubble>
  );
});

/** What the person wrote and the thread does not have yet. */
export function OnItsWay({
  item,
  me,
  mentioned,
  talk,
  onTakeBack,
}: {
  item: ThreadSending;
  me: Teammate;
  mentioned: readonly Teammate[];
  talk: ThreadTalk;
  onTakeBack: (text: string) => void;
}) {
  const foot =
    item.error === null ? (
      <p className="msg-status">Sending…</p>
    ) : (
      <p className="msg-status" data-status="failed" role="alert">
        Not sent: {item.error}
        <button type="button" className="link-button" onClick={() => void talk.sendAgain(item.clientId)}>
          Try again
        </button>
        <button type="button" className="link-button" onClick={() => onTakeBack(talk.takeBack(item.clientId))}>
          Take back
        </button>
      </p>
    );
  return (
    <Bubble speaker={speakerOf(me)} time={item.time} mine foot={foot}>
      <p className="plain" dir="auto">
        <WithChips text={item.text} among={mentioned} />
      </p>
    </Bubble>
  );
}

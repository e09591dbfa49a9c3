import { memo } from 'react';
import { useAnswers, useLive } from '../context.tsx';
import { Bubble, type Speaker } from './message.tsx';
import { GrowingParts } from './shown-parts.tsx';

/** An answer that is being written. It watches its own words and nothing else. */
export const OpenAnswerBubble = memo(function OpenAnswerBubble({
  messageId,
  speaker,
}: {
  messageId: string;
  speaker: Speaker;
}) {
  const answer = useAnswers((state) => state.open.get(messageId));
  const online = useLive((state) => state.link.kind === 'live');
  if (!answer) return null;
  const silent = answer.blocks.length === 0;
  return (
    <Bubble
      speaker={speaker}
      time={answer.startedAt}
      mine={false}
      foot={
        online ? undefined : (
          <p className="msg-status">The line to the relay is cut. What comes after this follows when it is back.</p>
        )
      }
    >
      <div className="writing" data-writing={online} data-silent={silent}>
        <GrowingParts blocks={answer.blocks} />
        {online && silent && (
          <span className="thinking" aria-hidden="true">
            <i />
            <i />
            <i />
          </span>
        )}
      </div>
    </Bubble>
  );
});

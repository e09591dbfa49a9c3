import type { ReactElement } from 'react';
import type { MessageDoc } from '../../protocol/documents.ts';
import { DayDivider, NewDivider, RunDivider, SleepDivider } from './dividers.tsx';
import { Message, type Speaker } from './message.tsx';
import { OpenAnswerBubble } from './open-answer.tsx';
import type { Row } from './rows.ts';
import { Queued, Unsent } from './unsent.tsx';

export interface RowContext {
  readonly speaker: Speaker;
  readonly now: number;
  /** The person's last message, while it can be asked anew. */
  readonly question: MessageDoc | null;
  /** The answer to it, where that came to nothing. */
  readonly failed: MessageDoc | null;
  readonly onEdit: () => void;
  readonly onRetry: () => void;
  readonly onFold: (key: string) => void;
  readonly onTakeBack: (text: string) => void;
}

function inside({ item, stretch }: Row, context: RowContext): ReactElement | null {
  const { speaker, now, question, failed, onEdit, onRetry, onFold, onTakeBack } = context;
  switch (item.kind) {
    case 'day':
      return <DayDivider time={item.time} now={now} />;
    case 'new':
      return <NewDivider />;
    case 'sleep':
      return <SleepDivider item={item} name={speaker.name} now={now} />;
    case 'run':
      return <RunDivider run={item.run} now={now} />;
    case 'message': {
      const mayEdit = item.message === question;
      return (
        stretch && (
          <Message
            message={item.message}
            stretch={stretch}
            speaker={speaker}
            waits={item.waits}
            onEdit={mayEdit ? onEdit : null}
            onRetry={mayEdit || item.message === failed ? onRetry : null}
            onFold={onFold}
          />
        )
      );
    }
    case 'open':
      return <OpenAnswerBubble messageId={item.messageId} speaker={speaker} />;
    case 'queued':
      return stretch && <Queued message={item.message} stretch={stretch} speaker={speaker} onFold={onFold} />;
    case 'sending':
      return (
        stretch && (
          <Unsent sending={item.sending} stretch={stretch} speaker={speaker} onFold={onFold} onTakeBack={onTakeBack} />
        )
      );
    default:
      return item satisfies never;
  }
}

/** One row of the log. What a message is made of renders only when that changes, however often the list does. */
export function showRow(row: Row, context: RowContext): ReactElement {
  return (
    <div
      key={row.key}
      className="log-row"
      data-key={row.key}
      data-kind={row.item.kind}
      data-goes-on={row.stretch?.last === false}
    >
      {inside(row, context)}
    </div>
  );
}

/**
 * What is set aside in a home: rows that cannot be read, and parts that could not be taken up
 * again. Each is reported once: in the relay’s log, and to the person in the lead’s conversation.
 */
import { sentence } from '../../src/shared/domain/names.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { messageEvent } from '../agents/runs/message-event.ts';
import type { EventLog } from '../log/index.ts';
import type { Logger } from '../platform/logger.ts';
import { createSetAside, type SetAside } from '../platform/set-aside.ts';
import { storeTrouble } from '../store/index.ts';
import type { UnreadableRow } from '../log/index.ts';

/** Notices that one start of the relay gives the person. The log names all. */
const MOST_TOLD = 3;

interface AsideNoticesDeps {
  readonly home: string;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
}

interface AsideNotices {
  readonly setAside: SetAside;
  /** For the rows of the event log. */
  onUnreadable(row: UnreadableRow): void;
  /** The log is open. Gives the notices so far and later ones. */
  opened(log: Pick<EventLog, 'id' | 'appendOnce'>): void;
}

interface Notice {
  /** The same for every start of the relay, so that the person sees it once. */
  readonly clientId: string;
  readonly text: string;
}

export function createAsideNotices({ home, now, logger }: AsideNoticesDeps): AsideNotices {
  const waiting: Notice[] = [];
  let toldCount = 0;
  let log: Pick<EventLog, 'id' | 'appendOnce'> | null = null;

  async function tell(to: Pick<EventLog, 'id' | 'appendOnce'>, { clientId, text }: Notice): Promise<void> {
    const message = messageEvent({
      time: now(),
      messageId: `${to.id}:${clientId}`,
      sessionId: null,
      agentId: LEAD_ID,
      author: 'relay',
      text,
    });
    await to.appendOnce(clientId, [message]);
  }
  function add(notice: Notice): void {
    waiting.push(notice);
    tellAll();
  }
  function tellAll(): void {
    if (!log) return;
    for (const notice of waiting.splice(0, Math.max(0, MOST_TOLD - toldCount))) {
      toldCount += 1;
      tell(log, notice).catch((error: unknown) =>
        logger.error('The notice about something that was set aside could not be written.', { home, error }),
      );
    }
  }

  return {
    setAside: createSetAside({
      passes: (error) => storeTrouble(error) !== null,
      onSetAside({ part, id, error }) {
        if (id === null) logger.error('A part of a household could not be taken up again.', { home, part, error });
        else logger.error('A row cannot be read, and is set aside.', { home, part, id, error });
        add({
          clientId: id === null ? `set-aside:${part}` : `set-aside:${part}:${id}`,
          text:
            id === null
              ? sentence`A part of this household could not be taken up again when the relay started: ${part}. The rest works. Start the relay again. Its log says more.`
              : sentence`Something stored here can no longer be read, and is left out: ${part}, ${id}. The relay’s log says more.`,
        });
      },
    }),
    onUnreadable({ id, kind, why }) {
      logger.error('An event cannot be read, and is set aside.', { home, number: id, kind, why });
      add({
        clientId: `set-aside:${id}`,
        text: sentence`An event can no longer be read, and is left out: number ${id}. The relay’s log says more.`,
      });
    },
    opened(given) {
      log = given;
      tellAll();
    },
  };
}

/**
 * What of a home's event log cannot be read any more, and is left out. It is said once for each
 * row: in the relay's log, and to the person in the lead's conversation.
 */
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { sentence } from '../../src/shared/domain/sentence.ts';
import type { EventLog } from '../contracts/index.ts';
import type { UnreadableRow } from '../team/events/index.ts';
import type { Logger } from '../platform/logger.ts';
import { messageEvent } from '../agents/runs/message-event.ts';

/** Rows of which a person is told, at one start of the relay: the log of the relay has all. */
const MOST_TOLD = 3;

export interface SetAsideDeps {
  readonly home: string;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
}

export interface SetAside {
  onUnreadable(row: UnreadableRow): void;
  /** The log is open: what was found by then is told, and what is found later. */
  opened(log: Pick<EventLog, 'id' | 'appendOnce'>): void;
}

export function createSetAside({ home, now, logger }: SetAsideDeps): SetAside {
  const found: number[] = [];
  let told = 0;
  let log: Pick<EventLog, 'id' | 'appendOnce'> | null = null;

  async function tell(to: Pick<EventLog, 'id' | 'appendOnce'>, number: number): Promise<void> {
    const clientId = `set-aside:${number}`;
    const text = sentence`Something that happened here cannot be read any more, and is left out: number ${number} in the relay’s history. The relay’s log says more.`;
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
  const tellAll = () => {
    if (!log) return;
    for (const number of found.splice(0, Math.max(0, MOST_TOLD - told))) {
      told += 1;
      tell(log, number).catch((error: unknown) =>
        logger.error('That a row is set aside could not be told.', { home, error }),
      );
    }
  };

  return {
    onUnreadable({ id, kind, why }) {
      logger.error('An event cannot be read, and is set aside.', { home, number: id, kind, why });
      found.push(id);
      tellAll();
    },
    opened(given) {
      log = given;
      tellAll();
    },
  };
}

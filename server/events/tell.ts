/** Says to pages, without waiting for it, that something has changed which they ask for by a call of its own. */
import type { RoostEvent } from '../../src/protocol/events.ts';
import type { EventLog } from '../contracts.ts';
import type { Logger } from '../logger.ts';

export interface TellDeps {
  readonly log: Pick<EventLog, 'append'>;
  readonly logger: Pick<Logger, 'error'>;
}

export const createTell =
  ({ log, logger }: TellDeps) =>
  (event: RoostEvent): void =>
    void log.append([event]).catch((error: unknown) =>
      logger.error('a change could not be told; the page shows it when it asks again', {
        event,
        error: String(error),
      }),
    );

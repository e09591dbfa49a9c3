/** Versions of records. `server/http/version.ts` describes their use. */
import { z } from 'zod';

const version = z.number().int().nonnegative();

/** In an answer. */
export const versionSchema = version.describe('counts the changes of this record');
/** In a change. */
export const namedVersionSchema = version
  .optional()
  .describe(
    'of the answer from which this change was made: refused if the record is at another by now; left out: overwrites',
  );
/** An answer of every endpoint that changes a record. */
export const changedElsewhere = {
  status: 409,
  when: '`changed-elsewhere`: `version` is not that of the record any more; `current` is the record as it is now',
} as const;

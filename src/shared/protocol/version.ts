/** Versions of records. `server/http/version.ts` describes their use. */
import { z } from 'zod';

const version = z.number().int().nonnegative();

/** In an answer. */
export const versionSchema = version.describe('counts the changes of this record');
/** In a change. */
export const namedVersionSchema = version
  .optional()
  .describe(
    'the version on which this change is based; refused if the record has another version by now; left out: overwrites',
  );
/** An answer of every endpoint that changes a record. */
export const changedElsewhere = {
  status: 409,
  when: '`changed-elsewhere`: the record no longer has this `version`; `current` is the record now',
} as const;

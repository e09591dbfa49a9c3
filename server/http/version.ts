/**
 * Optimistic concurrency, the same for every record. An answer with a record has its `version`, and
 * a change may name the version from which it was made. If the record is at another by then, the
 * answer is 409 with the record as it is now, and nothing is changed. A change that names no
 * version overwrites what is there.
 */
import type { HTTPException } from 'hono/http-exception';
import { problem } from './problem.ts';

interface Versioned {
  readonly version: number;
}

/** `current`: the record as its `GET` answers it now. */
export const changedElsewhere = (current: Versioned): HTTPException =>
  problem(
    409,
    'changed-elsewhere',
    'This was changed elsewhere since you read it, so your change is not saved. Look at the current version, then change it again.',
    { fields: { current: { ...current } } },
  );

/** Throws a problem if the change names another version than that of the record. */
export function expectVersion(named: number | undefined, current: Versioned): void {
  if (named !== undefined && named !== current.version) throw changedElsewhere(current);
}

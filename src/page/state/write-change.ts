/**
 * How what the person changes is written: the one way for settings, names, choices, changes of
 * agents and groups.
 */
import { MAX_AHEAD_MS, type Clock } from '../../shared/domain/stamp.ts';
import { t } from '../language/t.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { attempt, type Done } from './attempt.ts';
import type { Household } from './household.ts';
import type { Notices } from './notices.ts';
import type { Device, OwnerPort } from './ports.ts';
import { whenRead } from './when-read.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface WriteParts {
  readonly owner: OwnerPort;
  readonly device: Device;
  readonly clock: Clock;
  readonly household: Household;
  readonly notices: Notices;
}

/** Why a change is not written. */
type Refusal = Extract<Done, { ok: false }>;

/**
 * Writes what `make` makes, all of it or nothing. It is made, and so dated, and checked against
 * what there is, once the ledger was read: only then does the clock know what is dated ahead of it,
 * and a change that is dated before that would be taken, and heard nowhere.
 */
export async function writeChange(
  { owner, device, clock, household, notices }: WriteParts,
  make: () => readonly Doc[] | Refusal,
): Promise<Done> {
  if (!(await whenRead(device, household)))
    return { ok: false, reason: t`Roost is still reading what this browser keeps. Try again in a moment.` };
  const made = make();
  if ('ok' in made) return made;
  // What is set now wins over what was dated ahead, because it is dated after that.
  const lead = clock.lead();
  if (lead > MAX_AHEAD_MS)
    notices.info(
      t`Something here is dated ${Math.round(lead / DAY_MS)} days ahead of this device’s clock. What you set now is dated after it, so that yours holds.`,
    );
  const written = await attempt(owner.call('append', made));
  if (written.ok) household.take(made);
  return written;
}

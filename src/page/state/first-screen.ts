/** What the page shows first. The one place that decides it. */
import type { SyncStatus } from '../../shared/protocol/sync/page.ts';
import type { HouseholdState } from './household.ts';
import { livesThere, type RelayInfoState } from './relay-info.ts';

export type FirstScreen =
  /** It is not known yet who lives here. */
  | 'opening'
  /** Somebody lived here, and the browser lost their storage. */
  | 'returning'
  /**
   * Nobody is known to have lived here, and somebody lives at the relay: theirs, or one beside it?
   */
  | 'asked'
  /** Nobody has ever lived here. */
  | 'welcome'
  | 'home';

export interface Known {
  readonly household: Pick<HouseholdState, 'status' | 'roster'>;
  /** null: not known yet. */
  readonly sync: SyncStatus | null;
  /** Why that could not be asked for; null: it could, or nobody asked yet. */
  readonly syncFailed: string | null;
  readonly home: RelayInfoState['home'];
}

/**
 * A team that is here comes before everything; the mark of one comes before every question to
 * somebody new.
 */
export function firstScreenOf({ household, sync, syncFailed, home }: Known): FirstScreen {
  // Known, or as it was shown last.
  if (household.status === 'failed' || household.roster.lead !== null) return 'home';
  if (household.status === 'loading') return 'opening';
  if (sync?.kind === 'returning') return 'returning';
  if (sync === null && syncFailed === null) return 'opening';
  // It has joined somebody, and they are on their way.
  if (sync?.kind === 'shared') return 'welcome';
  if (home === 'asking') return 'opening';
  return livesThere({ home }) === null ? 'welcome' : 'asked';
}

/** Whose answer `opening` waits for. */
export type Awaited = 'ledger' | 'devices' | 'relay';

/** null: nobody's, what is shown is decided. */
export function awaitedOf(known: Known): Awaited | null {
  if (firstScreenOf(known) !== 'opening') return null;
  if (known.household.status === 'loading') return 'ledger';
  return known.sync === null ? 'devices' : 'relay';
}

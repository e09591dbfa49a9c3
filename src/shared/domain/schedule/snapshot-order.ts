/**
 * Sort order of agent snapshots on a relay. A module of its own, because the page's first paint
 * must not load any schema.
 */

/**
 * Number of leading characters of a snapshot's version name that it is sorted by: the time of the
 * last message it includes.
 */
export const SNAPSHOT_ORDER_CHARS = 15;

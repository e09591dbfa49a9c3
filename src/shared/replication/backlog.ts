/** Counts the entries that are known to be missing, and how many have arrived since. */
import { count, subtract } from '../domain/ranges.ts';
import type { Backlog, ReplicaDeps } from './contract.ts';
import { createPlaceSet, type Peer, type PlaceSet } from './peer.ts';

/** `update` counts again, and reports a change. */
export function createBacklog({
  here,
  peers,
  deps: { priority, onBacklog },
  background,
}: {
  readonly here: PlaceSet;
  readonly peers: () => readonly Peer[];
  readonly deps: Pick<ReplicaDeps, 'priority' | 'onBacklog'>;
  /** Classes from this one on are counted apart. */
  readonly background: number;
}): { update(): void } {
  let last = '';
  /** How many entries were here when some began to be missing. */
  let before: number | null = null;

  function counted(): Backlog | null {
    const claimed = createPlaceSet();
    for (const peer of peers()) claimed.addAll(peer.has.now());
    const byPriority = new Map<number, { missing: number }>();
    let missing = 0;
    let later = 0;
    for (const writer of claimed.writers()) {
      const lacking = count(subtract(claimed.of(writer), here.of(writer)));
      if (lacking === 0) continue;
      const priorityOf = priority(writer);
      if (priorityOf >= background) {
        later += lacking;
        continue;
      }
      missing += lacking;
      byPriority.set(priorityOf, { missing: (byPriority.get(priorityOf)?.missing ?? 0) + lacking });
    }
    if (missing === 0) {
      before = null;
      return later === 0 ? null : { done: 0, of: 0, background: later, byPriority };
    }
    let now = 0;
    for (const writer of here.writers()) if (priority(writer) < background) now += count(here.of(writer));
    before = Math.min(before ?? now, now);
    return { done: now - before, of: now - before + missing, background: later, byPriority };
  }

  return {
    update() {
      if (!onBacklog) return;
      const backlog = counted();
      const text =
        backlog === null ? '' : JSON.stringify([backlog.done, backlog.of, backlog.background, [...backlog.byPriority]]);
      if (text === last) return;
      last = text;
      onBacklog(backlog);
    },
  };
}

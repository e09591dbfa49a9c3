/**
 * A replica sends what it has and asks for what it lacks, over any number of links.
 *
 * The truth is what each side says it has: `have`, and the differences `more` and `less`. Pushes
 * only save a round trip. So frames may be lost, repeated and arrive in any order, and a link may
 * break at any point.
 */
import type { Entry, EntryKey, Have, PutOutcome } from '../protocol/sync/page.ts';
import { contains, highest, isSame } from '../domain/ranges.ts';
import { createTrying } from '../domain/platform/retry.ts';
import {
  type PlaceSet,
  type Came,
  createPlaceSet,
  createStoring,
  haveOf,
  keyOf,
  type Manner,
  type Peer,
} from './peer.ts';
import type { Frame } from './frames.ts';
import { REPLICATION, type ReplicationSettings } from './settings.ts';
import type { Replica, ReplicaDeps } from './contract.ts';
import { createAnnouncer } from './announcing.ts';
import { createBacklog } from './backlog.ts';
import { createComparing } from './comparing.ts';
import { createFetching } from './fetching.ts';
import { createLinks } from './links.ts';
import { createRefusals } from './refusals.ts';
import { answerTo } from './serving.ts';

/** Entries that were overwritten here and that no relay has acknowledged yet. */
function createReplacing() {
  const replaced = new Map<string, Entry>();
  return {
    entries: () => [...replaced.values()],
    add(entries: readonly Entry[]) {
      for (const entry of entries) replaced.set(keyOf(entry), entry);
    },
    /** A relay has these. */
    acknowledge(have: Have) {
      for (const [key, { writer, counter }] of [...replaced])
        if (contains(have.get(writer) ?? [], counter)) replaced.delete(key);
    },
    /** Was the entry in this place overwritten? Then the peer is sent the new one. */
    isReplaced(key: EntryKey, peer: Peer): boolean {
      const entry = replaced.get(keyOf(key));
      if (!entry) return false;
      peer.oweReplaced([entry]);
      return true;
    },
  };
}

/** Does this peer, a relay, have the same entries of the writer as here? */
const relayAgrees = ({ link, heard, doubted, has }: Peer, here: PlaceSet, writer: string): boolean =>
  link.kind === 'relay' && heard && !doubted.has(writer) && isSame(here.of(writer), has.of(writer));

export function createReplica(deps: ReplicaDeps): Replica {
  const { store, priority, forwards = false, own = () => false, left = () => false, onAhead } = deps;
  const settings: ReplicationSettings = { ...REPLICATION, ...deps.settings };
  const here = createPlaceSet();
  const replacing = createReplacing();
  let isKnown = false;
  let closed = false;

  const after = (ms: number, run: () => void) => deps.timers.after(ms, () => closed || run());
  const trying = createTrying({
    after: deps.timers.after,
    retryMs: settings.retryMs,
    onTrouble: (error) => deps.onTrouble?.(error),
  });
  const links = createLinks({
    settings,
    after,
    here: () => (isKnown && !closed ? here.now() : null),
    isClosed: () => closed,
    take,
    onConnect(peer) {
      if (peer.link.kind === 'relay') peer.oweReplaced(replacing.entries());
    },
    onEnd(peer) {
      fetching.forget(peer);
      if (closed) return;
      if (!viaRelay()) for (const each of all()) each.fresh.set(new Map());
      goOn();
      deps.onPeers?.();
    },
  });
  const { all, viaRelay } = links;
  const backlog = createBacklog({ here, peers: all, deps, background: settings.background });
  const serving = { store, here, trying, priority, settings };
  const storing = createStoring({ store, trying, settings, onPut });
  const fetching = createFetching({
    peers: all,
    here,
    waiting: storing.waiting,
    mayAsk: () => isKnown && !closed && storing.hasRoom(),
    priority,
    after,
    settings,
  });
  const comparing = createComparing({
    store,
    here,
    trying,
    settings,
    own,
    left,
    check: storing.check,
    isReplaced: replacing.isReplaced,
    onConflict: (key, theirs) => deps.onConflict?.(key, theirs),
    pump: () => fetching.pump(),
  });

  const { push, put: tellOf } = createAnnouncer({
    here,
    peers: all,
    settings,
    forwards,
    onMet: (peer, others) => comparing.met(peer, others),
  });

  /** An account has changed: update the backlog and the requests. */
  function goOn(): void {
    backlog.update();
    fetching.pump();
  }
  const refusals = createRefusals({ store, here, trying, peers: all, onDropped: goOn });

  function onPut(batch: readonly Came[], outcome: PutOutcome, manner: Manner): void {
    if (closed) return;
    tellOf(batch, outcome, manner);
    if (outcome.refused.length > 0) deps.onRefused?.(outcome.refused);
    if (outcome.stored.length > 0) deps.onStored?.(outcome.stored);
    goOn();
  }

  function heard(peer: Peer, frame: Extract<Frame, { kind: 'have' | 'more' | 'less' }>): void {
    switch (frame.kind) {
      case 'have':
        peer.has.set(frame.have);
        peer.heard = true;
        if (isKnown) comparing.heard(peer);
        break;
      case 'more':
        peer.has.addAll(frame.have);
        if (peer.has.ranges() > settings.ranges * 2)
          return links.close(peer, 'It claims to have more than can be recorded.');
        if (peer.link.kind === 'relay') replacing.acknowledge(frame.have);
        else if (viaRelay() && !forwards) fetching.leaveToRelay(peer, frame.have);
        break;
      case 'less':
        peer.has.removeAll(frame.have);
        break;
    }
    findAhead(peer);
    // Update the backlog before listeners learn that a peer has more. Otherwise they would see a
    // complete replica.
    goOn();
    deps.onPeers?.();
  }

  function findAhead(peer: Peer): void {
    if (!isKnown || !onAhead) return;
    for (const writer of [...peer.has.writers()])
      if (own(writer) && highest(peer.has.of(writer)) > highest(here.of(writer))) onAhead(writer);
  }

  function take(peer: Peer, frame: Frame): void {
    switch (frame.kind) {
      case 'have':
      case 'more':
      case 'less':
        return heard(peer, frame);
      case 'want':
        // A peer that has not sent its `have` gets nothing: the entries in the same places are
        // compared first.
        if (!peer.heard) return;
        return peer.tasks.add(answerTo({ ...serving, peer }, frame.request, frame.want), 'theirs');
      case 'entries':
        for (const entry of frame.entries) peer.has.add(entry);
        if (frame.request !== null) fetching.answered(peer, frame.request, frame.entries);
        storing.add(frame.entries, peer, frame.replace ? 'replace' : 'push');
        return fetching.pump();
      case 'conflict':
        return comparing.shown(peer, frame.request, frame.entries, frame.more);
      case 'refused':
        return refusals.heard(peer, frame.refused);
      case 'compare':
        return comparing.compare(peer, frame.request, frame.compared);
    }
  }

  const ready = trying
    .attempt(() => store.have())
    .then((have) => {
      if (have === null) return;
      here.addAll(have.value);
      isKnown = true;
      storing.begin();
      for (const peer of all()) {
        peer.flush();
        if (peer.heard) comparing.heard(peer);
        findAhead(peer);
      }
      goOn();
    });

  return {
    ready,
    connect: links.connect,
    wrote(entries, { replace = false } = {}) {
      here.addAll(haveOf(entries));
      if (replace) replacing.add(entries);
      const relayed = viaRelay();
      for (const peer of all()) {
        if (replace) peer.oweReplaced(entries);
        else if (peer.link.kind === 'relay' || !relayed) push(peer, entries);
        else peer.owe(entries);
        peer.flush();
      }
      backlog.update();
    },
    async reread() {
      const have = await trying.attempt(() => store.have());
      if (have === null || closed) return;
      here.addAll(have.value);
      for (const peer of all()) {
        peer.oweAll();
        peer.flush();
      }
      goOn();
    },
    have: () => here.now(),
    agrees: (writer) => isKnown && all().some((peer) => relayAgrees(peer, here, writer)),
    peerHas(kind) {
      const together = createPlaceSet();
      for (const peer of all()) if (kind === undefined || peer.link.kind === kind) together.addAll(peer.has.now());
      return together.now();
    },
    async close() {
      closed = true;
      const left = all();
      for (const peer of left) links.end(peer);
      trying.close();
      await Promise.all([ready, storing.idle(), ...left.map(({ tasks }) => tasks.idle())]);
    },
  };
}

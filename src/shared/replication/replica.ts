/**
 * A replica: hands on what it has and asks for what it lacks, over any number of links. What counts
 * is what each side says it has (`have`, and the differences `more` and `less`); pushes only save a
 * round trip. So frames may be lost, repeated and come in any order, and a line may be cut at any
 * point.
 */
import { createTrying } from '../domain/platform/retry.ts';
import { contains, highest, isSame } from '../domain/ranges.ts';
import type { Entry, EntryKey, Have } from '../protocol/sync/entries.ts';
import type { PutOutcome } from '../protocol/sync/store.ts';
import { createAccount, haveOf } from './account.ts';
import { createBacklog } from './backlog.ts';
import { createComparing } from './comparing.ts';
import type { Link, LinkEnd, Replica, ReplicaDeps } from './contract.ts';
import { createFetching } from './fetching.ts';
import { decodeFrame, type Frame } from './frames.ts';
import { createPeer, type Peer } from './peer.ts';
import { createRefusals } from './refusals.ts';
import { answerTo } from './serving.ts';
import { REPLICATION, type ReplicationSettings } from './settings.ts';
import { createStoring, keyOf, type Came, type Manner } from './storing.ts';
import { createAnnouncer } from './announcer.ts';

export function createReplica(deps: ReplicaDeps): Replica {
  const { store, priority, forwards = false, own = () => false, left = () => false, onAhead } = deps;
  const settings: ReplicationSettings = { ...REPLICATION, ...deps.settings };
  const here = createAccount();
  const peers = new Map<Peer, { stop: () => void }>();
  /** Overwritten here, and not acknowledged by a relay yet. */
  const replacing = new Map<string, Entry>();
  let known = false;
  let closed = false;

  const after = (ms: number, run: () => void) => deps.timers.after(ms, () => closed || run());
  const trying = createTrying({
    after: deps.timers.after,
    retryMs: settings.retryMs,
    onTrouble: (error) => deps.onTrouble?.(error),
  });
  const all = () => [...peers.keys()];
  const viaRelay = () => all().some(({ link }) => link.kind === 'relay');
  const backlog = createBacklog({ here, peers: all, deps, background: settings.background });
  const serving = { store, here, trying, priority, settings };
  const storing = createStoring({ store, trying, settings, onPut });
  const fetching = createFetching({
    peers: all,
    here,
    waiting: storing.waiting,
    mayAsk: () => known && !closed && storing.hasRoom(),
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
    look,
    isReplaced,
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

  /** An account has changed: what is missing, and what may be asked for. */
  function goOn(): void {
    backlog.look();
    fetching.pump();
  }
  const refusals = createRefusals({
    store,
    here,
    trying,
    peers: all,
    onDropped: goOn,
  });

  function isReplaced(key: EntryKey, peer: Peer): boolean {
    const entry = replacing.get(keyOf(key));
    if (!entry) return false;
    peer.oweReplaced([entry]);
    return true;
  }

  function onPut(batch: readonly Came[], outcome: PutOutcome, manner: Manner): void {
    if (closed) return;
    tellOf(batch, outcome, manner);
    if (outcome.refused.length > 0) deps.onRefused?.(outcome.refused);
    if (outcome.stored.length > 0) deps.onStored?.(outcome.stored);
    goOn();
  }

  /** Looks at entries as at any that come; answers those that met others here. */
  async function look(peer: Peer, entries: readonly Entry[]): Promise<readonly Entry[]> {
    const put = entries.length === 0 ? null : await trying.attempt(() => store.put(entries, { replace: false }));
    if (put === null) return [];
    onPut(
      entries.map((entry) => ({ entry, from: peer })),
      put.value,
      'shown',
    );
    const others = new Set(put.value.conflicts.map(keyOf));
    return entries.filter((entry) => others.has(keyOf(entry)));
  }

  /**
   * What a device has news of comes from the relay too, as a rule: it is asked for only if it does
   * not.
   */
  function leaveToRelay(peer: Peer, keys: Have): void {
    if (forwards || peer.link.kind === 'relay' || !viaRelay()) return;
    if (peer.fresh.isEmpty()) {
      after(settings.directMs, () => {
        peer.fresh.set(new Map());
        fetching.pump();
      });
    }
    peer.fresh.addAll(keys);
  }

  function heard(peer: Peer, frame: Extract<Frame, { kind: 'have' | 'more' | 'less' }>): void {
    switch (frame.kind) {
      case 'have':
        peer.has.set(frame.have);
        peer.heard = true;
        if (known) comparing.heard(peer);
        break;
      case 'more':
        peer.has.addAll(frame.have);
        if (peer.has.ranges() > settings.ranges * 2)
          return broken(peer, 'It claims to have more than can be kept account of.');
        if (peer.link.kind === 'relay')
          for (const [id, entry] of [...replacing])
            if (contains(frame.have.get(entry.writer) ?? [], entry.counter)) replacing.delete(id);
        leaveToRelay(peer, frame.have);
        break;
      case 'less':
        peer.has.removeAll(frame.have);
        break;
    }
    lookAhead(peer);
    // Before anybody hears that a peer has more: whoever looks then must not take everything to be
    // here.
    goOn();
    deps.onPeers?.();
  }

  function lookAhead(peer: Peer): void {
    if (!known || !onAhead) return;
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
        // Who has not said what it has is told nothing: what lies in the same places here and there
        // is compared first.
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

  function end(peer: Peer): void {
    if (!peers.has(peer)) return;
    peers.get(peer)?.stop();
    peers.delete(peer);
    peer.end();
    fetching.forget(peer);
    if (closed) return;
    if (!viaRelay()) for (const each of all()) each.fresh.set(new Map());
    goOn();
    deps.onPeers?.();
  }
  function broken(peer: Peer, reason: string): void {
    end(peer);
    peer.link.close(reason);
  }

  function connect(link: Link): LinkEnd {
    const peer = createPeer({
      link,
      settings,
      here: () => (known && !closed ? here.now() : null),
      broken: (reason) => broken(peer, reason),
    });
    let callOff: () => void = () => undefined;
    const announce = () => {
      callOff = after(settings.announceMs, announce);
      peer.oweAll();
      peer.flush();
      peer.tasks.kick();
    };
    callOff = after(settings.announceMs, announce);
    peers.set(peer, { stop: () => callOff() });
    if (link.kind === 'relay') peer.oweReplaced([...replacing.values()]);
    peer.flush();
    return {
      take(bytes) {
        if (closed || !peer.live()) return;
        peer.frames += 1;
        const read = decodeFrame(bytes);
        if (read.ok) take(peer, read.frame);
        else broken(peer, read.reason);
      },
      gone: () => end(peer),
      drained() {
        if (closed) return;
        peer.flush();
        peer.tasks.kick();
      },
    };
  }

  const ready = trying
    .attempt(() => store.have())
    .then((have) => {
      if (have === null) return;
      here.addAll(have.value);
      known = true;
      storing.begin();
      for (const peer of all()) {
        peer.flush();
        if (peer.heard) comparing.heard(peer);
        lookAhead(peer);
      }
      goOn();
    });

  return {
    ready,
    connect,
    wrote(entries, { replace = false } = {}) {
      here.addAll(haveOf(entries));
      if (replace) for (const entry of entries) replacing.set(keyOf(entry), entry);
      const relayed = viaRelay();
      for (const peer of all()) {
        if (replace) peer.oweReplaced(entries);
        else if (peer.link.kind === 'relay' || !relayed) push(peer, entries);
        else peer.owe(entries);
        peer.flush();
      }
      backlog.look();
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
    agrees: (writer) =>
      known &&
      all().some(
        ({ link, heard, doubted, has }) =>
          link.kind === 'relay' && heard && !doubted.has(writer) && isSame(here.of(writer), has.of(writer)),
      ),
    peerHas(kind) {
      const together = createAccount();
      for (const peer of all()) if (kind === undefined || peer.link.kind === kind) together.addAll(peer.has.now());
      return together.now();
    },
    async close() {
      closed = true;
      const left = all();
      for (const peer of left) end(peer);
      trying.close();
      await Promise.all([ready, storing.idle(), ...left.map(({ tasks }) => tasks.idle())]);
    },
  };
}

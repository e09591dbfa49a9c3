/**
 * A replica sends what it has and asks for what it lacks, over any number of links.
 *
 * The truth is what each side says it has: `have`, and the differences `more` and `less`. Pushes
 * only save a round trip. So frames may be lost, repeated and arrive in any order, and a link may
 * break at any point.
 */
import type { Entry, EntryKey, EntryStore, Have, PutOutcome } from '../protocol/sync/page.ts';
import { contains, count, highest, intersect, isSame, lastOf, type Ranges, subtract } from '../domain/ranges.ts';
import { createTrying, type Trying } from '../domain/platform/retry.ts';
import {
  type PlaceSet,
  type Came,
  createPlaceSet,
  createPeer,
  createStoring,
  haveOf,
  keyOf,
  type Manner,
  type Peer,
  type Task,
} from './peer.ts';
import { decodeFrame, type Digested, digestOf, type Frame } from './frames.ts';
import { REPLICATION, type ReplicationSettings } from './settings.ts';
import type { Backlog, Link, LinkEnd, Replica, ReplicaDeps } from './contract.ts';
import { createComparing } from './comparing.ts';

// Sends the peers new entries, and the store's results: stored, refused, or different from theirs.

const bytesOf = (entries: readonly Entry[]) => entries.reduce((sum, { sealed }) => sum + sealed.length, 0);

interface AnnouncerDeps {
  readonly here: PlaceSet;
  readonly peers: () => readonly Peer[];
  readonly settings: ReplicationSettings;
  /** Does this replica pass received entries on? */
  readonly forwards: boolean;
  /** These entries of the peer differ from the ones here in the same places. */
  readonly onMet: (peer: Peer, others: readonly Entry[]) => void;
}

interface Announcer {
  push(peer: Peer, entries: readonly Entry[]): void;
  /** Reports the store's result for a batch. */
  put(batch: readonly Came[], outcome: PutOutcome, manner: Manner): void;
}

function createAnnouncer({ here, peers, settings, forwards, onMet }: AnnouncerDeps): Announcer {
  /**
   * Pushes new entries where they are few and the link has room. Otherwise the peer is notified of
   * them and asks.
   */
  function push(peer: Peer, entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    const fits = entries.length <= settings.askEntries && bytesOf(entries) <= settings.pushBytes;
    if (
      fits &&
      peer.announced() &&
      peer.heard &&
      peer.hasRoom() &&
      peer.send({ kind: 'entries', request: null, replace: false, entries })
    )
      return;
    peer.owe(entries);
  }

  function put(batch: readonly Came[], outcome: PutOutcome, manner: Manner): void {
    const [stored, refused, conflicts] = [outcome.stored, outcome.refused, outcome.conflicts].map(
      (keys) => new Set(keys.map(keyOf)),
    );
    const came = (keys: Set<string> | undefined, peer: Peer) =>
      batch.filter(({ entry, from }) => from === peer && keys?.has(keyOf(entry))).map(({ entry }) => entry);
    // Includes entries that were here before: between two results of the store an account may be
    // behind.
    for (const { entry } of batch) if (!refused?.has(keyOf(entry))) here.add(entry);
    for (const peer of new Set(batch.map(({ from }) => from))) {
      const bad = came(refused, peer);
      for (const key of bad) peer.has.remove(key);
      if (bad.length > 0 && peer.hasRoom())
        peer.send({
          kind: 'refused',
          refused: bad.map((entry) => ({
            writer: entry.writer,
            counter: entry.counter,
            digest: digestOf(entry.sealed),
          })),
        });
      const others = came(conflicts, peer);
      if (others.length > 0 && manner !== 'shown') onMet(peer, others);
      // Acknowledge every entry that is here, including those that were here before.
      const good = batch
        .filter(({ entry, from }) => from === peer && here.has(entry) && !conflicts?.has(keyOf(entry)))
        .map(({ entry }) => entry);
      peer.owe(good);
    }
    for (const peer of peers()) {
      const fresh = batch
        .filter(({ entry, from }) => from !== peer && stored?.has(keyOf(entry)))
        .map(({ entry }) => entry);
      if (manner === 'replace') peer.oweReplaced(fresh);
      else {
        const lacking = fresh.filter((entry) => !peer.has.has(entry));
        if (forwards) push(peer, lacking);
        // A peer that has the entry too waits for the relay to acknowledge it.
        peer.owe(forwards ? fresh.filter((entry) => peer.has.has(entry)) : lacking);
      }
      peer.flush();
    }
  }

  return { push, put };
}

// Counts the entries that are known to be missing, and how many have arrived since.

/** `update` counts again, and reports a change. */
function createBacklog({
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

// Requests missing entries in order of priority, a bounded number at a time, and never the same
// entry from two peers at once.

interface Request {
  readonly peer: Peer;
  readonly want: Have;
  callOff: () => void;
}

interface Fetching {
  /** Sends as many requests as the limits allow. */
  pump(): void;
  /**
   * The answer to a request arrived. An empty answer means that the peer does not have the entries.
   */
  answered(peer: Peer, request: number, entries: readonly Entry[]): void;
  /** The peer is gone. Its requests go to other peers. */
  forget(peer: Peer): void;
}

function createFetching({
  peers,
  here,
  waiting,
  mayAsk,
  priority,
  after,
  settings,
}: {
  readonly peers: () => readonly Peer[];
  readonly here: PlaceSet;
  readonly waiting: PlaceSet;
  readonly mayAsk: () => boolean;
  readonly priority: ReplicaDeps['priority'];
  readonly after: ReplicaDeps['timers']['after'];
  readonly settings: ReplicationSettings;
}): Fetching {
  const requests = new Map<number, Request>();
  const askedPlaces = createPlaceSet();
  /** The number of each writer's last request. Writers of one class take turns. */
  const turns = new Map<string, number>();
  let last = 0;

  function end(id: number, request: Request): void {
    request.callOff();
    requests.delete(id);
    askedPlaces.removeAll(request.want);
  }

  /** What this peer has, and what is neither here nor on its way, in the order of fetching. */
  function missingFrom(peer: Peer) {
    const missing: { writer: string; ranges: Ranges; class: number; turn: number }[] = [];
    for (const writer of peer.has.writers()) {
      if (peer.doubted.has(writer)) continue;
      const ranges = [here, waiting, askedPlaces, peer.fresh].reduce(
        (left, account) => subtract(left, account.of(writer)),
        peer.has.of(writer),
      );
      if (ranges.length > 0) missing.push({ writer, ranges, class: priority(writer), turn: turns.get(writer) ?? 0 });
    }
    return missing.sort((a, b) => a.class - b.class || a.turn - b.turn);
  }

  /** The next request to the peer. `under`: requests to it that are under way. */
  function nextFrom(peer: Peer, under: number): Have | null {
    const want = new Map<string, Ranges>();
    let entries: number = settings.askEntries;
    let pieces: number = settings.askRanges;
    const missing = missingFrom(peer);
    const waits = under > 0 || missing.some((row) => row.class < settings.background);
    for (const { writer, ranges, class: of } of missing) {
      if (entries <= 0 || pieces <= 0 || (waits && of >= settings.background)) break;
      const some = lastOf(ranges, entries, pieces);
      entries -= count(some);
      pieces -= some.length;
      want.set(writer, some);
    }
    return want.size > 0 ? want : null;
  }

  function ask(peer: Peer, want: Have): void {
    const id = ++last;
    for (const writer of want.keys()) turns.set(writer, id);
    let seen = peer.frames;
    let silences = 0;
    const request: Request = { peer, want, callOff: () => undefined };
    // A slow link that brings frames is not silent. A lost answer still ends the wait after
    // `answerSilences`.
    const listen = () => {
      const quiet = peer.frames === seen;
      seen = peer.frames;
      silences += 1;
      if (!quiet && silences < settings.answerSilences) {
        request.callOff = after(settings.answerMs, listen);
        return;
      }
      peer.lost += 1;
      end(id, request);
      pump();
    };
    requests.set(id, request);
    askedPlaces.addAll(want);
    request.callOff = after(settings.answerMs, listen);
    peer.send({ kind: 'want', request: id, want });
  }

  function pump(): void {
    // Peers that answered are asked before peers that did not.
    for (const peer of [...peers()].sort((a, b) => a.lost - b.lost)) {
      for (;;) {
        const under = [...requests.values()].filter((request) => request.peer === peer).length;
        if (!mayAsk() || !peer.live() || under >= settings.requests) break;
        const want = nextFrom(peer, under);
        if (want === null) break;
        ask(peer, want);
      }
    }
  }

  return {
    pump,
    answered(peer, id, entries) {
      const request = requests.get(id);
      if (request?.peer !== peer) return;
      end(id, request);
      peer.lost = 0;
      if (entries.length === 0) peer.has.removeAll(request.want);
    },
    forget(peer) {
      for (const [id, request] of [...requests]) if (request.peer === peer) end(id, request);
    },
  };
}

// A peer reports entries that it cannot open. They are dropped if the same bytes are still here.

interface RefusalsDeps {
  readonly store: Pick<EntryStore, 'drop'>;
  readonly here: PlaceSet;
  readonly trying: Pick<Trying, 'attempt'>;
  readonly peers: () => readonly Peer[];
  readonly onDropped: () => void;
}

interface Refusals {
  /** Handles a peer's `refused`. A relay has no key, so its reports are ignored. */
  heard(peer: Peer, refused: readonly Digested[]): void;
}

function createRefusals({ store, here, trying, peers, onDropped }: RefusalsDeps): Refusals {
  return {
    heard(peer, refused) {
      if (peer.link.kind === 'relay') return;
      peer.tasks.add(async () => {
        for (const { digest, ...key } of refused) {
          if (!here.has(key)) continue;
          const dropped = await trying.attempt(() => store.drop(key, digest));
          if (!dropped?.value) continue;
          here.remove(key);
          for (const each of peers()) each.oweLess(key);
        }
        for (const each of peers()) each.flush();
        onDropped();
        return 'done';
      }, 'theirs');
    },
  };
}

// Answers the requests of peers. Entries are read only when the link has room for them.

interface ServingDeps {
  readonly store: EntryStore;
  readonly here: PlaceSet;
  readonly trying: Trying;
  readonly priority: ReplicaDeps['priority'];
  readonly settings: ReplicationSettings;
  readonly peer: Peer;
}

/**
 * Answers a request with one frame and as many entries as fit. Lower classes come first, and the
 * newest entries of each writer. The peer asks for the rest again.
 */
const answerTo = ({ store, here, trying, priority, settings, peer }: ServingDeps, request: number, want: Have): Task =>
  async function answer() {
    const entries: Entry[] = [];
    let bytes = 0;
    const isFull = () => bytes >= settings.frameBytes || entries.length >= settings.askEntries;
    for (const [writer, ranges] of [...want].sort(([a], [b]) => priority(a) - priority(b))) {
      for (const [from, to] of [...intersect(ranges, here.of(writer))].reverse()) {
        if (isFull()) break;
        const read = await trying.attempt(() =>
          store.read(writer, from, to, { newestFirst: true, maxBytes: settings.frameBytes - bytes }),
        );
        if (read === null || !peer.live()) return 'done';
        for (const entry of read.value) {
          if (
            entries.length > 0 &&
            (bytes + entry.sealed.length > settings.frameBytes || entries.length >= settings.askEntries)
          ) {
            bytes = settings.frameBytes;
            break;
          }
          entries.push(entry);
          bytes += entry.sealed.length;
        }
      }
    }
    peer.send({ kind: 'entries', request, replace: false, entries });
    if (entries.length === 0) {
      // The peer believes that these are here. Send it what is.
      peer.oweAll();
      peer.flush();
    }
    return 'done';
  };

export function createReplica(deps: ReplicaDeps): Replica {
  const { store, priority, forwards = false, own = () => false, left = () => false, onAhead } = deps;
  const settings: ReplicationSettings = { ...REPLICATION, ...deps.settings };
  const here = createPlaceSet();
  const peers = new Map<Peer, { stop: () => void }>();
  /** Entries that were overwritten here and that no relay has acknowledged yet. */
  const replacing = new Map<string, Entry>();
  let isKnown = false;
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
    check,
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

  /** An account has changed: update the backlog and the requests. */
  function goOn(): void {
    backlog.update();
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

  /**
   * Checks a peer's entries as if they had been pushed. Resolves with those that differ from the
   * ones here.
   */
  async function check(peer: Peer, entries: readonly Entry[]): Promise<readonly Entry[]> {
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
   * The relay usually delivers what a device announces. The device is asked only if the relay does
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
        if (isKnown) comparing.heard(peer);
        break;
      case 'more':
        peer.has.addAll(frame.have);
        if (peer.has.ranges() > settings.ranges * 2)
          return broken(peer, 'It claims to have more than can be recorded.');
        if (peer.link.kind === 'relay')
          for (const [id, entry] of [...replacing])
            if (contains(frame.have.get(entry.writer) ?? [], entry.counter)) replacing.delete(id);
        leaveToRelay(peer, frame.have);
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
      here: () => (isKnown && !closed ? here.now() : null),
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
    agrees: (writer) =>
      isKnown &&
      all().some(
        ({ link, heard, doubted, has }) =>
          link.kind === 'relay' && heard && !doubted.has(writer) && isSame(here.of(writer), has.of(writer)),
      ),
    peerHas(kind) {
      const together = createPlaceSet();
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

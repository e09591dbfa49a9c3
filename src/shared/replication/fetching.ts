/**
 * Requests missing entries in order of priority, a bounded number at a time, and never the same
 * entry from two peers at once.
 */
import { count, lastOf, type Ranges, subtract } from '../domain/ranges.ts';
import type { Entry, Have } from '../protocol/sync/page.ts';
import type { ReplicaDeps } from './contract.ts';
import { createPlaceSet, type Peer, type PlaceSet } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';

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
  /**
   * The relay usually delivers what a device announces. The device is asked for these entries only
   * after `directMs`.
   */
  leaveToRelay(peer: Peer, keys: Have): void;
  /** The peer is gone. Its requests go to other peers. */
  forget(peer: Peer): void;
}

export function createFetching({
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
    leaveToRelay(peer, keys) {
      if (peer.fresh.isEmpty()) {
        after(settings.directMs, () => {
          peer.fresh.set(new Map());
          pump();
        });
      }
      peer.fresh.addAll(keys);
    },
    forget(peer) {
      for (const [id, request] of [...requests]) if (request.peer === peer) end(id, request);
    },
  };
}

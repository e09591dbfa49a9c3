/**
 * What is missing here is asked for: in order of priority, a bounded amount at a time, nothing of
 * two peers at once.
 */
import { count, lastOf, subtract, type Ranges } from '../domain/ranges.ts';
import type { Entry, Have } from '../protocol/sync/entries.ts';
import { createAccount, type Account } from './account.ts';
import type { ReplicaDeps } from './contract.ts';
import type { Peer } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';

interface Request {
  readonly peer: Peer;
  readonly want: Have;
  callOff: () => void;
}

export interface Fetching {
  /** Asks for what is missing, as far as it may. */
  pump(): void;
  /** The answer to a request came; an empty one says that the peer does not have it. */
  answered(peer: Peer, request: number, entries: readonly Entry[]): void;
  /** The peer is gone: what was asked of it is asked of others. */
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
  readonly here: Account;
  readonly waiting: Account;
  readonly mayAsk: () => boolean;
  readonly priority: ReplicaDeps['priority'];
  readonly after: ReplicaDeps['timers']['after'];
  readonly settings: ReplicationSettings;
}): Fetching {
  const requests = new Map<number, Request>();
  const asked = createAccount();
  /** When each writer was asked for last, as a running number: those of one class take turns. */
  const turns = new Map<string, number>();
  let last = 0;

  function end(id: number, request: Request): void {
    request.callOff();
    requests.delete(id);
    asked.removeAll(request.want);
  }

  /**
   * What this peer has, is not here and not on its way, in the order in which it is to be asked
   * for.
   */
  function missingFrom(peer: Peer) {
    const found: { writer: string; ranges: Ranges; class: number; turn: number }[] = [];
    for (const writer of peer.has.writers()) {
      if (peer.doubted.has(writer)) continue;
      const ranges = [here, waiting, asked, peer.fresh].reduce(
        (left, account) => subtract(left, account.of(writer)),
        peer.has.of(writer),
      );
      if (ranges.length > 0) found.push({ writer, ranges, class: priority(writer), turn: turns.get(writer) ?? 0 });
    }
    return found.sort((a, b) => a.class - b.class || a.turn - b.turn);
  }

  /** `under`: so many requests of it are under way. */
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
    // A slow line that brings something is not a silent one; an answer that was lost is not waited
    // for for ever.
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
    asked.addAll(want);
    request.callOff = after(settings.answerMs, listen);
    peer.send({ kind: 'want', request: id, want });
  }

  function pump(): void {
    // Those that answered are asked before those that did not.
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

/** The connections to peers: a peer for each link, until the link ends. */
import type { Have } from '../protocol/sync/page.ts';
import type { Link, LinkEnd, ReplicaDeps } from './contract.ts';
import { decodeFrame, type Frame } from './frames.ts';
import { createPeer, type Peer } from './peer.ts';
import type { ReplicationSettings } from './settings.ts';

interface LinksDeps {
  readonly settings: ReplicationSettings;
  readonly after: ReplicaDeps['timers']['after'];
  /** The entries here. Null: not known yet. */
  readonly here: () => Have | null;
  readonly isClosed: () => boolean;
  readonly take: (peer: Peer, frame: Frame) => void;
  /** A peer is new, and nothing has been sent to it yet. */
  readonly onConnect: (peer: Peer) => void;
  readonly onEnd: (peer: Peer) => void;
}

interface Links {
  /** The peers whose links have not ended. */
  all(): readonly Peer[];
  /** Does a link lead to a relay? */
  viaRelay(): boolean;
  connect(link: Link): LinkEnd;
  /** The link of the peer has ended. */
  end(peer: Peer): void;
  /** Ends the link of the peer. */
  close(peer: Peer, reason: string): void;
}

export function createLinks({ settings, after, here, isClosed, take, onConnect, onEnd }: LinksDeps): Links {
  const peers = new Map<Peer, { stop: () => void }>();

  function end(peer: Peer): void {
    if (!peers.has(peer)) return;
    peers.get(peer)?.stop();
    peers.delete(peer);
    peer.end();
    onEnd(peer);
  }

  function close(peer: Peer, reason: string): void {
    end(peer);
    peer.link.close(reason);
  }

  /** Announces everything that is here from time to time. */
  function announceAgain(peer: Peer): { stop: () => void } {
    const announce = () => {
      cancel = after(settings.announceMs, announce);
      peer.oweAll();
      peer.flush();
      peer.tasks.kick();
    };
    let cancel = after(settings.announceMs, announce);
    return { stop: () => cancel() };
  }

  return {
    all: () => [...peers.keys()],
    viaRelay: () => [...peers.keys()].some(({ link }) => link.kind === 'relay'),
    end,
    close,
    connect(link) {
      const peer = createPeer({ link, settings, here, broken: (reason) => close(peer, reason) });
      peers.set(peer, announceAgain(peer));
      onConnect(peer);
      peer.flush();
      return {
        take(bytes) {
          if (isClosed() || !peer.live()) return;
          peer.frames += 1;
          const read = decodeFrame(bytes);
          if (read.ok) take(peer, read.frame);
          else close(peer, read.reason);
        },
        gone: () => end(peer),
        drained() {
          if (isClosed()) return;
          peer.flush();
          peer.tasks.kick();
        },
      };
    },
  };
}

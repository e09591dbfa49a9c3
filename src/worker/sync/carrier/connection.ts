/**
 * One connection: a peer connection with one ordered, reliable data channel. Only addresses of this
 * machine and its networks are offered: no server outside the household learns that two of its
 * devices look for each other. All of them are gathered before a description is given, so that one
 * text each way introduces the two.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { DIRECT } from '../direct/settings.ts';
import { createJoiner, cut, keepAlive } from './pieces.ts';

interface ConnectionListener {
  /** Our description, complete: for the other side. */
  signal(description: string): void;
  opened(): void;
  frame(frame: Uint8Array): void;
  /** So many bytes of frames in all have gone into the channel. */
  sent(bytes: number): void;
  /** Over, and not by `close`. Last. */
  closed(): void;
}

export interface CarriedConnection {
  /** Takes the other side's description. */
  signal(description: string): void;
  /** Waits its turn, before the connection is open too. */
  send(frame: Uint8Array): void;
  close(): void;
}

export interface CarriedConnectionDeps {
  readonly connection: RTCPeerConnection;
  readonly timers: Timers;
  /** Do we begin? Otherwise the other side's offer comes first. */
  readonly offer: boolean;
  readonly listener: ConnectionListener;
}

export function openConnection({ connection, timers, offer, listener }: CarriedConnectionDeps): CarriedConnection {
  // Agreed upon beforehand: both ends have it, and neither waits for the other to announce it.
  const channel = connection.createDataChannel('roost', { negotiated: true, id: 0, ordered: true });
  channel.binaryType = 'arraybuffer';
  channel.bufferedAmountLowThreshold = DIRECT.channelLow;
  const join = createJoiner(DIRECT.frameMost);
  const queue: Uint8Array[] = [];
  let under: { readonly frame: Uint8Array; readonly pieces: Iterator<Uint8Array<ArrayBuffer>, void> } | null = null;
  let sent = 0;
  let heard = true;
  let silences = 0;
  let cancelTick: () => void = () => undefined;
  let over = false;

  function end() {
    over = true;
    cancelTick();
    queue.length = 0;
    under = null;
    channel.close();
    connection.close();
  }

  function fail() {
    if (over) return;
    end();
    listener.closed();
  }

  /** Everything a browser does for us in its own time; its refusal is the end of the connection. */
  function attempt(task: () => Promise<void>) {
    task().catch(fail);
  }

  function put(message: Uint8Array<ArrayBuffer>): boolean {
    try {
      channel.send(message);
      return true;
    } catch {
      // The channel has closed under our hands, or takes no more than it has: it is of no more use.
      fail();
      return false;
    }
  }

  function pump() {
    if (over || channel.readyState !== 'open') return;
    const most = Math.min(DIRECT.pieceMost, connection.sctp?.maxMessageSize ?? 0);
    if (most < DIRECT.pieceLeast) return fail();
    const before = sent;
    while (channel.bufferedAmount < DIRECT.channelMost) {
      if (!under) {
        const frame = queue.shift();
        if (!frame) break;
        under = { frame, pieces: cut(frame, most) };
      }
      const next = under.pieces.next();
      if (next.done) {
        sent += under.frame.length;
        under = null;
      } else if (!put(next.value)) return;
    }
    if (sent > before) listener.sent(sent);
  }

  function tick() {
    cancelTick = timers.after(DIRECT.keepAliveMs, () => {
      silences = heard ? 0 : silences + 1;
      heard = false;
      if (silences >= DIRECT.silences) return fail();
      if (put(keepAlive())) tick();
    });
  }

  function gathered(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        connection.removeEventListener('icegatheringstatechange', look);
        resolve();
      };
      const look = () => {
        if (connection.iceGatheringState === 'complete') done();
      };
      const cancel = timers.after(DIRECT.gatherMs, done);
      connection.addEventListener('icegatheringstatechange', look);
      look();
    });
  }

  async function describe() {
    await connection.setLocalDescription();
    await gathered();
    if (!over) listener.signal(connection.localDescription?.sdp ?? '');
  }

  channel.addEventListener('open', () => {
    if (over) return;
    tick();
    listener.opened();
    pump();
  });
  channel.addEventListener('bufferedamountlow', pump);
  channel.addEventListener('close', fail);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (over) return;
    heard = true;
    const joined = data instanceof ArrayBuffer ? join(new Uint8Array(data)) : ({ kind: 'wrong' } as const);
    if (joined.kind === 'frame') listener.frame(joined.frame);
    else if (joined.kind === 'wrong') fail();
  });
  connection.addEventListener('connectionstatechange', () => {
    // Before it is open the owner keeps the time: whoever was answered by a pasted text may come
    // late.
    if (connection.connectionState === 'failed' && channel.readyState !== 'connecting') fail();
  });
  if (offer) attempt(describe);

  return {
    signal(description) {
      attempt(async () => {
        await connection.setRemoteDescription({ type: offer ? 'answer' : 'offer', sdp: description });
        if (!offer) await describe();
      });
    },
    send(frame) {
      queue.push(frame);
      pump();
    },
    close() {
      if (!over) end();
    },
  };
}

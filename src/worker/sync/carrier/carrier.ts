/**
 * The tab's side of direct connections. Only tabs can have peer connections, so one tab of a
 * browser carries the connections that the data worker orders: the tab with the Web Lock. When it
 * closes, the next tab reports that it is ready, and the worker orders the connections anew.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { DirectOrder, DirectReport } from '../../../shared/protocol/sync/page.ts';
import type { WorkerNews } from '../../../shared/protocol/worker.ts';
import { DIRECT } from '../direct/settings.ts';

// A peer connection with one ordered, reliable data channel. It offers only addresses of this
// machine and its networks, so no server outside the household learns that two of its devices
// connect. All addresses are gathered before a description is sent, so one text each way is enough.

/**
 * Splits frames into messages, because messages of a data channel have a maximum size. A message
 * is:
 *
 *     00                      keep-alive
 *     01 | length u32 | part  begins a frame of `length` bytes
 *     02 | part               continues the frame
 *
 * A part has at least one byte. A frame ends with its last byte, and the next one begins after it.
 * This works because the channel is reliable and ordered. Integers are big-endian.
 */
const KEEP_ALIVE = 0;
const BEGIN = 1;
const GO_ON = 2;
const BEGIN_HEADER = 5;
const GO_ON_HEADER = 1;

export const keepAlive = (): Uint8Array<ArrayBuffer> => Uint8Array.of(KEEP_ALIVE);

/**
 * The messages of one frame, each of at most `most` bytes, made as the caller takes them. Throws
 * for an empty frame.
 */
export function* cut(frame: Uint8Array, most: number): Generator<Uint8Array<ArrayBuffer>, void> {
  if (frame.length === 0) throw new RangeError('A frame has at least one byte.');
  const first = new Uint8Array(Math.min(most, BEGIN_HEADER + frame.length));
  first[0] = BEGIN;
  new DataView(first.buffer).setUint32(1, frame.length);
  let at = first.length - BEGIN_HEADER;
  first.set(frame.subarray(0, at), BEGIN_HEADER);
  yield first;
  while (at < frame.length) {
    const part = frame.subarray(at, at + most - GO_ON_HEADER);
    const piece = new Uint8Array(GO_ON_HEADER + part.length);
    piece[0] = GO_ON;
    piece.set(part, GO_ON_HEADER);
    at += part.length;
    yield piece;
  }
}

type Joined =
  /** A keep-alive, or a part of a frame that is not complete yet. */
  | { readonly kind: 'nothing' }
  /** In a buffer of its own. */
  | { readonly kind: 'frame'; readonly frame: Uint8Array<ArrayBuffer> }
  /** An invalid message, out of order, or too long. The connection cannot be used any more. */
  | { readonly kind: 'wrong' };

const NOTHING: Joined = { kind: 'nothing' };
const WRONG: Joined = { kind: 'wrong' };

/** Joins messages into frames of at most `most` bytes. */
export function createJoiner(most: number): (message: Uint8Array) => Joined {
  let frame: Uint8Array<ArrayBuffer> | null = null;
  let filled = 0;

  function fill(into: Uint8Array<ArrayBuffer>, part: Uint8Array): Joined {
    if (part.length === 0 || part.length > into.length - filled) return WRONG;
    into.set(part, filled);
    filled += part.length;
    if (filled < into.length) {
      frame = into;
      return NOTHING;
    }
    frame = null;
    filled = 0;
    return { kind: 'frame', frame: into };
  }

  return (message) => {
    switch (message[0]) {
      case KEEP_ALIVE:
        return message.length === 1 ? NOTHING : WRONG;
      case BEGIN: {
        if (frame || message.length < BEGIN_HEADER) return WRONG;
        const length = new DataView(message.buffer, message.byteOffset, message.byteLength).getUint32(1);
        return length > most ? WRONG : fill(new Uint8Array(length), message.subarray(BEGIN_HEADER));
      }
      case GO_ON:
        return frame ? fill(frame, message.subarray(GO_ON_HEADER)) : WRONG;
      default:
        return WRONG;
    }
  };
}

interface ConnectionListener {
  /** Our complete description, for the other side. */
  signal(description: string): void;
  opened(): void;
  frame(frame: Uint8Array): void;
  /** Total bytes of frames that went into the channel. */
  sent(bytes: number): void;
  /** The connection has ended, and not by `close`. Last call. */
  closed(): void;
}

export interface CarriedConnection {
  /** Takes the other side's description. */
  signal(description: string): void;
  /** Queues the frame, also before the connection is open. */
  send(frame: Uint8Array): void;
  close(): void;
}

interface CarriedConnectionDeps {
  readonly connection: RTCPeerConnection;
  readonly timers: Timers;
  /** Does this side make the offer? Otherwise the other side's offer comes first. */
  readonly offer: boolean;
  readonly listener: ConnectionListener;
}

export function openConnection({ connection, timers, offer, listener }: CarriedConnectionDeps): CarriedConnection {
  // A negotiated channel: both ends create it, and neither waits for the other to announce it.
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

  /** Runs a browser operation. Its failure ends the connection. */
  function attempt(task: () => Promise<void>) {
    task().catch(fail);
  }

  function put(message: Uint8Array<ArrayBuffer>): boolean {
    try {
      channel.send(message);
      return true;
    } catch {
      // The channel has closed, or its buffer is full. The connection cannot be used any more.
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
        connection.removeEventListener('icegatheringstatechange', check);
        resolve();
      };
      const check = () => {
        if (connection.iceGatheringState === 'complete') done();
      };
      const cancel = timers.after(DIRECT.gatherMs, done);
      connection.addEventListener('icegatheringstatechange', check);
      check();
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
    // Before the channel is open, the worker keeps the time: the answer to a pasted text may come
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

export interface CarrierPort {
  call(name: 'direct', report: DirectReport): Promise<null>;
  subscribe(listener: (news: WorkerNews) => void): () => void;
}

export interface CarrierDeps {
  readonly dataWorker: CarrierPort;
  /** Absent in old browsers. There only one tab works at a time, so no lock is needed. */
  readonly locks: LockManager | undefined;
  readonly newConnection: () => RTCPeerConnection;
  readonly timers: Timers;
}

export interface Carrier {
  /** Closes every connection and lets the next tab carry. */
  close(): void;
}

export function createCarrier({ dataWorker, locks, newConnection, timers }: CarrierDeps): Carrier {
  const connections = new Map<string, CarriedConnection>();
  const closing = new AbortController();
  let carrying = false;
  let release: () => void = () => undefined;

  function report(said: DirectReport) {
    // A worker that refuses the report has another version. Close: another tab may fit it.
    dataWorker.call('direct', said).catch(close);
  }

  function closeConnections() {
    for (const connection of connections.values()) connection.close();
    connections.clear();
  }

  function begin() {
    closeConnections();
    report({ kind: 'ready' });
  }

  function open(id: string, offer: boolean) {
    if (connections.has(id)) return;
    connections.set(
      id,
      openConnection({
        connection: newConnection(),
        timers,
        offer,
        listener: {
          signal: (data) => report({ kind: 'signal', connection: id, data }),
          opened: () => report({ kind: 'opened', connection: id }),
          frame: (frame) => report({ kind: 'frame', connection: id, frame }),
          sent: (bytes) => report({ kind: 'sent', connection: id, bytes }),
          closed() {
            connections.delete(id);
            report({ kind: 'closed', connection: id });
          },
        },
      }),
    );
  }

  function follow(order: DirectOrder) {
    const connection = connections.get(order.connection);
    switch (order.kind) {
      case 'open':
        return open(order.connection, order.offer);
      case 'signal':
        return connection?.signal(order.data);
      case 'frame':
        return connection?.send(order.frame);
      case 'close':
        connection?.close();
        connections.delete(order.connection);
        return;
    }
  }

  const unsubscribe = dataWorker.subscribe((news) => {
    if (!carrying) return;
    if (news.news === 'direct') follow(news.order);
    // The worker has restarted and knows of no connections.
    else if (news.news === 'welcome') begin();
  });

  function close() {
    if (closing.signal.aborted) return;
    closing.abort();
    carrying = false;
    unsubscribe();
    closeConnections();
    release();
  }

  async function carry() {
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    if (closing.signal.aborted) return;
    carrying = true;
    begin();
    await released;
  }

  if (locks) {
    locks.request(DIRECT.lock, { signal: closing.signal }, carry).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
  } else void carry();

  return { close };
}

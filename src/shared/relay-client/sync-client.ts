/**
 * The client of a device’s sync: the relay’s calls about households (registering a device, offers
 * to join, recovery), and the sync socket.
 */
import { fromRelaySchema } from '../protocol/sync/control.ts';
import type { Called, Socket, SocketItem, SyncRelay } from '../protocol/sync/relay-connection.ts';
import { parseJson } from '../domain/platform/json.ts';
import type { Timers } from '../domain/platform/timers.ts';
import { syncEndpoints } from '../protocol/endpoints/sync.ts';
import { RELAY_TIMES } from './settings.ts';
import { protocolsOf } from './page-key.ts';
import { createRelayClient, type SendDeps } from './client.ts';
import type { RelayResult } from './result.ts';

// The sync socket: one WebSocket to the relay. It parses text messages and passes binary ones on.

interface SyncSocketDeps {
  readonly WebSocket: typeof WebSocket;
  /** `wss://…` or `ws://…`, without a trailing slash. */
  readonly baseUrl: string;
  readonly timers: Timers;
  /** The page key. Null: none. */
  readonly key: string | null;
}

/**
 * Opens a socket. `listener` is notified once when the socket is lost, and of nothing after that.
 */
export function openSyncSocket(
  { WebSocket, baseUrl, timers, key }: SyncSocketDeps,
  listener: (item: SocketItem) => void,
): Socket {
  const socket = new WebSocket(`${baseUrl}/api/sync/socket`, protocolsOf(key));
  socket.binaryType = 'arraybuffer';
  let over = false;
  let watching = false;

  function lose(reason: string) {
    if (over) return;
    over = true;
    socket.close();
    listener({ kind: 'lost', reason });
  }
  socket.addEventListener('message', ({ data }) => {
    if (over) return;
    if (data instanceof ArrayBuffer) {
      listener({ kind: 'frame', frame: new Uint8Array(data) });
      return;
    }
    const message = fromRelaySchema.safeParse(typeof data === 'string' ? parseJson(data) : null);
    if (message.success) listener({ kind: 'text', message: message.data });
    // The relay has another version. It closes the socket where this client must understand the
    // message.
  });
  socket.addEventListener('error', () => lose('The sync socket could not be opened, or broke.'));
  socket.addEventListener('close', ({ reason }) => lose(reason || 'The relay closed the sync socket.'));

  /**
   * A WebSocket has no event for an emptied buffer, so the client polls `bufferedAmount` while it
   * is not empty.
   */
  function watch() {
    if (watching || over) return;
    watching = true;
    timers.after(RELAY_TIMES.drainPoll, () => {
      watching = false;
      if (over) return;
      if (socket.bufferedAmount === 0) listener({ kind: 'drained' });
      else watch();
    });
  }

  const send = (data: string | Uint8Array<ArrayBuffer>) => {
    if (!over && socket.readyState === WebSocket.OPEN) socket.send(data);
    if (socket.bufferedAmount > 0) watch();
  };
  return {
    text: (message) => send(JSON.stringify(message)),
    frame: (bytes) => send(new Uint8Array(bytes)),
    buffered: () => socket.bufferedAmount,
    close() {
      over = true;
      socket.close();
    },
  };
}

const PROBLEM_NAME = /^about:roost\/(.+)$/;

function called<Value>(result: RelayResult<Value>): Called<Value> {
  if (result.ok) return result;
  const { problem } = result;
  const refused = { ok: false, status: null, type: null, reason: problem.message, box: null } as const;
  switch (problem.kind) {
    case 'unreachable':
    case 'timeout':
      return refused;
    case 'locked-out':
      return { ...refused, status: 401 };
    case 'unreadable':
      return { ...refused, status: problem.status };
    case 'refused': {
      const { type, box } = problem.problem;
      return {
        ...refused,
        status: problem.status,
        type: PROBLEM_NAME.exec(type)?.[1] ?? null,
        box: typeof box === 'string' ? box : null,
      };
    }
  }
}

export function createSyncClient(deps: SendDeps): SyncRelay {
  const client = createRelayClient(syncEndpoints, deps);
  const methods = Object.entries<(said: never) => Promise<RelayResult<unknown>>>(client).map(
    ([name, call]) => [name, async (said: never) => called(await call(said))] as const,
  );
  // Each method wraps one of the client's and translates its result.
  return Object.fromEntries(methods) as unknown as SyncRelay;
}

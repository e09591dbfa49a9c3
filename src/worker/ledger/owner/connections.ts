/**
 * How tabs reach this worker: through the ports of a SharedWorker, or over a channel from a
 * dedicated one.
 */
import type { FromOwner } from '../../../shared/protocol/owner-rpc.ts';
import type { RpcServer } from '../../../shared/rpc/server.ts';
import type { OwnerNews } from '../../../shared/protocol/worker.ts';
import { inOneGo, membersOf, tabGone, type ToTab, type FromTab, type Hello } from '../tab.ts';
import { z } from 'zod';
import { OWNER_CONNECTION } from '../settings.ts';

/** What a tab may say on a connection, as the owner reads it. */
const helloSchema: z.ZodType<Hello> = z.object({ from: z.string(), hello: z.literal(true) });
const fromTabSchema: z.ZodType<FromTab> = z.union([helloSchema, z.object({ from: z.string(), message: z.unknown() })]);

type OwnerServer = RpcServer<OwnerNews>;

/** Each `connect` event of a SharedWorker brings the port of one tab. */
export function servePorts(scope: EventTarget, server: OwnerServer, locks: LockManager, onConnect: () => void): void {
  scope.addEventListener('connect', (event) => {
    if (!(event instanceof MessageEvent)) return;
    const [port] = event.ports;
    if (!port) return;
    const connection = server.connect(inOneGo<FromOwner>((messages) => port.postMessage(messages)));
    port.addEventListener('message', ({ data }) => {
      // A list is of calls, and the common case.
      const hello = Array.isArray(data) ? null : helloSchema.safeParse(data);
      if (!hello?.success) {
        for (const message of membersOf(data)) connection.take(message);
        return;
      }
      void tabGone(locks, hello.data.from).then(() => {
        connection.leave();
        port.close();
      });
    });
    port.start();
    onConnect();
  });
}

/**
 * Begins to answer on the channel. Call when the ledger is ours: two owners must not answer one
 * call.
 */
export function serveChannel(server: OwnerServer, locks: LockManager, onConnect: () => void): void {
  const channel = new BroadcastChannel(OWNER_CONNECTION.channel);
  const connections = new Map<string, ReturnType<OwnerServer['connect']>>();
  const post = (message: ToTab) => channel.postMessage(message);
  const join = (tab: string) => {
    const held = connections.get(tab);
    if (held) return held;
    const connection = server.connect(inOneGo<FromOwner>((message) => post({ to: tab, message })));
    connections.set(tab, connection);
    onConnect();
    void tabGone(locks, tab).then(() => {
      connection.leave();
      connections.delete(tab);
    });
    return connection;
  };
  channel.addEventListener('message', ({ data }) => {
    const parsed = fromTabSchema.safeParse(data);
    if (!parsed.success) return;
    const connection = join(parsed.data.from);
    if ('message' in parsed.data) for (const message of membersOf(parsed.data.message)) connection.take(message);
  });
  post({ owner: true });
}

/** How tabs reach this worker: through the ports of a SharedWorker, or over a channel from a dedicated one. */
import { fromTabSchema, tabLock, type ToTab } from '../line.ts';
import { OWNER_LINE } from '../settings.ts';
import type { Desk } from './desk.ts';

/** Each `connect` event of a SharedWorker brings the port of one tab. */
export function servePorts(scope: EventTarget, desk: Desk, onConnect: () => void): void {
  scope.addEventListener('connect', (event) => {
    if (!(event instanceof MessageEvent)) return;
    const [port] = event.ports;
    if (!port) return;
    const line = desk.connect((message) => port.postMessage(message));
    port.addEventListener('message', ({ data }) => line.take(data));
    // Where browsers tell that a tab has gone; elsewhere its port swallows what is sent.
    port.addEventListener('close', () => line.leave());
    port.start();
    onConnect();
  });
}

/** Begins to answer on the channel. Call when the ledger is ours: two owners must not answer one call. */
export function serveChannel(desk: Desk, locks: LockManager, onConnect: () => void): void {
  const channel = new BroadcastChannel(OWNER_LINE.channel);
  const lines = new Map<string, ReturnType<Desk['connect']>>();
  const post = (message: ToTab) => channel.postMessage(message);
  const join = (tab: string) => {
    const held = lines.get(tab);
    if (held) return held;
    const line = desk.connect((message) => post({ to: tab, message }));
    lines.set(tab, line);
    onConnect();
    // The lock comes to us when the tab is gone.
    void locks.request(tabLock(tab), () => {
      line.leave();
      lines.delete(tab);
    });
    return line;
  };
  channel.addEventListener('message', ({ data }) => {
    const parsed = fromTabSchema.safeParse(data);
    if (!parsed.success) return;
    const line = join(parsed.data.from);
    if ('message' in parsed.data) line.take(parsed.data.message);
  });
  post({ owner: true });
}

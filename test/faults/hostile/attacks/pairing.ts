/**
 * Offers, device codes and recovery boxes without end, and noise on the sockets of synchronisation.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { OFFER_SLOTS } from '../../../../src/shared/protocol/sync/control.ts';
import { openSocket, type TestSocket } from '../../../support/sync-device.ts';
import type { Attack } from '../attack.ts';

export const pairing: Attack = {
  name: 'pairing',
  async run({ target, of, int, bytes, call, random }) {
    const id = () => bytes(16).toString('base64url');
    for (let left = int(3, 10); left > 0; left--) {
      const [method, path] = of([
        ['PUT', `/api/sync/offers/${id()}`],
        ['DELETE', `/api/sync/offers/${id()}`],
        ['PUT', `/api/sync/offers/${id()}/${of([...OFFER_SLOTS, 'x'])}`],
        ['POST', '/api/device-codes'],
        ['GET', `/api/sync/recoveries/${id()}`],
        ['PUT', `/api/sync/households/${id()}`],
      ] as const);
      await call(method, path, method === 'GET' ? {} : { json: of<unknown>([{}, { household: id(), device: id() }]) });
    }
    const home = { url: target.url, signIn: () => Promise.resolve(target.second) };
    const socket: TestSocket | null = await openSocket(home as never).catch(() => null);
    if (!socket) return;
    for (let left = int(1, 10); left > 0; left--)
      if (random() < 0.5) socket.sendFrame(new Uint8Array(bytes(int(0, 200_000))));
      else socket.socket.send(of(['{}', '[', '{"kind":"hello"}', '{"kind":"ping"}', 'x'.repeat(int(0, 100_000))]));
    await Promise.race([socket.closed, sleep(1_000)]);
    socket.socket.terminate();
  },
};

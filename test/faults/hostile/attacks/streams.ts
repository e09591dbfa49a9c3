/** Event streams that are opened and never read, or left at once; cursors that no log has. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { headersOf } from '../../../support/sign-in.ts';
import { FROM, type Attack } from '../attack.ts';

export const streams: Attack = {
  name: 'streams',
  async run({ target, of, int, random }) {
    const own = Object.entries(headersOf(target.second))
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('');
    const open: Socket[] = [];
    for (let left = int(2, 12); left > 0; left--) {
      const socket = connect({ host: '127.0.0.1', port: target.port, localAddress: FROM });
      socket.on('error', () => undefined);
      open.push(socket);
      const path = of([
        '/api/events',
        '/api/events?after=0',
        '/api/events?after=99999999999',
        '/api/events?after=-1&log=%00',
      ]);
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${target.port}\r\n${own}\r\n`);
      if (random() < 0.5) socket.pause();
    }
    await sleep(int(200, 1_500));
    for (const socket of open) socket.destroy();
  },
};

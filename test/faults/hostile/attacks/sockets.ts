/**
 * Whoever can reach the port and nothing more: half a line, a reset, headers without end, an
 * upgrade that nobody asked for.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FROM, type Attack } from '../attack.ts';

const HEADS = [
  'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n',
  'GET /api/sync/socket HTTP/1.1\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  'POST /api/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999\r\n\r\n{"text":"',
  'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'GET /enter?code=x HTTP/1.0\r\n\r\nGET /api/health HTTP/1.1\r\n\r\n'.repeat(20),
  `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(2_000)}`,
  `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n`,
];

export const sockets: Attack = {
  name: 'sockets',
  async run({ target, of, int, random }) {
    const open: Socket[] = [];
    for (let left = int(10, 60); left > 0; left--) {
      const socket = connect({ host: '127.0.0.1', port: target.port, localAddress: FROM });
      socket.on('error', () => undefined);
      open.push(socket);
      const head = of(HEADS);
      socket.once('connect', () => {
        socket.write(head.slice(0, Math.ceil(head.length * of([1, 1, random()]))), 'latin1');
        if (random() < 0.3) socket.resetAndDestroy();
      });
    }
    await sleep(int(100, 1_000));
    for (const socket of open) socket.destroy();
  },
};

/**
 * A relay that is told to end while clients reset what they have open, with TLS and without: it
 * ends in good order.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as secure } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { rawRequest } from '../support/raw-http.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { headersOf, keyIn } from '../support/sign-in.ts';
import { CA, secureRequest, TLS_FILES } from '../support/tls.ts';

const UPGRADE = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
];
/** A busy machine is not a failure. */
const ANSWERED_WITHIN_MS = 30_000;

let relay: TestRelay | null = null;
afterEach(async () => {
  await relay?.kill('SIGKILL');
  relay = null;
});

describe.each([
  ['plain', []],
  ['TLS', ['--tls-cert', TLS_FILES.localhost.cert, '--tls-key', TLS_FILES.localhost.key]],
] as const)('By %s', (kind, args) => {
  async function open(port: number): Promise<{ readonly write: (text: string) => void; readonly raw: Socket }> {
    const raw = connect({ host: '127.0.0.1', port });
    raw.on('error', () => undefined);
    const socket = kind === 'TLS' ? secure({ socket: raw, ca: CA, servername: 'localhost' }) : raw;
    socket.on('error', () => undefined);
    socket.resume();
    await new Promise((resolve) => socket.once(kind === 'TLS' ? 'secureConnect' : 'connect', resolve));
    return { write: (text) => void socket.write(text), raw };
  }

  const get = async (port: number, path: string) =>
    kind === 'TLS'
      ? await secureRequest({ port, path, headers: { host: `127.0.0.1:${port}` } })
      : await rawRequest({ port, path, timeoutMs: ANSWERED_WITHIN_MS });

  const start = async () => (relay = await startRelay({ args }));

  it('an upgrade and then a reset ends nothing', async () => {
    const { port } = await start();
    for (const path of ['/api/sync/socket', '/api/events', '/'])
      for (let round = 0; round < 40; round++) {
        const { write, raw } = await open(port);
        write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${UPGRADE.join('\r\n')}\r\n\r\n`);
        if (round % 2 === 0) await sleep(round / 4);
        raw.resetAndDestroy();
      }
    await sleep(50);
    expect((await get(port, '/api/health')).status).toBe(200);
  });

  it('a reset in the middle of what is said at its end does not end it', async () => {
    const started = await start();
    const { port } = started;
    const { pathname, search } = new URL(started.link);
    const entered = await get(port, pathname + search);
    const cookie = String(entered.headers['set-cookie']).split(';')[0] ?? '';
    const own = Object.entries(headersOf({ cookie, key: keyIn(entered.text) ?? '' }));
    const head = (path: string, lines: readonly string[]) =>
      `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
    const mine = own.map(([name, value]) => `${name}: ${value}`);
    const requests = [
      head('/api/events', mine),
      head('/api/sync/socket', [...UPGRADE, ...mine]),
      head('/api/sync/socket', UPGRADE),
    ];
    const clients = await Promise.all(Array.from({ length: 36 }, () => open(port)));
    const reset = (which: number) => {
      for (const [i, { raw }] of clients.entries()) if (i % 4 === which) raw.resetAndDestroy();
    };
    for (const [i, { write }] of clients.entries()) if (i % 3 !== 2) write(requests[i % 3] ?? '');
    await sleep(100);
    // These are being refused when the end comes.
    for (const [i, { write }] of clients.entries()) if (i % 3 === 2) write(requests[2] ?? '');
    reset(0);
    const ending = started.kill('SIGTERM');
    reset(1);
    for (const which of [2, 3]) {
      await sleep(5);
      reset(which);
    }
    const { code, stderr } = await ending;
    expect({ code, broke: /broke|could not be closed|Error/.exec(stderr) }).toEqual({ code: 0, broke: null });
    relay = null;
  });
});

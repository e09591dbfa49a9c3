/**
 * Whoever can reach the port and nothing more: what they send must end neither the relay nor
 * anybody else's connection.
 */
import { rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HTTP_LIMITS, listen } from '../../server/http/listen.ts';
import { openEventSource } from '../support/event-source.ts';
import { rawRequest } from '../support/raw-http.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';

const UPGRADE = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
];
/** More than the relay takes at all. */
const FLOOD = HTTP_LIMITS.here + 300;
/** ms between the relay's answer to what it refuses, and the end of that connection. */
const GONE_WITHIN = 1_000;

const START = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am Julian.', transcript: null } };

let relay: TestRelay;
let home: string;
beforeAll(async () => {
  home = await createHome();
  relay = await startRelay({ home });
});
afterAll(async () => {
  expect((await relay.stop()).code).toBe(0);
});

const headOf = (path: string, ...lines: readonly string[]) =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${relay.port}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const health = (timeoutMs = 5_000) => rawRequest({ port: relay.port, path: '/api/health', timeoutMs });

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: relay.port, allowHalfOpen: true }, () => resolve(socket));
    socket.once('error', reject);
    socket.on('error', () => undefined);
  });
}

/** What comes until the other end is done. */
function said(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    socket.once('end', () => resolve(text));
    socket.once('close', () => resolve(text));
  });
}

const gone = (socket: Socket) =>
  new Promise<void>((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));

describe('An upgrade that nobody asked for', () => {
  it.each(['/api/sync/socket', '/api/events', '/', '/enter?code=x'])(
    '%s without a cookie, and then a reset, ends nothing',
    async (path) => {
      for (let round = 0; round < 40; round++) {
        const socket = await open();
        socket.write(headOf(path, ...UPGRADE, `origin: http://127.0.0.1:${relay.port}`));
        if (round % 2 === 0) await sleep(round / 4);
        socket.resetAndDestroy();
      }
      await sleep(50);
      expect((await health(30_000)).status).toBe(200);
    },
  );

  it('refuses an upgrade except at a socket, and keeps no stream open', async () => {
    const own = Object.entries(await relay.headers()).map(([name, value]) => `${name}: ${value}`);
    const asking = Array.from({ length: 60 }, async () => {
      const socket = await open();
      const answer = said(socket);
      socket.write(headOf('/api/events', ...UPGRADE, ...own));
      const text = await answer;
      socket.destroy();
      return text;
    });
    const answers = await Promise.race([Promise.all(asking), sleep(5_000).then(() => ['no answer'])]);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    const leaving = new AbortController();
    const stream = await relay.fetch('/api/events', { signal: leaving.signal });
    leaving.abort();
    expect(stream.status).toBe(200);
  });

  it('closes a refused upgrade within a second, even if its client stays', async () => {
    for (const lines of [UPGRADE, ['x: \u0001']]) {
      const socket = await open();
      const answer = said(socket);
      socket.write(headOf('/api/sync/socket', ...lines));
      expect(await answer).toMatch(/^HTTP\/1\.1 4\d\d /);
      // Half of it is closed. The client goes on talking, as one would who wants to be kept.
      const talk = setInterval(() => socket.write('x'), 20);
      const ended = await Promise.race([
        gone(socket).then(() => 'gone'),
        sleep(GONE_WITHIN + 1_000).then(() => 'held'),
      ]);
      clearInterval(talk);
      socket.destroy();
      expect(ended).toBe('gone');
    }
  });
});

describe('Thousands who never finish their first line', () => {
  it('leave room for other clients', { timeout: 60_000 }, async () => {
    const sockets: Socket[] = [];
    try {
      for (let batch = 0; batch < FLOOD / 200; batch++) {
        sockets.push(
          ...Array.from({ length: 200 }, () => {
            const socket = connect({ host: '127.0.0.1', port: relay.port });
            socket.on('error', () => undefined);
            socket.write('GET /api/health HTTP/1.1\r\nx: ');
            return socket;
          }),
        );
        await sleep(20);
      }
      // Every place is taken, and well before anything is closed for being slow.
      const closed = () => sockets.filter((socket) => socket.closed).length;
      await expect
        .poll(closed, { timeout: HTTP_LIMITS.headersTimeout / 2 })
        .toBeGreaterThanOrEqual(FLOOD - HTTP_LIMITS.here);
      for (let asked = 0; asked < 10; asked++) expect((await health()).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

describe('A request that never ends its headers', () => {
  it(
    'answers and closes a request with endless headers, even if its client keeps sending lines',
    { timeout: 10_000 },
    async () => {
      const http = await listen({ host: '127.0.0.1', port: 0, times: { headersTimeout: 300, checkInterval: 50 } });
      http.serve((_, response) => response.end('ok'));
      const socket = connect({ host: '127.0.0.1', port: http.port, allowHalfOpen: true });
      socket.on('error', () => undefined);
      const heard = said(socket);
      socket.write('GET / HTTP/1.1\r\n');
      const lines = setInterval(() => socket.write('x: y\r\n'), 50);
      try {
        expect(await heard).toMatch(/^HTTP\/1\.1 408 /);
        await expect.poll(() => socket.closed, { timeout: GONE_WITHIN * 5 }).toBe(true);
      } finally {
        clearInterval(lines);
        socket.destroy();
        await http.close();
      }
    },
  );
});

describe('Room by where a connection comes from', () => {
  /** Of this machine, and not loopback: to the server, that is elsewhere. */
  const outer = Object.values(networkInterfaces())
    .flat()
    .find((address) => address?.family === 'IPv4' && !address.internal)?.address;
  const to = (host: string, port: number): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect({ host, port }, () => resolve(socket));
      socket.on('error', () => undefined);
    });
  const open = (sockets: readonly Socket[]) => sockets.filter((socket) => !socket.closed).length;

  it.skipIf(outer === undefined)(
    "fills only the address's own share of connections, and closes idle ones first",
    async () => {
      const http = await listen({ host: '0.0.0.0', port: 0, limits: { here: 3, elsewhere: 6, perAddress: 4 } });
      const held: (() => void)[] = [];
      http.serve((request, response) =>
        request.url === '/held' ? held.push(() => response.end('held')) : response.end('ok'),
      );
      const sockets: Socket[] = [];
      try {
        for (let count = 0; count < 4; count++) sockets.push(await to(outer ?? '', http.port));
        for (const socket of sockets.slice(0, 3)) socket.write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n');
        await expect.poll(() => held.length).toBe(3);
        // The fourth, which does nothing, makes way for a fifth; nobody makes way for a sixth once
        // all four are at work.
        const fifth = await to(outer ?? '', http.port);
        await expect.poll(() => sockets[3]?.closed).toBe(true);
        fifth.write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n');
        await expect.poll(() => held.length).toBe(4);
        const sixth = await to(outer ?? '', http.port);
        await expect.poll(() => sixth.closed).toBe(true);
        expect(open(sockets)).toBe(3);
        for (const go of held) go();
        sockets.push(fifth);
      } finally {
        for (const socket of sockets) socket.destroy();
        await http.close();
      }
    },
  );

  it.skipIf(outer === undefined)('reserves room for this machine, and lets other machines use none of it', async () => {
    const http = await listen({ host: '0.0.0.0', port: 0, limits: { here: 3, elsewhere: 3, perAddress: null } });
    const held: (() => void)[] = [];
    http.serve((request, response) =>
      request.url === '/held' ? held.push(() => response.end('held')) : response.end('ok'),
    );
    const sockets: Socket[] = [];
    const fill = async (host: string) => {
      for (let count = 0; count < 3; count++) {
        const socket = await to(host, http.port);
        socket.write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n');
        sockets.push(socket);
      }
      await expect.poll(() => held.length).toBe(3);
      const over = await to(host, http.port);
      await expect.poll(() => over.closed).toBe(true);
    };
    const asked = async (host: string) => {
      const socket = await to(host, http.port);
      socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      return await said(socket);
    };
    try {
      for (const [full, other] of [
        [outer ?? '', '127.0.0.1'],
        ['127.0.0.1', outer ?? ''],
      ] as const) {
        await fill(full);
        expect(await asked(other)).toMatch(/ok$/);
        for (const go of held.splice(0)) go();
        for (const socket of sockets.splice(0)) socket.destroy();
      }
    } finally {
      for (const socket of sockets) socket.destroy();
      await http.close();
    }
  });
});

describe('A fault of our own', () => {
  it('ends the session properly, and is not called a failed start', async () => {
    // Whatever it is that nobody caught.
    const fault = `data:text/javascript,${encodeURIComponent("process.on('SIGUSR2', () => { throw new Error('out of the blue'); });")}`;
    const home = await createHome();
    const broken = await startRelay({
      home,
      env: { NODE_OPTIONS: `--import ${fault}` },
      args: ['--rehearsal', '{"delayMs":0}'],
    });
    expect((await broken.fetch('/api/sessions', { method: 'POST', json: START })).status).toBe(201);
    const end = await broken.kill('SIGUSR2');
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('Roost broke, and ends: Error: out of the blue');
    expect(end.stderr).not.toContain('cannot start');
    // By itself, and not by Node, which ends with a line of its own.
    expect(end.stderr).not.toMatch(/^Node\.js v/m);
    // Its last line says that it ended so, before anybody starts it again.
    expect(end.stderr).not.toMatch(/could not be closed|could be closed in time/);
    const again = await startRelay({ home, signIn: await broken.signIn() });
    try {
      const stream = await openEventSource((signal) => again.fetch('/api/events?after=0', { signal }));
      const messages = await stream.until((all) => all.some(({ event }) => event === 'snapshot'));
      stream.close();
      expect(messages.filter(({ event }) => event === 'session-ended').map(({ data }) => data)).toEqual([
        expect.objectContaining({ reason: 'crash' }),
      ]);
    } finally {
      await again.stop();
      await rm(home, { recursive: true });
    }
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { snapshotSchema } from '../../../src/shared/protocol/events.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { openEventSource } from '../../support/event-source.ts';
import { relayMain } from '../../support/relay-build.ts';
import { createHome, databaseOf, startRelay, type TestRelay } from '../../support/relay.ts';
import { SHORT_LIVED } from '../../support/short-lived.ts';
import { STORES, type StoreKind } from '../../support/stores.ts';

const START = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am Julian.', transcript: null } };
const SLOW = ['--rehearsal', '{"delayMs":200,"wordMs":50}'];

/** ms */
const GONE_WITHIN_MS = 30_000;

describe.each(STORES)('a relay with its store on %s', (kind: StoreKind) => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  /** A home with its store on `kind`. */
  async function place() {
    const home = await createHome({ store: kind });
    cleanups.push(() => rm(home, { recursive: true, force: true }));
    return { home };
  }
  async function start(options: Parameters<typeof startRelay>[0]): Promise<TestRelay> {
    const relay = await startRelay(options);
    cleanups.push(() => relay.stop());
    return relay;
  }
  async function stateOf(relay: TestRelay) {
    const stream = await openEventSource((signal) => relay.fetch('/api/events', { signal }));
    const messages = await stream.until((all) => all.some(({ event }) => event === 'snapshot'));
    stream.close();
    return { messages, snapshot: snapshotSchema.parse(messages.at(-1)?.data) };
  }
  async function talk(relay: TestRelay): Promise<string> {
    const { sessionId } = await (await relay.fetch('/api/sessions', { method: 'POST', json: START })).json();
    const stream = await openEventSource((signal) => relay.fetch('/api/events', { signal }));
    await relay.fetch('/api/messages', { method: 'POST', json: { text: 'Tell me of the sea.', clientId: 'c1' } });
    await stream.until((all) => all.some(({ event }) => event === 'text'));
    stream.close();
    return String(sessionId);
  }

  // A signal is heard before the store is: each on one of them, and what a service manager sends on
  // both.
  it.each(kind === 'pglite' ? (['SIGTERM'] as const) : (['SIGINT', 'SIGTERM', 'SIGHUP'] as const))(
    'ends the session in mid-answer on %s, flushes, and exits with 0',
    async (signal) => {
      const options = await place();
      const relay = await start({ ...options, args: SLOW });
      const sessionId = await talk(relay);
      const signIn = await relay.signIn();
      const { code, signal: by } = await relay.kill(signal);
      expect({ code, by }).toEqual({ code: 0, by: null });
      const { messages, snapshot } = await stateOf(await start({ ...options, signIn }));
      expect(snapshot).toMatchObject({ session: null, lastEnd: { sessionId, reason: 'shutdown' } });
      const answers = messages.filter(
        ({ event, data }) => event === 'message' && JSON.stringify(data).includes('"role":"assistant"'),
      );
      expect(answers.length, 'what was said so far is kept as a message').toBeGreaterThan(0);
    },
  );

  it('ends where npm was ended, which tells only the shell that it runs `npm start` in', async () => {
    const { home } = await place();
    const relay = [process.execPath, ...SHORT_LIVED, await relayMain(), '--port', '0', '--home', home, '--no-open'];
    const shell = spawn('sh', ['-c', '"$@"; true', 'sh', ...relay], {
      env: { ...process.env, npm_lifecycle_event: 'start', DATABASE_URL: databaseOf(home) },
      stdio: ['ignore', 'pipe', 'ignore'],
      // So that nothing is left where this fails.
      detached: true,
    });
    try {
      const closed = once(shell, 'close', { signal: AbortSignal.timeout(GONE_WITHIN_MS) });
      let said = '';
      await new Promise<void>((resolve) =>
        shell.stdout.setEncoding('utf8').on('data', (text: string) => {
          said += text;
          if (said.includes('/enter?')) resolve();
        }),
      );
      shell.kill('SIGTERM');
      // Its output is ours until the relay has gone, too.
      await closed;
    } finally {
      try {
        process.kill(-(shell.pid ?? 0), 'SIGKILL');
      } catch {
        // Nobody of it is left, as it should be.
      }
    }
  });

  it('closes after a kill, on its next start, what the kill left open', async () => {
    const options = await place();
    const relay = await start({ ...options, args: SLOW });
    const sessionId = await talk(relay);
    const signIn = await relay.signIn();
    await relay.kill('SIGKILL');
    const { messages, snapshot } = await stateOf(await start({ ...options, signIn }));
    expect(snapshot).toMatchObject({ session: null, lastEnd: { sessionId, reason: 'crash' } });
    expect(messages.filter(({ event }) => event === 'session-ended')).toHaveLength(1);
  });

  it('ends although somebody holds a half-made request open', async () => {
    const relay = await start(await place());
    const socket = connect(relay.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.write(
      `POST /api/messages HTTP/1.1\r\nHost: 127.0.0.1:${relay.port}\r\n${Object.entries(await relay.headers())
        .map(([name, value]) => `${name}: ${value}`)
        .join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    expect((await relay.fetch('/api/health')).status).toBe(200);
    const { code } = await relay.kill('SIGTERM');
    socket.destroy();
    expect(code).toBe(0);
  });
});

describe('a relay', () => {
  it('prints its link first, and nothing else on standard output', async () => {
    const relay = await startRelay();
    expect((await fetch(`${relay.url}/api/health`)).status).toBe(200);
    const { stdout, stderr } = await relay.stop();
    expect(stdout.trim()).toMatch(/^Open Roost: {2}http:\/\/127\.0\.0\.1:\d+\/enter\?code=[A-Za-z0-9_-]{43}$/);
    expect(stderr).toContain('a rehearsal mind answers');
  });

  it('answers what is no HTTP at all with a problem', async () => {
    const relay = await startRelay();
    try {
      const socket = connect(relay.port, '127.0.0.1');
      let said = '';
      socket.setEncoding('utf8').on('data', (text: string) => (said += text));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.write('GET / HTTP/1.1\r\nno colon\r\n\r\n');
      await closed;
      expect(said).toMatch(/^HTTP\/1\.1 400 /);
      expect(problemSchema.parse(JSON.parse(said.slice(said.indexOf('\r\n\r\n'))))).toMatchObject({
        type: 'about:roost/malformed',
      });
    } finally {
      await relay.stop();
    }
  });

  it('keeps a small log that says what happened to it and not what was said', async () => {
    const home = await createHome();
    try {
      const relay = await startRelay({ home, args: SLOW });
      await relay.fetch('/api/sessions', { method: 'POST', json: START });
      await relay.fetch('/api/messages', { method: 'POST', json: { text: 'a secret word: xyzzy', clientId: 'c' } });
      await relay.kill('SIGTERM');
      const log = await readFile(join(home, 'logs/relay.log'), 'utf8');
      expect(log).toContain('The relay has started.');
      expect(log).not.toContain('xyzzy');
      expect(log).not.toContain(new URL(relay.link).searchParams.get('code'));
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { snapshotSchema } from '../../../src/shared/protocol/events.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { openEventSource } from '../../support/event-source.ts';
import { relayMain } from '../../support/relay-build.ts';
import { createHome, databaseOf, startRelay, type TestRelay } from '../../support/relay.ts';
import { STORES, type StoreKind } from '../../support/stores.ts';

const START = { human: { name: 'Ada' }, lead: { name: 'Julian', soul: 'I am Julian.', transcript: null } };
const SLOW = ['--rehearsal', '{"delayMs":200,"wordMs":50}'];

/** ms */
const GONE_WITHIN_MS = 30_000;

describe.each(STORES)('a relay with its store on %s', (kind: StoreKind) => {
  let home: string;
  let relay: TestRelay | null = null;
  beforeAll(async () => {
    home = await createHome({ store: kind });
  });
  afterAll(async () => {
    await relay?.stop();
    await rm(home, { recursive: true, force: true });
  });

  /** The relay of this home, which goes on where the one before it has ended. */
  async function running(): Promise<TestRelay> {
    return (relay ??= await startRelay({ home, args: SLOW }));
  }
  async function stateOf(now: TestRelay) {
    const stream = await openEventSource((signal) => now.fetch('/api/events', { signal }));
    const messages = await stream.until((all) => all.some(({ event }) => event === 'snapshot'));
    stream.close();
    return { messages, snapshot: snapshotSchema.parse(messages.at(-1)?.data) };
  }
  async function talk(now: TestRelay): Promise<string> {
    const { sessionId } = await (await now.fetch('/api/sessions', { method: 'POST', json: START })).json();
    const { messages } = await stateOf(now);
    const before = messages.filter(({ event }) => event === 'text').length;
    const stream = await openEventSource((signal) => now.fetch('/api/events', { signal }));
    await now.fetch('/api/messages', {
      method: 'POST',
      json: { text: 'Tell me of the sea.', clientId: String(sessionId) },
    });
    await stream.until((all) => all.filter(({ event }) => event === 'text').length > before);
    stream.close();
    return String(sessionId);
  }
  /** Ends it in mid-answer, and starts it again. */
  async function endsBy(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL') {
    const one = await running();
    const sessionId = await talk(one);
    const signIn = await one.signIn();
    relay = null;
    const end = await one.kill(signal);
    relay = await startRelay({ home, args: SLOW, signIn });
    const { messages, snapshot } = await stateOf(relay);
    const own = messages.filter(({ data }) => JSON.stringify(data).includes(sessionId));
    return { end, sessionId, snapshot, own };
  }

  // A signal is heard before the store is: each on one of them, and what a service manager sends on
  // both.
  it.each(kind === 'sqlite' ? (['SIGTERM'] as const) : (['SIGINT', 'SIGTERM', 'SIGHUP'] as const))(
    'ends the session in mid-answer on %s, flushes, and exits with 0',
    async (signal) => {
      const { end, sessionId, snapshot, own } = await endsBy(signal);
      expect({ code: end.code, by: end.signal }).toEqual({ code: 0, by: null });
      expect(snapshot).toMatchObject({ session: null, lastEnd: { sessionId, reason: 'shutdown' } });
      const answers = own.filter(
        ({ event, data }) => event === 'message' && JSON.stringify(data).includes('"role":"assistant"'),
      );
      expect(answers.length, 'what was said so far is kept as a message').toBeGreaterThan(0);
    },
  );

  it('closes after a kill, on its next start, what the kill left open', async () => {
    const { sessionId, snapshot, own } = await endsBy('SIGKILL');
    expect(snapshot).toMatchObject({ session: null, lastEnd: { sessionId, reason: 'crash' } });
    expect(own.filter(({ event }) => event === 'session-ended')).toHaveLength(1);
  });
});

describe('a relay', () => {
  it('prints its link first, answers what is no HTTP at all with a problem, and ends although somebody holds a half-made request open', async () => {
    const relay = await startRelay();
    expect((await fetch(`${relay.url}/api/health`)).status).toBe(200);

    const odd = connect(relay.port, '127.0.0.1');
    let said = '';
    odd.setEncoding('utf8').on('data', (text: string) => (said += text));
    const closed = new Promise((resolve) => odd.once('close', resolve));
    odd.write('GET / HTTP/1.1\r\nno colon\r\n\r\n');
    await closed;
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
    expect(problemSchema.parse(JSON.parse(said.slice(said.indexOf('\r\n\r\n'))))).toMatchObject({
      type: 'about:roost/malformed',
    });

    const half = connect(relay.port, '127.0.0.1');
    half.on('error', () => undefined);
    await new Promise<void>((resolve) => half.once('connect', resolve));
    const headers = Object.entries(await relay.headers()).map(([name, value]) => `${name}: ${value}`);
    half.write(
      `POST /api/messages HTTP/1.1\r\nHost: 127.0.0.1:${relay.port}\r\n${headers.join('\r\n')}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    expect((await relay.fetch('/api/health')).status).toBe(200);
    const { code, stdout, stderr } = await relay.kill('SIGTERM');
    half.destroy();
    expect(code).toBe(0);
    expect(stdout.trim()).toMatch(/^Open Roost: {2}http:\/\/127\.0\.0\.1:\d+\/enter\?code=[A-Za-z0-9_-]{43}$/);
    expect(stderr).toContain('No model is connected. You’re in the demo, and its answers are scripted.');
  });

  it.each(['start', 'npx'])(
    'ends where npm was ended, which tells only the shell that it runs in (%s)',
    async (event) => {
      const home = await createHome();
      const relay = [process.execPath, await relayMain(), '--port', '0', '--home', home, '--no-open'];
      const shell = spawn('sh', ['-c', '"$@"; true', 'sh', ...relay], {
        env: { ...process.env, npm_lifecycle_event: event, DATABASE_URL: databaseOf(home) },
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
        await rm(home, { recursive: true, force: true });
      }
    },
  );

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

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { StartError } from '../../../server/platform/errors.ts';
import { readTlsPair, type TlsFiles, type TlsWatch, watchTlsFiles } from '../../../server/http/listen.ts';
import { freePort } from '../../support/free-port.ts';
import { rawRequest } from '../../support/raw-http.ts';
import { runRelayCommand, startRelay, type TestRelay } from '../../support/relay.ts';
import { CA, secureRequest, TLS_FILES } from '../../support/tls.ts';
import { headersOf, keyIn } from '../../support/sign-in.ts';

const PUBLIC = 'roost.example.org';
const NOW = Date.parse('2030-01-01');

let folder: string;
let files: TlsFiles;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-tls-'));
  files = { cert: join(folder, 'own.crt'), key: join(folder, 'own.key') };
});
afterAll(() => rm(folder, { recursive: true }));
const put = async (from: TlsFiles) => {
  await copyFile(from.cert, files.cert);
  await copyFile(from.key, files.key);
};

describe('a certificate', () => {
  const complaint = async (
    given: Partial<TlsFiles>,
    { name = null, now = NOW }: { name?: string | null; now?: number } = {},
  ) => {
    const error: unknown = await readTlsPair({
      files: { ...TLS_FILES.localhost, ...given },
      name,
      now: () => now,
    }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof StartError)) throw new Error('it was taken');
    expect(error.message).not.toContain('\n');
    return error.message;
  };

  it('reads a certificate with its key, for all of its names', async () => {
    for (const name of ['localhost', PUBLIC, '127.0.0.1', null])
      expect(await readTlsPair({ files: TLS_FILES.localhost, name, now: () => NOW })).toEqual({
        cert: CA[0],
        key: expect.stringContaining('PRIVATE KEY'),
      });
  });

  it('refuses a certificate in one line that says what is wrong and what to do', async () => {
    const text = join(folder, 'text');
    await writeFile(text, 'no certificate');
    const locked = join(folder, 'locked');
    await writeFile(locked, '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n');
    expect(await complaint({ cert: join(folder, 'none') })).toMatch(
      /^The certificate .*none cannot be read \(ENOENT\)\. .* with --tls-cert\.$/,
    );
    expect(await complaint({ key: join(folder, 'none') })).toMatch(
      /^The key .*none cannot be read \(ENOENT\)\. .* with --tls-key\.$/,
    );
    expect(await complaint({ cert: folder })).toContain('cannot be read (EISDIR)');
    expect(await complaint({ cert: text })).toContain('holds no certificate in PEM form');
    expect(await complaint({ key: text })).toContain('holds no private key in PEM form');
    expect(await complaint({ key: locked })).toContain('is locked with a passphrase');
    expect(await complaint({ key: TLS_FILES.renewed.key })).toMatch(/^The key .* does not belong to the certificate /);
    expect(await complaint({}, { now: Date.parse('2121-01-01') })).toMatch(/ended on .*2120.*Renew it\.$/);
    expect(await complaint({}, { now: Date.parse('2019-01-01') })).toMatch(/is good only from .*2020/);
    expect(await complaint({}, { name: 'roost.example.com' })).toContain('is not for roost.example.com');
  });

  describe('that changes', () => {
    let watch: TlsWatch | null = null;
    afterEach(() => watch?.close());

    it('loads a changed certificate once both files match, and keeps the earlier one until then', async () => {
      await put(TLS_FILES.localhost);
      const taken: string[] = [];
      const refused: string[] = [];
      watch = watchTlsFiles({
        files,
        name: null,
        now: () => NOW,
        checkEveryMs: 20,
        onPair: ({ cert }) => taken.push(cert),
        onProblem: ({ message }) => refused.push(message),
      });
      await copyFile(TLS_FILES.renewed.cert, files.cert);
      await vi.waitFor(() => expect(refused).toEqual([expect.stringContaining('does not belong')]));
      expect(taken).toEqual([]);
      await copyFile(TLS_FILES.renewed.key, files.key);
      await vi.waitFor(() => expect(taken).toEqual([CA[1]]));
    });
  });
});

describe('a relay with a certificate of its own', () => {
  let relay: TestRelay;
  let cookie: string;
  let own: Record<string, string>;
  beforeAll(async () => {
    await put(TLS_FILES.localhost);
    relay = await startRelay({
      args: [
        '--tls-cert',
        files.cert,
        '--tls-key',
        files.key,
        '--host',
        '0.0.0.0',
        '--allow-remote',
        '--public-url',
        `https://${PUBLIC}`,
      ],
      port: await freePort(),
    });
  });
  afterAll(() => relay.stop());
  const call = (path: string, headers: Record<string, string> = {}) =>
    secureRequest({ port: relay.port, path, headers: { host: PUBLIC, ...headers } });

  it('lets a browser in by its link, with a cookie that goes over TLS alone', async () => {
    const { origin, pathname, search } = new URL(relay.link);
    expect(origin).toBe(`https://${PUBLIC}`);
    const entered = await call(pathname + search);
    expect(entered.status).toBe(200);
    const set = String(entered.headers['set-cookie']);
    expect(set).toMatch(/; HttpOnly; Secure; SameSite=Strict$/);
    cookie = set.split(';')[0] ?? '';
    const key = keyIn(entered.text) ?? '';
    own = headersOf({ cookie, key });
    expect((await call('/api/rehearsal', own)).status).toBe(200);
    expect((await call('/api/rehearsal', { ...own, origin: `https://${PUBLIC}` })).status).toBe(200);
    expect((await call('/api/rehearsal', { ...own, origin: `http://${PUBLIC}` })).status).toBe(403);
  });

  it('asks to be called by TLS only, but not for names that others share', async () => {
    expect((await call('/api/health')).headers['strict-transport-security']).toBe('max-age=31536000');
    const local = await call('/api/health', { host: `localhost:${relay.port}` });
    expect([local.status, local.headers['strict-transport-security']]).toEqual([200, undefined]);
  });

  it('answers under no other name, and not to plain HTTP', async () => {
    for (const host of ['0.0.0.0', `0.0.0.0:${relay.port}`, 'evil.example', `${PUBLIC}:80`])
      expect((await call('/api/health', { host })).status, host).toBe(403);
    await expect(rawRequest({ port: relay.port, path: '/api/health', headers: { host: PUBLIC } })).rejects.toThrow();
    expect((await call('/api/health')).status).toBe(200);
  });

  it('takes sockets, and requests that offer another protocol', async () => {
    const socket = new WebSocket(`wss://127.0.0.1:${relay.port}/api/sync/socket`, {
      agent: new Agent({ ca: CA, servername: 'localhost' }),
      headers: { host: PUBLIC, ...own, origin: `https://${PUBLIC}` },
    });
    const first = await new Promise((resolve, reject) =>
      socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString('utf8')))).once('error', reject),
    );
    expect(first).toMatchObject({ kind: 'challenge' });
    socket.terminate();
    expect((await call('/api/health', { connection: 'upgrade', upgrade: 'h2c' })).status).toBe(200);
  });

  it('shows a renewed certificate to whoever comes next, without a restart', async () => {
    expect((await call('/api/health')).subject).toBe('localhost');
    await put(TLS_FILES.renewed);
    process.kill(relay.pid, 'SIGHUP');
    await vi.waitFor(async () => expect((await call('/api/health')).subject).toBe('renewed'));
  });
});

it('a relay whose certificate cannot be used says so in one line, and does not start', async () => {
  const { code, stdout, stderr } = await runRelayCommand([
    '--port',
    '0',
    '--home',
    join(folder, 'home'),
    '--tls-cert',
    TLS_FILES.localhost.cert,
    '--tls-key',
    TLS_FILES.renewed.key,
  ]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^The key .* does not belong to the certificate .*\n$/);
});

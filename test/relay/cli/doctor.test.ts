/** `roost doctor`, on this machine and on one that lacks something. */
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHome, runRelayCommand, startRelay, type TestRelay } from '../../support/relay.ts';
import { STORE_FILE } from '../../../server/store/index.ts';
import { longTests } from '../../support/long-tests.ts';

const itLong = longTests('relay/cli/doctor.test.ts');

let home: string;
let folder: string;
let relay: TestRelay | null;
beforeEach(async () => {
  home = await createHome({ store: 'sqlite' });
  folder = await mkdtemp(join(tmpdir(), 'roost-doctor-'));
  relay = null;
});
afterEach(async () => {
  await relay?.stop();
  for (const path of [home, folder]) await rm(path, { recursive: true, force: true });
});

/** State and words by the name of the part. */
async function doctor(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const { code, stdout, stderr } = await runRelayCommand(['doctor', '--home', home, '--port', '0', ...args], env);
  expect(stderr).toBe('');
  const lines = stdout.trimEnd().split('\n');
  const parts = new Map(
    lines.map((line) => [line.slice(6, 16).trim(), line.slice(0, 6).trim() + ' ' + line.slice(16)]),
  );
  return { code, of: (name: string) => parts.get(name) ?? '', names: [...parts.keys()] };
}

describe('The doctor', () => {
  it('finds nothing wrong with a running relay, and leaves nothing in its home', async () => {
    relay = await startRelay({ home });
    const found = await doctor(['--port', String(relay.port)]);
    expect(found.code).toBe(0);
    expect(found.names).toEqual(['Node', 'Disk', 'Clock', 'Port', 'Store', 'Sandbox', 'git', 'Model', 'TLS', 'Phone']);
    expect(found.of('Port')).toContain(`the relay of this home runs at ${relay.url}`);
    expect(found.of('Store')).toContain('ok SQLite finds no fault');
    expect(await readdir(join(home, 'copies'))).toEqual([]);
  });

  itLong('fails for a used port, a full disk, a missing certificate and a model that does not answer', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const found = await doctor(
      [
        ...['--port', String(port), '--keep-free-mb', '999999999'],
        ...['--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')],
      ],
      { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' },
    );
    await new Promise((resolve) => other.close(resolve));
    expect(found.code).toBe(1);
    expect(found.of('Port')).toMatch(/^fail .* is used by another program. End that, or name another port/);
    expect(found.of('Disk')).toMatch(/^fail .* make room/);
    expect(found.of('TLS')).toMatch(/^fail .*cert\.pem/);
    expect(found.of('Model')).toMatch(/^fail http:\/\/127\.0\.0\.1:1\/? does not answer/);
  });

  itLong('fails for a damaged store, and leaves it as it is', async () => {
    relay = await startRelay({ home });
    await relay.stop();
    relay = null;
    await writeFile(join(home, 'store', STORE_FILE), 'this is no database, '.repeat(500));
    const found = await doctor();
    expect(found.code).toBe(1);
    expect(found.of('Store')).toMatch(/^fail The store in .* The file is damaged/);
  });

  itLong('warns of an old or missing git, without which Roost runs', async () => {
    const git = join(folder, 'git');
    await writeFile(git, '#!/bin/sh\necho git version 2.34.1\n');
    await chmod(git, 0o700);
    const path = `${folder}:${process.env['PATH']}`;
    const old = await doctor([], { PATH: path });
    expect(old.of('git')).toBe('warn 2.34.1. Projects need 2.38 or later, to merge: install a newer git.');
    expect(old.code).toBe(0);
    const none = await doctor([], { PATH: '/nowhere' });
    expect(none.of('git')).toMatch(/^warn not installed/);
    expect(none.of('Sandbox')).toMatch(/^warn .*bubblewrap/);
  });
});

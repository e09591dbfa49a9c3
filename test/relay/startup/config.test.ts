import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig, type Config } from '../../../server/startup/config.ts';
import { COMMANDS } from '../../../server/cli/index.ts';
import { helpText } from '../../../server/startup/terminal.ts';
import { SETTINGS } from '../../../server/startup/settings.ts';
import { StartError } from '../../../server/platform/errors.ts';
import { createHome, runRelayCommand, startRelay, type TestRelay } from '../../support/relay.ts';
import type { StoreKind } from '../../support/stores.ts';

function configOf(args: readonly string[] = [], env: Record<string, string> = {}): Config {
  const config = readConfig(args, env);
  if (config === null) throw new Error('help was asked for');
  return config;
}

function complaintOf(args: readonly string[], env: Record<string, string> = {}): string {
  try {
    readConfig(args, env);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    expect(error.exitCode).toBe(2);
    expect(error.message).not.toContain('\n');
    return error.message;
  }
  throw new Error(`${args.join(' ')} was taken`);
}

describe('the configuration', () => {
  it('needs no settings', () => {
    expect(configOf()).toMatchObject({
      port: 4747,
      host: '127.0.0.1',
      home: join(homedir(), '.roost'),
      open: true,
      publicUrl: null,
      tls: null,
      proxied: false,
      databaseUrl: null,
      messagesApi: null,
      rehearsal: { seed: 1, delayMs: 400, fail: [] },
      cookieMs: 90 * 86_400_000,
      linkMs: 86_400_000,
      retentionMs: 86_400_000,
      logLevel: 'info',
    });
    expect(complaintOf(['--log-level', 'all'])).toContain('--log-level must be one of debug, info, warn, error');
  });

  it('takes flags over environment over defaults', () => {
    const env = { ROOST_PORT: '5000', ROOST_HOME: '/from/env', ROOST_NO_OPEN: '1', ROOST_LEAD_MODEL: 'env-model' };
    expect(configOf([], env)).toMatchObject({ port: 5000, home: '/from/env', open: false, leadModel: 'env-model' });
    expect(configOf(['--port', '5001', '--home=/from/flag', '--lead-model', 'flag-model'], env)).toMatchObject({
      port: 5001,
      home: '/from/flag',
      open: false,
      leadModel: 'flag-model',
    });
    expect(configOf([], { ROOST_PORT: '', ROOST_NO_OPEN: '0' })).toMatchObject({ port: 4747, open: true });
    expect(configOf([], {}).warmUp).toBe(true);
    expect(configOf(['--no-warm-up'], { ROOST_NO_WARM_UP: '0' }).warmUp).toBe(false);
  });

  it('trusts the households that are named, each once', () => {
    const [one, other] = ['3f0c2a4e-8d1b-4c55-9e0a-5b7d1c2e9f10', '11111111-2222-4333-8444-555555555555'];
    expect(configOf([]).trustedHouseholds).toEqual([]);
    expect(configOf(['--trusted-households', `${one}, ${other},${one}`]).trustedHouseholds).toEqual([one, other]);
    expect(configOf([], { ROOST_TRUSTED_HOUSEHOLDS: one }).trustedHouseholds).toEqual([one]);
  });

  it('uses a real mind where a key or a base URL is there, and sends the key as it is told', () => {
    expect(configOf([], { ANTHROPIC_API_KEY: 'k' }).messagesApi).toEqual({ key: 'k', baseUrl: null, keyHeader: null });
    for (const [given, understood] of [
      ['http://127.0.0.1:11434/v1', 'http://127.0.0.1:11434'],
      ['http://127.0.0.1:11434/v1/', 'http://127.0.0.1:11434'],
      ['https://gateway.example/anthropic/v1', 'https://gateway.example/anthropic'],
      ['https://gateway.example/v10', 'https://gateway.example/v10'],
    ] as const)
      expect(configOf([], { ANTHROPIC_BASE_URL: given }).messagesApi?.baseUrl).toBe(understood);
    expect(configOf([], { ANTHROPIC_BASE_URL: 'http://127.0.0.1:11434/' }).messagesApi).toEqual({
      key: null,
      baseUrl: 'http://127.0.0.1:11434',
      keyHeader: null,
    });
    expect(configOf([], { ANTHROPIC_API_KEY: 'k', ROOST_API_KEY_HEADER: 'x-api-key' }).messagesApi?.keyHeader).toBe(
      'x-api-key',
    );
  });

  it.each([
    ['--nonsense', ['--nonsense'], 'Unknown setting --nonsense.'],
    ['a word', ['serve'], '"serve" is not a setting.'],
    ['a flag without its value', ['--port'], '--port needs a value.'],
    ['a switch with a value', ['--no-open=yes'], '--no-open takes no value.'],
    ['a port that is no number', ['--port', '80a'], '--port must be a whole number from 0 to 65535, not "80a".'],
    ['a port out of bounds', ['--port=65536'], '--port must be a whole number from 0 to 65535, not "65536".'],
    ['no streams', ['--streams', '0'], '--streams must be a whole number from 1 to 10000, not "0".'],
    [
      'a household by its name',
      ['--trusted-households', '3F0C2A4E-8d1b-4c55-9e0a-5b7d1c2e9f10, the neighbours'],
      '--trusted-households takes ids of households with commas between, such as 3f0c2a4e-8d1b-4c55-9e0a-5b7d1c2e9f10, not "the neighbours".',
    ],
    ['no household', ['--trusted-households', ','], 'not "".'],
    ['a rehearsal that is not JSON', ['--rehearsal', '{'], '--rehearsal must be JSON: '],
    ['a rehearsal that does not fit', ['--rehearsal', '{"fail":[9]}'], '--rehearsal does not fit at "fail.0": '],
    ['a rehearsal with an unknown member', ['--rehearsal', '{"speed":1}'], '--rehearsal does not fit: '],
    [
      'an address for everyone',
      ['--host', '0.0.0.0'],
      '--host 0.0.0.0 would let other machines reach Roost. If that is meant, add --allow-remote and',
    ],
    [
      'an address of the network',
      ['--host', '192.168.1.2'],
      'Safer: leave it on 127.0.0.1, put a TLS proxy (such as Caddy) or a private network (such as Tailscale Serve)',
    ],
    [
      'an address of the network that nobody asked for',
      ['--host', '::', '--tls-cert', 'c', '--tls-key', 'k'],
      '--host :: would let other machines reach Roost.',
    ],
    [
      'an address of the network without TLS',
      ['--host', '192.168.1.2', '--allow-remote'],
      '--host 192.168.1.2 needs TLS: a certificate of its own (--tls-cert FILE --tls-key FILE), or a TLS proxy in front',
    ],
    [
      'a public URL that nobody speaks TLS for',
      ['--host', '192.168.1.2', '--allow-remote', '--public-url', 'https://a.example'],
      '--host 192.168.1.2 needs TLS',
    ],
    [
      'every address without a name',
      ['--host', '0.0.0.0', '--allow-remote', '--tls-cert', 'c', '--tls-key', 'k'],
      '--host 0.0.0.0 needs --public-url https://…',
    ],
    [
      'a name as an address',
      ['--host', 'roost.example.org', '--allow-remote'],
      '--host must be an address of this machine, such as 127.0.0.1, not "roost.example.org".',
    ],
    ['a certificate without its key', ['--tls-cert', 'c'], '--tls-cert needs --tls-key too'],
    ['a key without its certificate', ['--tls-key', 'k'], '--tls-key needs --tls-cert too'],
    ['a proxy at no address', ['--behind-proxy'], '--behind-proxy needs --public-url https://…'],
    [
      'a public URL without TLS',
      ['--public-url', 'http://roost.example.org'],
      '--public-url must be an address such as https://roost.example.org.',
    ],
    [
      'a public URL with a path',
      ['--public-url', 'https://example.org/roost'],
      '--public-url must be an address without a path',
    ],
    [
      'an unknown way to send the key',
      ['--api-key-header', 'cookie'],
      '--api-key-header must be one of bearer, x-api-key, both, not "cookie".',
    ],
  ])('says in one line what is wrong with %s', (_what, args, complaint) => {
    expect(complaintOf(args)).toContain(complaint);
    expect(complaintOf(args)).toMatch(/Try --help\.$/);
  });

  it.each([
    ['ROOST_PORT', 'x', 'ROOST_PORT must be a whole number'],
    ['ROOST_NO_OPEN', 'perhaps', 'ROOST_NO_OPEN must be 1 or 0, not "perhaps".'],
    ['ROOST_REHEARSAL', 'x', 'ROOST_REHEARSAL must be JSON'],
    ['ROOST_HOST', 'example.org', 'ROOST_HOST must be an address of this machine'],
    ['ROOST_HOST', '10.0.0.1', 'ROOST_HOST 10.0.0.1 would let other machines reach Roost.'],
    ['ROOST_TLS_KEY', '/secret/key', 'ROOST_TLS_KEY needs --tls-cert too'],
    [
      'DATABASE_URL',
      'mysql://secret',
      'DATABASE_URL must be an address such as postgres://user:password@host/database.',
    ],
    ['ANTHROPIC_BASE_URL', 'secret-host', 'ANTHROPIC_BASE_URL must be an address such as http://127.0.0.1:11434.'],
    ['ANTHROPIC_API_KEY', 'secret key', 'ANTHROPIC_API_KEY holds a space'],
  ])('names %s where the environment does not fit, and repeats no secret', (name, value, complaint) => {
    expect(complaintOf([], { [name]: value })).toContain(complaint);
    expect(complaintOf([], { [name]: value })).not.toContain('secret');
  });

  it('lets other machines in where that was said, and TLS is there', () => {
    const own = ['--host', '192.168.1.2', '--allow-remote', '--tls-cert', 'own.crt', '--tls-key', 'own.key'];
    expect(configOf(own)).toMatchObject({
      host: '192.168.1.2',
      tls: { cert: resolve('own.crt'), key: resolve('own.key') },
      proxied: false,
      publicUrl: null,
    });
    const env = {
      ROOST_HOST: '0.0.0.0',
      ROOST_ALLOW_REMOTE: '1',
      ROOST_BEHIND_PROXY: '1',
      ROOST_PUBLIC_URL: 'https://roost.example.org',
    };
    expect(configOf([], env)).toMatchObject({ host: '0.0.0.0', tls: null, proxied: true });
    for (const host of ['localhost', '::1', '127.8.9.1'])
      expect(configOf(['--host', host])).toMatchObject({ host, tls: null });
  });

  it('names itself to push services by its own address under https://, where it has one, and by what was given before that', () => {
    const remote = ['--host', '192.168.1.2', '--allow-remote', '--tls-cert', 'a.pem', '--tls-key', 'b.pem'];
    for (const [args, subject] of [
      [[], { given: null, own: null }],
      [['--public-url', 'https://roost.example.org'], { given: null, own: 'https://roost.example.org' }],
      [[...remote, '--port', '4747'], { given: null, own: 'https://192.168.1.2:4747' }],
      [
        ['--push-subject', 'mailto:noa@example.org', '--public-url', 'https://roost.example.org'],
        { given: 'mailto:noa@example.org', own: 'https://roost.example.org' },
      ],
    ] as const)
      expect(readConfig(args, {})?.push.subject).toEqual(subject);
  });

  it.each([
    'mailto:a@localhost',
    'mailto:a@roost.local',
    'mailto:a',
    'mailto:',
    'mailto:%FF@example.org',
    'https://localhost',
    'https://roost.internal:4747',
    'https://127.0.0.1',
    'https://[::1]',
    'http://example.org',
  ])('refuses %s for push services, which would refuse every push', (subject) => {
    expect(() => readConfig(['--push-subject', subject], {})).toThrow(/^--push-subject must be an address/);
  });

  it('explains every setting, with its environment name and default, and no secret has a flag', () => {
    const help = helpText(COMMANDS);
    for (const setting of Object.values(SETTINGS)) {
      expect(help).toContain(setting.env);
      if (setting.flag !== null) expect(help).toContain(`--${setting.flag}`);
    }
    expect(help).toContain('[ROOST_PORT; default 4747]');
    expect(help).not.toMatch(/--(anthropic-)?api-key |--database-url/);
    expect(readConfig(['--port', 'x', '--help'], {})).toBeNull();
  });
});

describe('starting', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const tempHome = async (store: StoreKind | null = 'sqlite') => {
    const home = await createHome({ store });
    cleanups.push(() => rm(home, { recursive: true, force: true }));
    return home;
  };
  const started = (relay: TestRelay) => {
    cleanups.push(() => relay.stop());
    return relay;
  };
  const oneLine = (line: RegExp) => new RegExp(`^${line.source}\n$`);

  it('prints help on standard output and ends with 0', async () => {
    const { code, stdout, stderr } = await runRelayCommand(['--help']);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: helpText(COMMANDS), stderr: '' });
  });

  it('refuses a bad setting with one line and exit code 2', async () => {
    const { code, stdout, stderr } = await runRelayCommand(['--prot', '1']);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: 'Unknown setting --prot. Try --help.\n' });
  });

  it('refuses a port in use with one line', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise((resolve) => other.close(resolve)));
    const address = other.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { code, stdout, stderr } = await runRelayCommand(['--port', String(port), '--home', await tempHome()]);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is in use. End what uses it, or choose another with --port.\n`,
    });
  });

  it('refuses a home that cannot be written with one line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roost-nohome-'));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'file'), '');
    const { code, stderr } = await runRelayCommand(['--port', '0', '--home', join(folder, 'file', 'home')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(oneLine(/The home .*file\/home cannot be written \(.*\)\. Choose another with --home\./));
  });

  it('refuses a home from a newer Roost, or a broken mark, with one line', async () => {
    const home = await tempHome();
    await writeFile(join(home, 'roost.json'), '{"format":99,"relay":"x","more":true}');
    const newer = await runRelayCommand(['--port', '0', '--home', home]);
    expect(newer.code).toBe(1);
    expect(newer.stderr).toMatch(
      oneLine(/The home of .* was last used by a newer Roost\. Update Roost, or choose another with --home\./),
    );
    await writeFile(join(home, 'roost.json'), '{"for');
    const broken = await runRelayCommand(['--port', '0', '--home', home]);
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(
      oneLine(/.*roost\.json cannot be read \(.*\)\. Put it back from a copy, or choose another home with --home\./),
    );
  });

  it('refuses a second relay on one home, also by another path, and says where the first one is', async () => {
    const first = started(await startRelay());
    const alias = `${await tempHome(null)}/alias`;
    await symlink(first.home, alias);
    for (const home of [first.home, alias]) {
      const { code, stdout, stderr } = await runRelayCommand(['--port', '0', '--home', home]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(
        oneLine(
          /Another relay runs on the home .*, at http:\/\/127\.0\.0\.1:\d+\. Use that one, end it first, or choose another home with --home\./,
        ),
      );
    }
    expect((await first.fetch('/api/health')).status).toBe(200);
  });

  it(
    'lets exactly one of several win that start together on one home, also after a kill',
    { timeout: 60_000 },
    async () => {
      const home = await tempHome();
      const dead = await startRelay({ home });
      await dead.kill('SIGKILL');
      const starts = await Promise.allSettled([1, 2, 3].map(() => startRelay({ home })));
      const winners = starts.flatMap((start) => (start.status === 'fulfilled' ? [started(start.value)] : []));
      expect(winners).toHaveLength(1);
      for (const start of starts)
        if (start.status === 'rejected') expect(String(start.reason)).toContain('Another relay runs on the home');
    },
  );

  it('works in a home whose path is too long for a socket', async () => {
    const home = join(await tempHome(null), 'a-long-name-'.repeat(12));
    await rename(await tempHome(), home);
    const relay = started(await startRelay({ home }));
    const { code, stderr } = await runRelayCommand(['--port', '0', '--home', home]);
    expect(code).toBe(1);
    expect(stderr).toContain('Another relay runs');
    expect((await relay.fetch('/api/health')).status).toBe(200);
  });

  it('makes the home for its owner alone, and writes no key anywhere', { timeout: 120_000 }, async () => {
    const home = join(await tempHome(null), 'new');
    const key = 'sk-secret-key-for-nobody';
    const relay = started(
      await startRelay({ home, env: { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } }),
    );
    expect(await (await relay.fetch('/api/health')).json()).toMatchObject({ mind: 'anthropic' });
    const { stdout, stderr, code } = await relay.stop();
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain(key);
    expect((await stat(home)).mode & 0o077).toBe(0);
    for (const entry of await readdir(home, { recursive: true, withFileTypes: true }))
      if (entry.isFile())
        expect((await readFile(join(entry.parentPath, entry.name))).includes(key), entry.name).toBe(false);
  });

  it('puts the store of an earlier Roost aside, unchanged, says so in one line, and starts with an empty one', async () => {
    const home = await tempHome(null);
    await mkdir(join(home, 'store', 'base'), { recursive: true });
    await writeFile(join(home, 'store', 'PG_VERSION'), '18\n');
    const relay = started(await startRelay({ home }));
    expect((await relay.fetch('/api/health')).status).toBe(200);
    const { stderr, code } = await relay.stop();
    expect(code).toBe(0);
    const aside = join(home, 'store-before-sqlite');
    expect(stderr.split('\n').filter((line) => line.includes(aside))).toEqual([
      expect.stringMatching(/^The store of an earlier Roost was put aside, unchanged, as .* Open the page: .+$/),
    ]);
    expect(await readdir(aside)).toEqual(['PG_VERSION', 'base']);
    expect(await readdir(join(home, 'store'))).toEqual(['roost.db']);
  });
});

/** `Dockerfile` and `compose.yaml`: what can be said of them without a container engine. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { freePort } from '../../support/free-port.ts';
import { startRelay } from '../../support/relay.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (name: string) => readFile(join(ROOT, name), 'utf8');

/** Instructions with their words, lines that go on joined. */
const instructionsOf = (dockerfile: string) =>
  dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => /^([A-Z]+) (.*)$/.exec(line)?.slice(1) ?? ['unreadable', line]);

/** The instructions of the image that is run. */
async function lastStage(): Promise<ReadonlyMap<string, string>> {
  const all = instructionsOf(await read('Dockerfile'));
  return new Map(
    all.slice(all.findLastIndex(([name]) => name === 'FROM')).map(([name = '', words = '']) => [name, words]),
  );
}

const serviceSchema = z.strictObject({
  build: z.literal('.').optional(),
  image: z
    .string()
    .regex(/:\d+[\w.-]*$/)
    .optional(),
  restart: z.literal('unless-stopped'),
  init: z.boolean().optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string().startsWith('/')).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  environment: z.record(z.string(), z.string()).optional(),
  command: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string().regex(/^\w+:\/[\w/]+$/)),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  healthcheck: z.strictObject({ test: z.array(z.string()), interval: z.string() }).optional(),
});
const composeSchema = z.strictObject({
  name: z.string(),
  services: z.strictObject({ relay: serviceSchema, postgres: serviceSchema, caddy: serviceSchema }),
  volumes: z.record(z.string(), z.null()),
});
const compose = async () => composeSchema.parse(parse(await read('compose.yaml')));

describe('The image', () => {
  it('runs as a user that is not root, from pinned images, with its home below the volume', async () => {
    const all = instructionsOf(await read('Dockerfile'));
    const known = ['FROM', 'WORKDIR', 'COPY', 'RUN', 'ENV', 'USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT'];
    expect(all.filter(([name = '']) => !known.includes(name))).toEqual([]);
    for (const [name, words] of all) if (name === 'FROM') expect(words).toMatch(/^node:\d+-slim( AS build)?$/);
    const stage = await lastStage();
    expect(stage.get('USER')).toBe('node');
    expect(stage.get('ENV')).toContain(`ROOST_HOME=${stage.get('VOLUME')}/`);
    expect(stage.get('COPY')).toMatch(/^--from=build /);
  });

  it('copies files that exist and are not ignored', async () => {
    const lines = (await read('.dockerignore')).trim().split('\n');
    expect(lines[0]).toBe('*');
    const missing = lines.slice(1).filter((line) => !existsSync(join(ROOT, line.replace(/^!/, ''))));
    expect(missing).toEqual([]);
  });

  it.skipIf(spawnSync('docker', ['buildx', 'version']).status !== 0)('has nothing that the linter warns of', () => {
    execFileSync('docker', ['build', '--check', ROOT]);
  });
});

describe('The composition', () => {
  it('names services and volumes that there are, and shows only the proxy', async () => {
    const { services, volumes } = await compose();
    for (const [name, service] of Object.entries(services)) {
      expect(service.build ?? service.image, name).toBeDefined();
      for (const other of Object.keys(service.depends_on ?? {})) expect(Object.keys(services)).toContain(other);
      for (const volume of service.volumes) expect(Object.keys(volumes)).toContain(volume.split(':')[0]);
    }
    expect(services.relay).toMatchObject({ read_only: true, init: true, cap_drop: ['ALL'] });
    expect(services.relay.volumes).toEqual([`home:${(await lastStage()).get('VOLUME')}`]);
    expect([services.relay.ports, services.postgres.ports]).toEqual([undefined, undefined]);
    expect(services.caddy.command).toContain(`relay:${(await lastStage()).get('EXPOSE')}`);
  });

  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-containers-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('starts a relay that its health check finds ready, in a home that was not there', async () => {
    const { environment = {} } = (await compose()).services.relay;
    expect(environment).toMatchObject({
      ROOST_HOST: '0.0.0.0',
      DATABASE_URL: expect.stringMatching(/@postgres:5432\//),
    });
    const relay = await startRelay({
      home: join(folder, 'home'),
      port: await freePort(),
      env: { ...environment, DATABASE_URL: '', ROOST_HOST: '127.0.0.1', ROOST_PUBLIC_URL: 'https://roost.example.org' },
    });
    try {
      const command = z
        .array(z.string())
        .parse(JSON.parse(/\[.*\]$/.exec((await lastStage()).get('HEALTHCHECK') ?? '')?.[0] ?? ''));
      const [program, ...words] = command.map((word) => word.replace(':4747', `:${relay.port}`));
      expect(program).toBe('node');
      expect(relay.link).toContain('https://roost.example.org/');
      await expect.poll(() => spawnSync(process.execPath, words).status, { timeout: 30_000 }).toBe(0);
    } finally {
      await relay.stop();
    }
  });

  it.skipIf(spawnSync('docker', ['compose', 'version']).status !== 0)('is valid for Docker', () => {
    const env = { ...process.env, ROOST_DOMAIN: 'roost.example.org', ROOST_POSTGRES_PASSWORD: 'x' };
    execFileSync('docker', ['compose', '--project-directory', ROOT, 'config', '--quiet'], { env });
  });
});

/**
 * The conformance suite for MCP clients, with the relay's connection to MCP servers and its
 * sign-in as the client.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const REVISION = '2025-11-25';
/** What the revision asks of clients. */
const SCENARIOS = [
  'initialize',
  'tools_call',
  'sse-retry',
  'elicitation-sep1034-client-defaults',
  ...['default', 'var1', 'var2', 'var3'].map((name) => `auth/metadata-${name}`),
  'auth/basic-cimd',
  'auth/pre-registration',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/scope-step-up',
  'auth/scope-retry-limit',
  ...['basic', 'post', 'none'].map((name) => `auth/token-endpoint-auth-${name}`),
];
/**
 * Extensions, and what came later than the revision. The suite runs them and does not count them.
 */
const NOT_COUNTED = /^auth\/(?:client-credentials-|enterprise-managed-|dpop|wif-)|^json-schema-/;
const SUITE_MS = 150_000;

const checksSchema = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));
const support = (name: string) => fileURLToPath(new URL(`../../../support/${name}`, import.meta.url));
const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);

let folder: string;
const results = new Map<string, z.infer<typeof checksSchema>>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-client-conformance-'));
  const made = join(folder, 'made');
  await promisify(execFile)(process.execPath, [
    support('bundle.mjs'),
    'test/support/conformance-client.ts',
    made,
    'es',
  ]);
  const client = `${process.execPath} ${join(made, 'conformance-client.js')}`;
  const out = join(folder, 'out');
  // Its exit code is of no use: it counts what is not for us as well.
  await new Promise<void>((done) =>
    execFile(
      process.execPath,
      [
        '--import',
        support('conformance-hook.mjs'),
        SUITE,
        'client',
        '--command',
        client,
        '--requirements',
        REVISION,
        '-o',
        out,
      ],
      { cwd: folder, timeout: SUITE_MS },
      () => done(),
    ),
  );
  for (const path of await readdir(out, { recursive: true })) {
    const name = /^(.+)-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/.exec(path)?.[1];
    if (name !== undefined) results.set(name, checksSchema.parse(JSON.parse(await readFile(join(out, path), 'utf8'))));
  }
}, SUITE_MS);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe(`the conformance suite for clients, by the revision of ${REVISION}`, () => {
  it.each(SCENARIOS)('passes %s', (name) => {
    const checks = results.get(name) ?? [];
    expect(checks.filter(({ status }) => status === 'FAILURE')).toEqual([]);
    expect(checks.filter(({ status }) => status === 'SUCCESS')).not.toEqual([]);
  });

  it('knows of every scenario whether it is for this client', () => {
    expect([...results.keys()].filter((name) => !SCENARIOS.includes(name) && !NOT_COUNTED.test(name))).toEqual([]);
  });
});

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TeamTool } from '../../../../server/tools/index.ts';
import { createCredentialProxy } from '../../../support/credential-proxy.ts';
import { LYRA, openMcp } from '../../../support/mcp.ts';
import { createStorePlace } from '../../../support/stores.ts';

/**
 * The scenarios of each revision that say something of this server. Each passes by checks of its
 * own.
 */
const GENERIC = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'resources-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'server-session-lifecycle',
  ],
  '2026-07-28': [
    'server-stateless',
    'tools-list',
    'tools-call-simple-text',
    'tools-call-error',
    'resources-list',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'caching',
    'http-header-validation',
  ],
} as const;

/**
 * Checks within them that ask for a tool of the suite's own, or for prompts, which a Roost has none
 * of.
 */
const NOT_FOR_US = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2549-prompts-list-caching-hints',
];

/** The other scenarios: what they try is no part of this server. */
const OTHERS = [
  /^(completion|prompts|logging|elicitation|input-required|tasks)-/,
  /^tools-call-(image|audio|embedded-resource|mixed-content|sampling|elicitation|with-logging|with-progress)$/,
  /^resources-(read-text|read-binary|templates-read|subscribe|unsubscribe)$/,
  /^(json-schema-2020-12|http-custom-header-server-validation|server-sse-polling)$/,
];
/**
 * Made by the suite for every scenario: each message that the server sent is valid by the
 * specification's own schema.
 */
const WIRE_CHECK = 'wire-schema-valid';

/** The two tools that the suite asks every server to have and that a Roost's tools can be. */
const noInput = z.strictObject({});
const SUITE_TOOLS: readonly TeamTool[] = [
  {
    name: 'test_simple_text',
    description: 'Says something.',
    input: noInput,
    readOnly: true,
    run: () => Promise.resolve({ text: 'This is a simple text response for testing.', isError: false }),
  },
  {
    name: 'test_error_handling',
    description: 'Fails.',
    input: noInput,
    readOnly: true,
    run: () => Promise.resolve({ text: 'This tool intentionally returns an error for testing', isError: true }),
  },
];

const checksSchema = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }));
type Checks = z.infer<typeof checksSchema>;

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
);
/** It ends none of those that it begins. */
const SUITE_SESSIONS = 200;
const HOOK = fileURLToPath(new URL('../../../support/conformance-hook.mjs', import.meta.url));

/** Runs everything that a revision asks of servers; the result of each scenario by its name. */
async function runSuite(url: string, revision: string): Promise<ReadonlyMap<string, Checks>> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-conformance-'));
  // Its exit code is of no use: it counts what is not for us as well.
  await new Promise<void>((resolve) =>
    execFile(
      process.execPath,
      ['--import', HOOK, SUITE, 'server', '--url', url, '--requirements', revision, '-o', folder],
      { cwd: folder },
      () => resolve(),
    ),
  );
  const results = new Map<string, Checks>();
  for (const run of await readdir(folder)) {
    const name = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(run)?.[1];
    if (name !== undefined)
      results.set(name, checksSchema.parse(JSON.parse(await readFile(join(folder, run, 'checks.json'), 'utf8'))));
  }
  await rm(folder, { recursive: true, force: true });
  return results;
}

const failed = (checks: Checks = []) => checks.filter(({ status }) => status === 'FAILURE');

describe.each(['2025-11-25', '2026-07-28'] as const)('the conformance suite, by the revision of %s', (revision) => {
  let results: ReadonlyMap<string, Checks>;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const place = await createStorePlace();
    const store = await place.open();
    const mcp = await openMcp(store, { sessionsOfOne: SUITE_SESSIONS }, SUITE_TOOLS);
    // The suite cannot be told a credential.
    const proxy = await createCredentialProxy(mcp.port, '/mcp', await mcp.secret(LYRA));
    close = async () => {
      await proxy.close();
      await mcp.close();
      await store.close();
      await place.remove();
    };
    results = await runSuite(proxy.url, revision);
  });
  afterAll(() => close());

  it.each(GENERIC[revision])('passes %s', (name) => {
    const checks = results.get(name);
    expect(failed(checks).filter(({ id }) => !NOT_FOR_US.includes(id))).toEqual([]);
    expect((checks ?? []).filter(({ id, status }) => status === 'SUCCESS' && id !== WIRE_CHECK)).not.toEqual([]);
  });

  it('sends nothing that is not valid by the schema of the specification, in any scenario', () => {
    const wire = [...results].flatMap(([name, checks]) =>
      checks.filter(({ id }) => id === WIRE_CHECK).map((check) => ({ name, ...check })),
    );
    expect(wire.filter(({ status }) => status !== 'SUCCESS')).toEqual([]);
    expect(wire.length).toBeGreaterThan(GENERIC[revision].length);
  });

  it('knows of every scenario whether it is for this server', () => {
    const generic: readonly string[] = GENERIC[revision];
    expect(
      [...results.keys()].filter((name) => !generic.includes(name) && !OTHERS.some((other) => other.test(name))),
    ).toEqual([]);
  });
});

import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { findingsIn, type Findings } from '../../support/lint.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const SHARED = ['domain', 'protocol', 'rpc', 'replication', 'relay-client'].map((name) => `src/shared/${name}`);
/** One folder per row with what it may import; every other pair is an error. */
const ARROWS: Record<string, readonly string[]> = {
  'src/shared/domain': ['src/shared/domain'],
  'src/shared/rpc': ['src/shared/rpc', 'src/shared/domain'],
  'src/shared/protocol': ['src/shared/protocol', 'src/shared/rpc', 'src/shared/domain'],
  'src/shared/replication': ['src/shared/replication', 'src/shared/protocol', 'src/shared/domain'],
  'src/shared/relay-client': ['src/shared/relay-client', 'src/shared/protocol', 'src/shared/domain'],
  'src/worker/ledger': ['src/worker/ledger', ...SHARED],
  'src/worker/sync': ['src/worker/sync', ...SHARED],
  'src/worker/search': ['src/worker/search', ...SHARED],
  'src/service-worker': ['src/service-worker', ...SHARED],
  'src/page/language': ['src/page/language', ...SHARED],
  'src/page/exports': ['src/page/exports', ...SHARED],
  'src/page/state': ['src/page/state', 'src/page/language', 'src/page/exports', ...SHARED],
  'src/page/ui/design': ['src/page/ui/design'],
  'src/page/ui': [
    'src/page/ui',
    'src/page/ui/design',
    'src/page/language',
    'src/page/state',
    'src/page/exports',
    ...SHARED,
  ],
  server: ['server', 'src/shared/protocol', 'src/shared/domain'],
};
/** Some of the arrows inside the relay. */
const INSIDE = [
  { from: 'server/agents/session', to: 'server/agents/runs', allowed: true },
  { from: 'server/team/gate', to: 'server/team/directory', allowed: true },
  { from: 'server/approvals/requests', to: 'server/http', allowed: true },
  { from: 'server', to: 'server/startup', allowed: true },
  { from: 'server/store', to: 'server/access', allowed: false },
  { from: 'server/agents/minds', to: 'server/agents/runs', allowed: false },
  { from: 'server/agents/runs', to: 'server/approvals/requests', allowed: false },
  { from: 'server/platform', to: 'server/store', allowed: false },
  { from: 'server/team/threads', to: 'server/households', allowed: false },
];
const NOT_ALLOWED = ['boundaries/dependencies'];
const TARGETS = Object.keys(ARROWS);

/** A tree of the layout with a file for each that is asked of; the linter runs over it once. */
const CASES = new Map<string, string>();
let found: Findings;

/** Puts `code` into the tree, as a file of `folder`; gives what the linter says of it, by rule. */
function lint(folder: string, code: string, type = 'ts'): () => readonly string[] {
  const path = `${folder}/case-${CASES.size}.${type}`;
  CASES.set(path, code);
  return () => {
    return found(path).map(({ rule }) => rule);
  };
}

beforeAll(async () => {
  const ends = [...TARGETS, ...INSIDE.map(({ to }) => to), 'test'].map(
    (folder) => [`${folder}/end.ts`, 'export {};\n'] as const,
  );
  found = await findingsIn(new Map([...CASES, ...ends]));
});

const importing = (target: string) => `import * as part from '${target}';\nexport const used = part;\n`;
const upTo = (from: string, target: string) => `${'../'.repeat(from.split('/').length)}${target}`;
const fileIn = (folder: string) => `${folder}/end.ts`;

describe('the arrows of the layout', () => {
  const pairs = Object.keys(ARROWS).flatMap((from) => TARGETS.map((to) => ({ from, to })));
  const isAllowed = ({ from, to }: { from: string; to: string }) => ARROWS[from]?.includes(to) ?? false;

  const asked = pairs.map((pair) => ({ ...pair, said: lint(pair.from, importing(upTo(pair.from, fileIn(pair.to)))) }));

  it.each(asked.filter(isAllowed))('$from may import from $to', ({ said }) => {
    expect(said()).toEqual([]);
  });

  it.each(asked.filter((pair) => !isAllowed(pair)))('$from may not import from $to', ({ said }) => {
    expect(said()).toEqual(NOT_ALLOWED);
  });

  const target = upTo('src/page/ui', fileIn('src/worker/ledger'));
  const ways = [
    `export const later = () => import('${target}');`,
    `export type * from '${target}';`,
    `export * from '${target}';`,
  ];
  const byWays = ways.map((code) => lint('src/page/ui', code));
  it('hold for lazy imports, types and re-exports', () => {
    for (const said of byWays) expect(said()).toEqual(NOT_ALLOWED);
  });

  const ofTests = ['src/page/ui', 'server'].map((from) => ({
    from,
    said: lint(from, importing(upTo(from, fileIn('test')))),
  }));
  it.each(ofTests)('$from may not import from the tests', ({ said }) => {
    expect(said()).toEqual(NOT_ALLOWED);
  });

  const inside = INSIDE.map((pair) => ({
    ...pair,
    said: lint(pair.from, importing(upTo(pair.from, fileIn(pair.to)))),
  }));
  it.each(inside)('inside the relay from $from to $to: $allowed', ({ allowed, said }) => {
    expect(said()).toEqual(allowed ? [] : NOT_ALLOWED);
  });

  const unknown = lint('src/helpers', 'export const one = 1;');
  it('a folder that the layout does not know is an error', () => {
    expect(unknown()).toEqual(['boundaries/no-unknown-files']);
  });

  it('every folder of a room is one of the layout', () => {
    const foldersIn = (folder: string) =>
      readdirSync(`${root}${folder}`, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${folder}/${name}`);
    const rooms = foldersIn('src');
    expect(rooms.toSorted()).toEqual(['src/page', 'src/service-worker', 'src/shared', 'src/worker']);
    const parts = rooms.flatMap((room) => (room in ARROWS ? [] : foldersIn(room)));
    for (const part of parts) expect(Object.keys(ARROWS)).toContain(part);
  });
});

describe('packages', () => {
  const OWNERS = [
    { name: '@fireproof/core', owners: ['src/worker/ledger'] },
    { name: '@fireproof/core-runtime', owners: ['src/worker/ledger'] },
    { name: 'idb', owners: ['src/worker/ledger', 'src/worker/sync', 'src/worker/search'] },
  ];

  const folders = Object.keys(ARROWS);
  /** What is said in each folder of importing this package. */
  const everywhere = (name: string) => folders.map((folder) => ({ folder, said: lint(folder, importing(name)) }));

  it.each(OWNERS.map((owned) => ({ ...owned, asked: everywhere(owned.name) })))(
    'restricts $name to $owners',
    ({ name, owners, asked }) => {
      expect(existsSync(`${root}node_modules/${name}`)).toBe(true);
      for (const { folder, said } of asked) expect(said(), folder).toEqual(owners.includes(folder) ? [] : NOT_ALLOWED);
    },
  );

  it.each(['node:fs', 'fs', 'node:path'].map((name) => ({ name, asked: everywhere(name) })))(
    'restricts $name to the relay',
    ({ asked }) => {
      for (const { folder, said } of asked) expect(said(), folder).toEqual(folder === 'server' ? [] : NOT_ALLOWED);
    },
  );

  const [inDomain, inProtocol] = ['src/shared/domain', 'src/shared/protocol'].map((folder) =>
    lint(folder, importing('zod')),
  );
  it('the domain imports no package at all', () => {
    expect(inDomain?.()).toEqual(NOT_ALLOWED);
    expect(inProtocol?.()).toEqual([]);
  });
});

describe('the page', () => {
  const said = lint(
    'src/page/ui',
    'export function Face({ on }: { on: boolean }) {\n  if (on) useState(0);\n  return <img src="face.png" />;\n}\n' +
      'declare function useState(value: number): void;\n',
    'tsx',
  );
  it('checks the page for screen readers, and hooks for their place', () => {
    expect(said()).toEqual(expect.arrayContaining(['jsx-a11y/alt-text', 'react-hooks/rules-of-hooks']));
  });
});

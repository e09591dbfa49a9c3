import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** One folder per row with what it may import; every other pair is an error. */
const ARROWS: Record<string, readonly string[]> = {
  'src/domain': ['src/domain'],
  'src/protocol': ['src/protocol', 'src/domain'],
  'src/ledger': ['src/ledger', 'src/protocol', 'src/domain'],
  'src/relay': ['src/relay', 'src/protocol', 'src/domain'],
  'src/sync': ['src/sync', 'src/protocol', 'src/domain'],
  'src/archive': ['src/archive', 'src/protocol', 'src/domain'],
  'src/offline': ['src/offline', 'src/domain'],
  'src/state': ['src/state', 'src/relay', 'src/ledger', 'src/sync', 'src/archive', 'src/protocol', 'src/domain'],
  'src/ui': ['src/ui', 'src/state', 'src/archive', 'src/protocol', 'src/domain'],
  src: [
    'src/ui',
    'src/state',
    'src/relay',
    'src/ledger',
    'src/sync',
    'src/archive',
    'src/offline',
    'src/protocol',
    'src/domain',
  ],
  server: ['server', 'src/protocol', 'src/domain'],
};
const TARGETS = Object.keys(ARROWS).filter((folder) => folder !== 'src');

/** A file that exists there, as the resolver needs one: the first in the folder. */
function fileIn(folder: string): string {
  const name = readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).find((entry) =>
    /\.tsx?$/.test(entry),
  );
  if (!name) throw new Error(`no file in ${folder}`);
  return `${folder}/${name}`;
}

let lint: (folder: string, code: string) => Promise<string[]>;

beforeAll(() => {
  // The snippets are in no project, so the rules that need types are off; the arrows need none.
  const eslint = new ESLint({
    cwd: root,
    overrideConfig: [{ ...tseslint.configs.disableTypeChecked, files: ['**/*'] }],
  });
  lint = async (folder, code) => {
    const results = await eslint.lintText(code, { filePath: `${root}${folder}/snippet-of-a-test.ts` });
    return results.flatMap((result) => result.messages.map((message) => message.ruleId ?? message.message));
  };
});

const importing = (target: string) => `import * as part from '${target}';\nexport const used = part;\n`;
const upTo = (from: string, target: string) => `${'../'.repeat(from.split('/').length)}${target}`;

describe('the arrows of the layout', () => {
  const pairs = Object.keys(ARROWS).flatMap((from) => TARGETS.map((to) => ({ from, to })));
  const isAllowed = ({ from, to }: { from: string; to: string }) => ARROWS[from]?.includes(to) ?? false;

  it.each(pairs.filter(isAllowed))('$from may import from $to', async ({ from, to }) => {
    expect(await lint(from, importing(upTo(from, fileIn(to))))).toEqual([]);
  });

  it.each(pairs.filter((pair) => !isAllowed(pair)))('$from may not import from $to', async ({ from, to }) => {
    expect(await lint(from, importing(upTo(from, fileIn(to))))).toEqual(['boundaries/dependencies']);
  });

  it('hold for what is loaded later, for types and for what is passed on', async () => {
    const target = upTo('src/ui', fileIn('src/ledger'));
    expect(await lint('src/ui', `export const later = () => import('${target}');`)).toEqual([
      'boundaries/dependencies',
    ]);
    expect(await lint('src/ui', `export type * from '${target}';`)).toEqual(['boundaries/dependencies']);
    expect(await lint('src/ui', `export * from '${target}';`)).toEqual(['boundaries/dependencies']);
  });

  it.each(['src/ui', 'server'])('%s may not import from the tests', async (from) => {
    expect(await lint(from, importing(upTo(from, 'test/unit/tooling/arrows.test.ts')))).toEqual([
      'boundaries/dependencies',
    ]);
  });

  it('a folder that the layout does not know is an error', async () => {
    expect(await lint('src/helpers', 'export const one = 1;')).toEqual(['boundaries/no-unknown-files']);
  });

  it('every folder of src is one of the layout', () => {
    const folders = readdirSync(`${root}src`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of folders) expect(Object.keys(ARROWS)).toContain(`src/${name}`);
  });
});

describe('packages', () => {
  const OWNERS = [
    { name: '@fireproof/core', owners: ['src/ledger'] },
    { name: '@fireproof/core-runtime', owners: ['src/ledger'] },
    { name: 'idb', owners: ['src/ledger', 'src/sync'] },
  ];

  it.each(OWNERS)('only $owners may import $name', async ({ name, owners }) => {
    expect(existsSync(`${root}node_modules/${name}`)).toBe(true);
    for (const folder of Object.keys(ARROWS))
      expect(await lint(folder, importing(name)), folder).toEqual(
        owners.includes(folder) ? [] : ['boundaries/dependencies'],
      );
  });

  it.each(['node:fs', 'fs', 'node:path'])('only the relay imports %s', async (name) => {
    expect(await lint('server', importing(name))).toEqual([]);
    for (const folder of Object.keys(ARROWS).filter((each) => each !== 'server'))
      expect(await lint(folder, importing(name)), folder).toEqual(['boundaries/dependencies']);
  });

  it('the domain imports no package at all', async () => {
    expect(await lint('src/domain', importing('zod'))).toEqual(['boundaries/dependencies']);
    expect(await lint('src/protocol', importing('zod'))).toEqual([]);
  });
});

describe('the page', () => {
  it('is checked for what a screen reader needs, and for hooks in the wrong place', async () => {
    const eslint = new ESLint({
      cwd: root,
      overrideConfig: [{ ...tseslint.configs.disableTypeChecked, files: ['**/*'] }],
    });
    const code =
      'export function Face({ on }: { on: boolean }) {\n  if (on) useState(0);\n  return <img src="face.png" />;\n}\n' +
      'declare function useState(value: number): void;\n';
    const results = await eslint.lintText(code, { filePath: `${root}src/ui/snippet-of-a-test.tsx` });
    const rules = results.flatMap((result) => result.messages.map((message) => message.ruleId));
    expect(rules).toEqual(expect.arrayContaining(['jsx-a11y/alt-text', 'react-hooks/rules-of-hooks']));
  });
});

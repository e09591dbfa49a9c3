import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string) => readFileSync(root + file, 'utf8');
const map = read('docs/developing/map.md');
const PAGES = ['CONTRIBUTING.md', ...readdirSync(`${root}docs/developing`).map((file) => `docs/developing/${file}`)];
/** Bytes of CONTRIBUTING.md: one page. What takes longer to say goes into `docs/developing`. */
const ONE_PAGE = 6_500;

/**
 * Parts of `src` and the relay, by the last name of their path; folders within the relay are not in
 * the picture.
 */
async function table(): Promise<Record<string, readonly string[]>> {
  const { MAY_IMPORT }: { MAY_IMPORT: Record<string, readonly string[]> } = await import(`${root}oxlint.config.js`);
  const isPart = (name: string) => !name.startsWith('server/');
  const nameOf = (path: string) => path.split('/').at(-1) ?? '';
  return Object.fromEntries(
    Object.entries(MAY_IMPORT).flatMap(([part, others]) =>
      isPart(part) ? [[nameOf(part), others.filter(isPart).map(nameOf)]] : [],
    ),
  );
}

const arrows = [
  ...(/```mermaid\n([\s\S]*?)```/.exec(map)?.[1] ?? '').matchAll(/^\s*([\w-]+?)(?:\[.*?\])? --> ([\w-]+)/gm),
];

/** Everything below a part in the picture. */
function below(part: string): ReadonlySet<string> {
  const reached = new Set<string>();
  const visit = (from: string) => {
    for (const [, above, to = ''] of arrows)
      if (above === from && !reached.has(to)) {
        reached.add(to);
        visit(to);
      }
  };
  visit(part);
  return reached;
}

it('the map has an arrow only where lint lets one part import the other', async () => {
  const may = await table();
  expect(arrows.length).toBeGreaterThan(8);
  const drawn = arrows.map(([, from = '', to = '']) => ({ from, to }));
  expect(drawn.filter(({ from, to }) => may[from]?.includes(to) !== true)).toEqual([]);
});

it('the map has every part, above all that it may import', async () => {
  const lacking = Object.entries(await table()).flatMap(([part, others]) => {
    const reached = below(part);
    return others.filter((other) => !reached.has(other)).map((other) => `${part} → ${other}`);
  });
  expect(lacking).toEqual([]);
});

it('CONTRIBUTING.md fits one page', () => {
  expect(Buffer.byteLength(read('CONTRIBUTING.md'))).toBeLessThan(ONE_PAGE);
});

it.each(PAGES)('%s names only paths and commands that exist', (page) => {
  const text = read(page);
  const paths = [...text.matchAll(/`((?:src|server|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);
  // Runs write their artifacts.
  const kept = paths.filter((path) => !path.startsWith('test/artifacts/'));
  expect(kept.filter((path) => !existsSync(root + path))).toEqual([]);
  const scripts: Record<string, string> = JSON.parse(read('package.json')).scripts;
  const named = [...text.matchAll(/`npm run ([\w:]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

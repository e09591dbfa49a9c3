import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const text = readFileSync(`${root}CONTRIBUTING.md`, 'utf8');

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
  ...(/```mermaid\n([\s\S]*?)```/.exec(text)?.[1] ?? '').matchAll(/^\s*([\w-]+?)(?:\[.*?\])? --> ([\w-]+)/gm),
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

it('what is named in it is there', () => {
  const paths = [...text.matchAll(/`((?:src|server|scripts|test|gallery)\/[\w./-]+)`/g)].map(([, path = '']) => path);
  expect(paths.length).toBeGreaterThan(15);
  // What runs leave behind is there after them.
  const kept = paths.filter((path) => !path.startsWith('test/artifacts/'));
  expect(kept.filter((path) => !existsSync(root + path))).toEqual([]);
  const scripts: Record<string, string> = JSON.parse(readFileSync(`${root}package.json`, 'utf8')).scripts;
  const named = [...text.matchAll(/`npm run ([\w:]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

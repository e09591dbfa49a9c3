import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const IMPORT = /(?:^|\n)(?:import|export)\b[^;'"]*?\bfrom\s+'(\.[^']+)'/g;

/**
 * What each file imports of ours, types included; what is loaded later is not: it waits for nobody.
 */
function importsOf(sources: ReadonlyMap<string, string>): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...sources].map(([path, text]) => [
      path,
      [...text.matchAll(IMPORT)].map(([, to = '']) => join(dirname(path), to)).filter((to) => sources.has(to)),
    ]),
  );
}

/** A circle as the files on it, or null. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  function visit(file: string): readonly string[] | null {
    const at = path.indexOf(file);
    if (at >= 0) return [...path.slice(at), file];
    if (done.has(file)) return null;
    path.push(file);
    for (const to of graph.get(file) ?? []) {
      const circle = visit(to);
      if (circle) return circle;
    }
    path.pop();
    done.add(file);
    return null;
  }
  for (const file of graph.keys()) {
    const circle = visit(file);
    if (circle) return circle;
  }
  return null;
}

const sourcesIn = (folder: string) =>
  new Map(
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => join(root, folder, name))
      .filter((path) => existsSync(path))
      .map((path) => [path, readFileSync(path, 'utf8')] as const),
  );

describe('imports', () => {
  it.each(['src', 'server'])('run in no circle in %s', (folder) => {
    const graph = importsOf(sourcesIn(folder));
    expect(graph.size).toBeGreaterThan(50);
    expect([...graph.values()].flat().length).toBeGreaterThan(graph.size);
    expect(circleIn(graph)?.map((path) => relative(root, path)) ?? null).toBeNull();
  });

  it('would be seen to run in one', () => {
    const sources = new Map([
      ['/a.ts', `import { b } from './b.ts';`],
      ['/b.ts', `/** */\nexport type {\n  C,\n} from './c.ts';`],
      ['/c.ts', `import type { A } from './a.ts';\nimport './unknown.ts';`],
    ]);
    expect(circleIn(importsOf(sources))).toEqual(['/a.ts', '/b.ts', '/c.ts', '/a.ts']);
    expect(circleIn(importsOf(new Map([...sources].slice(0, 2))))).toBeNull();
  });
});

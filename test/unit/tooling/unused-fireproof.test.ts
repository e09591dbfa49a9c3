import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../../src/', import.meta.url));
/** What of Fireproof was measured to answer wrongly, to grow, or to hand on the ledger's keys. */
const UNUSED = /\.(query|changes|attach|subscribe|useLiveQuery)\(/;

describe('what of Fireproof cannot be used safely', () => {
  it('calls no query, no changes and no attach', async () => {
    const files = (await readdir(SOURCES, { recursive: true })).filter(
      (path) => path.endsWith('.ts') || path.endsWith('.tsx'),
    );
    const texts = await Promise.all(
      files.map(async (path) => ({ path, text: await readFile(`${SOURCES}${path}`, 'utf8') })),
    );
    const knowing = texts.filter(({ text }) => text.includes("from '@fireproof/"));
    expect(knowing.length).toBeGreaterThan(0);
    expect(knowing.filter(({ text }) => UNUSED.test(text)).map(({ path }) => path)).toEqual([]);
  });
});

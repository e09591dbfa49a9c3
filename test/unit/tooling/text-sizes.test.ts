import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const UI = fileURLToPath(new URL('../../../src/page/ui', import.meta.url));
/**
 * Letters, and the widths by which a layout is chosen. Points are of paper; the least that iOS does
 * not zoom into is in px.
 */
const isFixed = (line: string): boolean =>
  (/^(?:font|font-size|line-height): [^;]*\b\d*\.?\d+px/.test(line) && !line.includes('max(16px')) ||
  /\((?:min|max)-width: [\d.]+px\)/.test(line);

it("scales letters and their layout with the browser's text size", () => {
  const files = readdirSync(UI, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:css|tsx?)$/.test(file));
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) =>
    readFileSync(join(UI, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => (isFixed(line.trim()) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
  expect(['font-size: 13px;', 'font: 600 12.5px/1.2 var(--ui);', '@media (max-width: 760px) {'].every(isFixed)).toBe(
    true,
  );
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const UI = fileURLToPath(new URL('../../../src/page/ui', import.meta.url));
/** A picture of the sky: the sun does not rise elsewhere where people write from right to left. */
const PICTURES = [join('shell', 'sky.css'), join('shell', 'land.css')];
const PHYSICAL = [
  /^(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right)\b/,
  /^(?:left|right): (?!50%)/,
  /^border-(?:top|bottom)-(?:left|right)-radius/,
  /^(?:text-align|float|clear): (?:left|right)/,
];
/** Four sides, the third and fourth as they are written. */
const FOUR = /^(?:margin|padding|inset|border-(?:width|style|color)): (\S+) (\S+) (\S+) (\S+);$/;
const CORNERS = /^border-radius: (\S+) (\S+) (\S+) (\S+);$/;

const isPhysical = (line: string): boolean => {
  const [, , end, , start] = FOUR.exec(line) ?? [];
  const [, topStart, topEnd, bottomEnd, bottomStart] = CORNERS.exec(line) ?? [];
  // What goes by the notch of a phone lies where the notch lies; and the middle is the middle from
  // everywhere.
  if (line.includes('--safe-left') && line.includes('--safe-right')) return false;
  if (end === 'auto' && start === '50%') return false;
  return PHYSICAL.some((each) => each.test(line)) || end !== start || topStart !== topEnd || bottomEnd !== bottomStart;
};

it('styles speak of the start and the end of a line: left and right are the other way round in half of the languages', () => {
  const files = readdirSync(UI, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.css') && !PICTURES.includes(file),
  );
  expect(files.length).toBeGreaterThan(20);
  const found = files.flatMap((file) =>
    readFileSync(join(UI, file), 'utf8')
      .split('\n')
      .flatMap((line, i) => (isPhysical(line.trim()) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
  expect(['margin-left: 1px;', 'left: 0;', 'padding: 1px 2px 3px 4px;', 'text-align: right;'].every(isPhysical)).toBe(
    true,
  );
});

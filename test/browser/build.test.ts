import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));

it('the build holds nothing of the workshop', () => {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' });
  expect(existsSync(join(dist, 'page/index.html'))).toBe(true);
  expect(files.filter((file) => /gallery|seed/.test(file))).toEqual([]);
  const code = files.filter((file) => /\.(js|css|html)$/.test(file));
  expect(code.length).toBeGreaterThan(10);
  // Names of the gallery's scenes, and of what stands in for the relay there.
  const planted = /States of the page|seats, every state|relay\.test/;
  expect(code.filter((file) => planted.test(readFileSync(join(dist, file), 'utf8')))).toEqual([]);
});

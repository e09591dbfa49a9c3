import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { OWNER } from '../bench/page-weight.ts';

/**
 * As `npm run bench -- page-weight` holds them, which follows imports; these are what the page
 * itself names.
 */
const SHELL_KB = 130;
const REQUESTS = 8;
/**
 * Scripts of the whole page, workers among them: all are fetched at the first visit, and each costs
 * the relay and the browser.
 */
const SCRIPTS = 30;
const dist = fileURLToPath(new URL('../../dist', import.meta.url));

it('contains nothing of the workshop in the build', () => {
  const files = ['page', 'server'].flatMap((part) =>
    readdirSync(join(dist, part), { recursive: true, encoding: 'utf8' }).map((file) => join(part, file)),
  );
  expect(existsSync(join(dist, 'page/index.html'))).toBe(true);
  expect(files.filter((file) => /gallery|seed/.test(file))).toEqual([]);
  const code = files.filter((file) => /\.(js|css|html)$/.test(file));
  expect(code.length).toBeGreaterThan(10);
  // Names of the gallery's scenes, and of what stands in for the relay there.
  const planted = /States of the page|seats, every state|relay\.test/;
  expect(code.filter((file) => planted.test(readFileSync(join(dist, file), 'utf8')))).toEqual([]);
});

it('answers questions from the build that is there', () => {
  const asked = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(dist, '../server/start.mjs'), ...args], { encoding: 'utf8' });
  const help = asked('--help');
  expect(help.stdout).toContain('--port');
  expect(help.stdout).not.toContain('Building');
  const stop = asked('--stop', '--home', join(tmpdir(), 'roost-nowhere'));
  expect(stop.stdout).not.toContain('Building');
  expect(`${stop.stdout}${stop.stderr}`).toContain('roost-nowhere');
});

it('does not test whether it may evaluate text, which its policy forbids and consoles would show', () => {
  const assets = join(dist, 'page/assets');
  const code = readdirSync(assets)
    .filter((file) => file.endsWith('.js'))
    .map((file) => [file, readFileSync(join(assets, file), 'utf8')] as const);
  // What checks documents would find out by trying, in the page and in every worker, unless it is
  // told.
  const asking = code.filter(([, text]) => /return (?:new )?Function\(/.test(text));
  expect(asking.length).toBeGreaterThan(1);
  expect(asking.filter(([, text]) => !/\.jitless\s*=\s*(?:!0|true)/.test(text)).map(([file]) => file)).toEqual([]);
});

it('loads little in few files before the first paint', () => {
  const page = readFileSync(join(dist, 'page/index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, path = '']) => path);
  const kb = (path: string) => gzipSync(readFileSync(join(dist, 'page', path)), { level: 9 }).length / 1000;
  const scripts = named.filter((path) => path.endsWith('.js'));
  expect(scripts.length).toBeGreaterThan(1);
  expect(scripts.reduce((sum, path) => sum + kb(path), 0)).toBeLessThan(SHELL_KB);
  expect(named.length + 1).toBeLessThanOrEqual(REQUESTS);
  expect(readdirSync(join(dist, 'page/assets')).filter((file) => file.endsWith('.js')).length).toBeLessThan(SCRIPTS);
});

it('the worker that every page starts is found among the scripts, as its weight is', () => {
  expect(readdirSync(join(dist, 'page/assets')).filter((file) => OWNER.test(file))).toHaveLength(1);
});

it('fetches the drawing library for a drawing alone, and never on a first visit', () => {
  const drawing = readdirSync(join(dist, 'page/assets')).filter((file) => file.startsWith('drawing-worker-'));
  expect(drawing.filter((file) => file.endsWith('.js'))).toHaveLength(1);
  expect(readFileSync(join(dist, 'page/service-worker.js'), 'utf8')).not.toContain('drawing-worker-');
});

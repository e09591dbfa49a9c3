/**
 * `npm start` and `npm run build` in a small clone: the scripts are the real ones, and Vite builds;
 * the page and the relay are a few lines each, so that a build takes a second.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { longTests } from '../../support/long-tests.ts';

const itLong = longTests('relay/startup/start.test.ts');

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SCRIPTS = ['start.mjs', ...['build.mjs', 'builds.mjs', 'package-root.ts'].map((name) => `startup/${name}`)];
/** ms; a busy machine is not a failure. */
const PATIENCE_MS = 50_000;

/** Answers with the files of its page, and with their list. */
const RELAY = `
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { useBuildOf } from './startup/builds.mjs';
import { findPackageRoot } from './startup/package-root.ts';
if (process.argv.includes('--help')) console.log('HELP');
else {
  const { path, pageFolder } = findPackageRoot(import.meta.url);
  useBuildOf(path, pageFolder);
  const server = createServer(({ url = '' }, answer) => {
    try {
      answer.end(readFileSync(join(pageFolder, url === '/' ? 'index.html' : url)));
    } catch {
      answer.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1', () => console.log('LISTENS ' + server.address().port));
}
`;
/**
 * Counts the builds, waits in each for as long as \`hold\` is there, and adds a file from what the
 * build has written.
 */
const CONFIG = `
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const counted = {
  name: 'counted',
  async buildStart() {
    appendFileSync('builds.log', 'built ');
    while (existsSync('hold')) await new Promise((resolve) => setTimeout(resolve, 20));
  },
  async writeBundle({ dir }) {
    const names = readdirSync(join(dir, 'assets'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const name of names) writeFileSync(join(dir, 'assets', name + '.copy'), readFileSync(join(dir, 'assets', name)));
  },
};
export default ({ isSsrBuild }) => ({
  plugins: isSsrBuild ? [] : [counted],
  build: isSsrBuild ? {} : { outDir: 'dist/page', emptyOutDir: true },
});
`;

interface Started {
  readonly said: () => string;
  /** Its page, with every file that it names. Rejects where one is missing. */
  page(): Promise<string>;
  readonly child: ChildProcess;
  end(): Promise<void>;
}

let clone: string;
let running: ChildProcess[];
beforeEach(async () => {
  running = [];
  clone = await mkdtemp(join(tmpdir(), 'roost-clone-'));
  await mkdir(join(clone, 'server/startup'), { recursive: true });
  await mkdir(join(clone, 'src'));
  await cp(join(ROOT, 'package.json'), join(clone, 'package.json'));
  for (const name of SCRIPTS) await cp(join(ROOT, 'server', name), join(clone, 'server', name));
  await symlink(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  await writeFile(join(clone, 'server/main.ts'), RELAY);
  await writeFile(join(clone, 'vite.config.ts'), CONFIG);
  await writeFile(join(clone, 'index.html'), '<script type="module" src="/src/main.ts"></script>');
  await say('first');
});
afterEach(async () => {
  for (const child of running) {
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await once(child, 'close');
    }
  }
  await rm(clone, { recursive: true });
});

/** What the page says from now on. */
const say = (words: string) =>
  writeFile(join(clone, 'src/main.ts'), `document.title = '${words}'; void import('./later.ts');`).then(() =>
    writeFile(join(clone, 'src/later.ts'), `document.body.append('${words} later');`),
  );
const builds = async () =>
  (await readFile(join(clone, 'builds.log'), 'utf8').catch(() => '')).split('built ').length - 1;
const whileHeld = async (act: () => Promise<unknown>) => {
  await writeFile(join(clone, 'hold'), '');
  await act();
  await rm(join(clone, 'hold'));
};
/** The builds that lie there. */
const kept = () => readdir(join(clone, 'dist/builds'));

/** A script of the clone, in a process group of its own, as a terminal runs it. */
function script(name: 'start' | 'build', ...args: readonly string[]) {
  const child = spawn(
    process.execPath,
    [join(clone, name === 'start' ? 'server/start.mjs' : 'server/startup/build.mjs'), ...args],
    {
      cwd: clone,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  running.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  return { child, said: () => said, ended: once(child, 'close').then(() => child.exitCode) };
}

async function start(): Promise<Started> {
  const { child, said, ended } = script('start');
  await expect.poll(() => said().includes('LISTENS') || child.exitCode !== null, { timeout: PATIENCE_MS }).toBe(true);
  const port = /LISTENS (\d+)/.exec(said())?.[1];
  if (port === undefined) throw new Error(`It did not start: ${said()}`);
  const fetched = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${path}`);
    if (!answer.ok) throw new Error(`${path} is not there`);
    return await answer.text();
  };
  return {
    child,
    said,
    async page() {
      const whole = [await fetched('')];
      const named = (text: string) =>
        [...text.matchAll(/(?:assets\/|\.\/)[\w-]+\.js/g)].map(([path]) => path.replace('./', 'assets/'));
      for (let waiting = named(whole.join('')); waiting.length > 0;) {
        const texts = await Promise.all(waiting.map(async (path) => (await fetched(`${path}.copy`)) && fetched(path)));
        whole.push(...texts);
        waiting = texts.flatMap(named);
      }
      return whole.join('\n');
    },
    async end() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
const buildNow = async () => {
  const { ended, said } = script('build');
  return { code: await ended, said: said() };
};

describe('npm start', () => {
  it('builds once for two that start at once in one clone, where an older Roost has left a build of its own kind', async () => {
    await mkdir(join(clone, 'dist/page'), { recursive: true });
    await writeFile(join(clone, 'dist/page/index.html'), 'old');
    const both = await Promise.all([start(), start()]);
    for (const one of both) {
      expect(await one.page()).toContain('first later');
    }
    expect(await builds()).toBe(1);
    expect(await readFile(join(clone, 'dist/page/index.html'), 'utf8')).toContain('assets/');
  });

  itLong('builds again only for sources that differ, whatever their dates say', async () => {
    await (await start()).end();
    const past = new Date(Date.now() - 86_400_000);
    for (const date of [new Date(), past]) {
      await utimes(join(clone, 'src/main.ts'), date, date);
      const again = await start();
      expect(again.said()).not.toContain('Building');
      await again.end();
    }
    expect(await builds()).toBe(1);
    // As `git checkout` of an older state leaves it.
    await say('other');
    await utimes(join(clone, 'src/main.ts'), past, past);
    expect(await (await start()).page()).toContain('other later');
    expect(await builds()).toBe(2);
  });

  it('leaves a running relay its page, and removes that build once nobody uses it', async () => {
    const first = await start();
    await say('second');
    const second = await start();
    expect(await second.page()).toContain('second later');
    expect(await first.page()).toContain('first later');
    await buildNow();
    expect(await kept()).toHaveLength(2);
    await first.end();
    expect(await buildNow()).toEqual({ code: 0, said: '' });
    expect(await kept()).toHaveLength(1);
    expect(await second.page()).toContain('second later');
    expect(await builds()).toBe(2);
  });

  itLong('builds anew after a build that was killed, and where a build has lost a part', async () => {
    await whileHeld(async () => {
      const { child, ended } = script('build');
      await expect.poll(builds, { timeout: PATIENCE_MS }).toBe(1);
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      await ended;
    });
    const started = await start();
    expect(await started.page()).toContain('first later');
    await started.end();
    expect(await readdir(join(clone, 'dist/making'))).toEqual([]);
    const assets = join(clone, 'dist/page/assets');
    await truncate(join(assets, (await readdir(assets))[0] ?? ''), 0);
    expect(await (await start()).page()).toContain('first later');
    expect(await builds()).toBe(3);
  });

  it('never runs what was built of sources that changed under it', async () => {
    await whileHeld(async () => {
      const building = script('build');
      await expect.poll(builds, { timeout: PATIENCE_MS }).toBe(1);
      await say('changed');
      await rm(join(clone, 'hold'));
      expect(await building.ended).toBe(0);
      await writeFile(join(clone, 'hold'), '');
    });
    expect(await builds()).toBe(2);
    const started = await start();
    expect(started.said()).not.toContain('Building');
    expect(await started.page()).toContain('changed later');
  });

  itLong(
    'says what a build failed of and starts nothing, while what only asks is answered by the build that is there',
    async () => {
      await (await start()).end();
      await appendFile(join(clone, 'src/main.ts'), '\nimport "./nowhere.ts";');
      const failed = script('start');
      expect(await failed.ended).toBe(1);
      expect(failed.said()).toContain('nowhere.ts');
      expect(failed.said()).not.toContain('LISTENS');
      const asked = script('start', '--help');
      expect(await asked.ended).toBe(0);
      expect(asked.said()).toBe('HELP\n');
      await rm(join(clone, 'node_modules'));
      const missing = await buildNow();
      expect(missing).toEqual({ code: 1, said: expect.stringContaining('npm install') });
    },
  );
});

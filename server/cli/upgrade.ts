/**
 * `roost upgrade --rehearse`: this version opens a copy of the home, migrates it, and serves. The
 * home itself is only read. Agents must remember in the copy what they remembered before
 * (`upgrade-exam.ts`). `roost upgrade` does the same, and then migrates the home.
 *
 * The copy is served by another process, with nothing of this one's environment that names a model
 * or a database. Nothing that is due runs in a copy.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cp, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../src/shared/domain/platform/error-message.ts';
import { StartError } from '../platform/errors.ts';
import { addCertificates } from '../exams/index.ts';
import { startProgram } from '../platform/processes/index.ts';
import { ENDS_WITH_PARENT } from '../startup/settings.ts';
import { createSealer, readSealingKey } from '../platform/sealer.ts';
import { addressOfRelay, createFolderBeside, lockHome, SEALING_KEY } from '../startup/home.ts';
import { openStore, STORE_FILE } from '../store/index.ts';
import { LEFT_OUT } from './archive.ts';
import { realHome, withStoreCopy } from './backup.ts';
import { rememberedIn, type UpgradeExam, upgradeExam } from './upgrade-exam.ts';
import type { Command } from './index.ts';

/** ms for the start of the copy, and for each answer of it. */
const START_MS = 60_000;
const ANSWER_MS = 30_000;

/** The variables that a relay on the copy may see. */
const isHarmless = (name: string) => !/^(ROOST_|ANTHROPIC_|DATABASE_URL$|npm_lifecycle_event$)/.test(name);

/** Sockets and the like cannot be copied. */
async function isCopied(path: string): Promise<boolean> {
  const found = await lstat(path);
  return found.isFile() || found.isDirectory() || found.isSymbolicLink();
}

/** Copies everything of the home but what only a running relay needs. */
async function copyHome(home: string, to: string): Promise<void> {
  const options = { recursive: true, verbatimSymlinks: true, filter: isCopied };
  await withStoreCopy(home, async (storeCopy) => {
    for (const name of await readdir(home))
      if (!LEFT_OUT.has(name)) await cp(join(home, name), join(to, name), options);
    if (storeCopy === null) return;
    await mkdir(join(to, 'store'));
    await cp(storeCopy, join(to, 'store', STORE_FILE));
  });
}

/** Rejects with a sentence where the relay on this home does not come to serve. */
async function serveOnce(home: string): Promise<void> {
  const [, main = ''] = process.argv;
  const options = [...process.execArgv, main, '--home', home, '--port', '0', '--no-open', '--no-warm-up'];
  const harmless = Object.entries(process.env).filter(([name]) => isHarmless(name));
  // Where this process is killed, the relay on the copy ends too.
  const env = { ...Object.fromEntries(harmless), [ENDS_WITH_PARENT]: '1' };
  const child = startProgram({ program: process.execPath, options }, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const closed = once(child, 'close');
  let printed = '';
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
  try {
    const origin = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`it printed no link in ${START_MS / 1_000} s`)), START_MS);
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const link = /https?:\/\/\S+\/enter\?/.exec(printed)?.[0];
        if (link === undefined) return;
        clearTimeout(timer);
        resolve(new URL(link).origin);
      });
      child.once('error', reject);
      child.once('exit', () => {
        clearTimeout(timer);
        reject(new Error(output.trim() || 'it ended at once'));
      });
    });
    const answer = await fetch(`${origin}/health/ready`, { signal: AbortSignal.timeout(ANSWER_MS) });
    if (!answer.ok) throw new Error(`it is not ready: ${await answer.text()}`);
  } finally {
    child.kill('SIGTERM');
    await closed;
  }
}

/**
 * Resolves with the continuity exam on the copy. Rejects with `StartError` where this version
 * cannot use the home, or where an agent would lose what it remembers.
 */
async function rehearse(home: string): Promise<UpgradeExam> {
  const refuse = (what: string) => (error: unknown) => {
    throw new StartError(`${what}: ${errorMessage(error)} The home is as it was.`, 1, { cause: error });
  };
  const folder = await createFolderBeside(home, 'rehearsal').catch(refuse('The home cannot be copied'));
  try {
    await copyHome(home, folder).catch(refuse('The home cannot be copied'));
    const store = join(folder, 'store');
    const unusable = refuse('This version cannot use the home');
    const sealer = createSealer(await readSealingKey(join(folder, SEALING_KEY)));
    const before = await rememberedIn(store, sealer).catch(unusable);
    await serveOnce(folder).catch(unusable);
    const exam = upgradeExam(before, await rememberedIn(store, sealer).catch(unusable));
    if (exam.lost.length === 0) return exam;
    const names = exam.lost.map(({ name, count }) => `${name} (${count} of its answers)`).join(', ');
    throw new StartError(
      `After the upgrade, these agents would not remember what they do now: ${names}. The home is as it was.`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Migrates the store of a home on which no relay runs. All steps are one transaction, so a failure
 * or a kill leaves the store as it was. Each agent then has what it was asked as a certificate.
 */
async function migrate(home: string, { certificates }: UpgradeExam, version: string): Promise<void> {
  const lock = await lockHome(home);
  try {
    const store = await openStore({ folder: join(home, 'store'), databaseUrl: null });
    try {
      await addCertificates(store.db, certificates, { version, now: Date.now(), newId: randomUUID });
    } finally {
      await store.close();
    }
  } finally {
    await lock.release();
  }
}

export const upgrade: Command = async ({ config, flags, version, tell }) => {
  if (config.databaseUrl !== null)
    throw new StartError(
      'The store is in Postgres. Restore a dump of it into another database, and start this version there with another --home.',
    );
  const home = await realHome(config.home);
  const onlyRehearses = flags.includes('--rehearse');
  if (!onlyRehearses && (await addressOfRelay(home)) !== null)
    throw new StartError('A relay runs on this home. End it with --stop first, or add --rehearse.');
  const exam = await rehearse(home);
  const { agents, questions } = exam;
  tell(`Roost ${version} opened a copy of ${home}, and served from it.`);
  if (questions > 0)
    tell(`${questions} questions about what ${agents} of its agents remember were answered as before.`);
  if (onlyRehearses) return 0;
  await migrate(home, exam, version);
  tell('The home is now of this version. Start Roost.');
  return 0;
};

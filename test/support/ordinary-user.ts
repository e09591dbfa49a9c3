/**
 * Runs a program of the tests as a user who is not root, also where the tests are: much is bounded
 * in another way then.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { programOf } from './relay-build.ts';

/** Nobody's. */
const USER = 54_321;
const isRoot = process.getuid?.() === 0;
const AS_USER = isRoot ? ['setpriv', '--reuid', `${USER}`, '--regid', `${USER}`, '--clear-groups', '--'] : [];

/** Why no program can be run so here; null: one can. */
export function whyNoOrdinaryUser(): string | null {
  const [command = process.execPath, ...args] = [...AS_USER, process.execPath, '-v'];
  return spawnSync(command, args).status === 0 ? null : 'no other user can run Node here';
}

export interface OrdinaryPlace {
  /** On a disk, and not in memory: what takes room there is counted as it is everywhere. */
  readonly folder: string;
  /** Gives the place of a control group to the user. */
  own(path: string): Promise<void>;
  /**
   * Runs it with `given` at its input; resolves with what it wrote as JSON. `before`: a shell
   * command in which it is begun, as the tests’ own user.
   */
  run(given: unknown, before?: string): Promise<unknown>;
  remove(): Promise<void>;
}

/** `entry`: a file of the project. */
export async function createOrdinaryPlace(entry: string): Promise<OrdinaryPlace> {
  const folder = await mkdtemp('/tmp/roost-ordinary-');
  const own = (path: string) => (isRoot ? chown(path, USER, USER) : Promise.resolve());
  await chmod(folder, 0o755);
  await own(folder);
  const program = await programOf(entry);
  const copied = join(folder, 'program');
  await cp(dirname(program), copied, { recursive: true });
  await writeFile(join(copied, 'package.json'), '{"type":"module"}');
  // It was made for its owner alone.
  await chmod(copied, 0o755);
  return {
    folder,
    own,
    run: (given, before = 'true') =>
      new Promise((done, failed) => {
        const command = [...AS_USER, process.execPath, join(copied, basename(program))];
        const child = spawn('/bin/sh', ['-c', `${before} || exit 1; exec "$@"`, 'sh', ...command], {
          cwd: folder,
          env: { PATH: process.env['PATH'], TMPDIR: folder, HOME: folder },
          stdio: ['pipe', 'pipe', 'inherit'],
        });
        let said = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
        child.once('error', failed);
        child.once('close', (code) => {
          if (code !== 0) return failed(new Error(`it ended with ${code ?? 'a signal'}`));
          done(JSON.parse(said));
        });
        child.stdin.end(JSON.stringify(given));
      }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

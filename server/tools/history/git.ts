/**
 * Git, as the history uses it: found on the path, and started so that nothing but its arguments
 * decides what it does. It has no settings of the machine or the user, no hooks, no attributes, no
 * filters and no network, and it never looks into an agent's folder.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { programAt, startProgram } from '../../platform/processes/index.ts';
import { HISTORY_LIMITS } from './settings.ts';

export type GitState = { readonly kind: 'on'; readonly file: string } | { readonly kind: 'no-git' | 'old-git' };

/** Git has failed, or took too long. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly why: 'disk-full' | 'too-slow' | 'broken';
  constructor(why: GitError['why'], message: string) {
    super(message);
    this.why = why;
  }
}

const SETTINGS = {
  'core.hooksPath': '/dev/null',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  'core.fsmonitor': 'false',
  'core.autocrlf': 'false',
  'core.quotePath': 'false',
  'core.symlinks': 'true',
  'core.compression': '1',
  /** Longer contents are streamed and not compared with others, so that memory stays small. */
  'core.bigFileThreshold': '1m',
  'core.logAllRefUpdates': 'false',
  'fastimport.unpackLimit': '1',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'pack.threads': '1',
  'pack.windowMemory': '64m',
  'pack.writeReverseIndex': 'false',
  'protocol.allow': 'never',
  'safe.directory': '*',
} as const;

const arguments_ = (folder: string) => [
  `--git-dir=${folder}`,
  '--no-pager',
  '--no-replace-objects',
  '--no-optional-locks',
  ...Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
];

/** Its whole environment. */
const environment = (folder: string) => ({
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: '',
});

/** Characters of git's own words about a failure. */
const WORDS = 2_000;

export interface Running {
  readonly child: ChildProcess;
  /** Writes to its input, as fast as it reads. Throws `GitError` if it has ended. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Resolves when it has ended well. Throws `GitError`. */
  ended(): Promise<void>;
}

/** Starts git on the repository in `folder`. It is killed after `limitMs`. */
export function startGit(file: string, folder: string, args: readonly string[], limitMs: number): Running {
  const child = startProgram(file, [...arguments_(folder), ...args], {
    cwd: folder,
    env: environment(folder),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let words = '';
  let isLate = false;
  let failure: Error | null = null;
  child.on('error', (error) => (failure = error));
  child.stdin?.on('error', () => undefined);
  child.stderr?.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(-WORDS)));
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, limitMs);
  const closed = new Promise<void>((done) => void child.once('close', () => done()));
  void closed.then(() => clearTimeout(timer));
  async function ended(): Promise<void> {
    child.stdin?.end();
    await closed;
    if (isLate) throw new GitError('too-slow', `git ${args[0]} took more than ${limitMs} ms.`);
    if (failure) throw new GitError('broken', `git could not be started: ${failure.message}`);
    if (child.exitCode === 0) return;
    const why = /No space left on device|Disk quota exceeded/.test(words) ? 'disk-full' : 'broken';
    throw new GitError(why, `git ${args[0]} ended with ${child.exitCode ?? child.signalCode}. ${words}`);
  }
  return {
    child,
    async write(bytes) {
      const input = child.stdin;
      if (!input?.writable) {
        await ended();
        throw new GitError('broken', `git ${args[0]} has ended too early.`);
      }
      // Where it has failed, its end says why.
      const drained = () => once(input, 'drain').catch(() => undefined);
      if (!input.write(bytes)) await Promise.race([drained(), closed]);
    },
    ended,
  };
}

/** Runs git to its end, and resolves with its output. Throws `GitError`. */
export async function askGit(
  file: string,
  folder: string,
  args: readonly string[],
  input: string | Uint8Array = '',
): Promise<Buffer> {
  const running = startGit(file, folder, args, HISTORY_LIMITS.gitMs);
  const chunks: Buffer[] = [];
  let size = 0;
  running.child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= HISTORY_LIMITS.answerBytes) chunks.push(chunk);
    else running.child.kill('SIGKILL');
  });
  if (input.length > 0) await running.write(input);
  await running.ended();
  return Buffer.concat(chunks);
}

/** Finds git, and finds it again some time after it was missing. */
export function createGitFinder(elapsed: () => number, path?: string): () => Promise<GitState> {
  let known: { readonly state: Promise<GitState>; readonly at: number } | null = null;
  async function findGit(): Promise<GitState> {
    const file = programAt('git', path);
    if (file === null) return { kind: 'no-git' };
    const words = await askGit(file, '/', ['version']).catch(() => null);
    const version = /(\d+)\.(\d+)/.exec(words?.toString() ?? '');
    if (!version) return { kind: 'no-git' };
    const [major, minor] = [Number(version[1]), Number(version[2])];
    const [leastMajor, leastMinor] = HISTORY_LIMITS.leastGit;
    if (major < leastMajor || (major === leastMajor && minor < leastMinor)) return { kind: 'old-git' };
    return { kind: 'on', file };
  }
  return async () => {
    const state = await known?.state;
    if (known && state && (state.kind === 'on' || elapsed() - known.at < HISTORY_LIMITS.recheckMs)) return state;
    known = { state: findGit(), at: elapsed() };
    return await known.state;
  };
}

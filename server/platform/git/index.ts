/**
 * Runs git in the relay's own repositories, and nowhere else.
 *
 * What comes from a repository is not trusted: its configuration, hooks, filters, addresses, names
 * and sizes. So git reads no configuration but the one given here, runs no hook and no other
 * program, and reaches no address but the one that the call names. Each call has a bound of time,
 * memory and output, and waits in the lane of its household.
 *
 * Main functions: `git`, `gitText`, `startGit`.
 */
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sentence } from '../../../src/shared/domain/names.ts';
import { codeOf } from '../errors.ts';
import { type Lane, LaneFullError } from '../lanes.ts';
import { ArgumentError, programAt, startShort } from '../processes/index.ts';
import { GIT_LIMITS } from './settings.ts';

export { GIT_LANES, GIT_LIMITS } from './settings.ts';

/** `failed`: git ended with an error of its own, which is in the message. */
export type GitFailure = 'missing' | 'busy' | 'too-slow' | 'too-much' | 'disk-full' | 'stopped' | 'failed';

/** The message is a sentence, without the address of a server, which may hold a secret. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly why: GitFailure;
  constructor(message: string, why: GitFailure = 'failed') {
    super(message);
    this.why = why;
  }
}

/**
 * Faults that old tools left in the history of real repositories, and that do no harm. All other
 * checks of fsck stay errors. Names: git-fsck(1).
 */
const TOLERATED = [
  ...['badDate', 'badDateOverflow', 'badEmail', 'badTimezone', 'missingEmail', 'missingNameBeforeEmail'],
  ...['missingSpaceBeforeDate', 'missingSpaceBeforeEmail', 'multipleAuthors', 'nulInCommit'],
  ...['zeroPaddedDate', 'zeroPaddedFilemode', 'badFilemode', 'missingTaggerEntry', 'badTagName'],
];

const SETTINGS: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  'core.fsmonitor': 'false',
  'core.autocrlf': 'false',
  'core.quotePath': 'false',
  'core.symlinks': 'true',
  'core.alternateRefsCommand': '',
  'core.sshCommand': 'false',
  'core.compression': '1',
  'core.bigFileThreshold': String(GIT_LIMITS.bigFile),
  'core.logAllRefUpdates': 'false',
  'credential.helper': '',
  'http.followRedirects': 'false',
  'fetch.fsckObjects': 'true',
  'transfer.fsckObjects': 'true',
  ...Object.fromEntries(TOLERATED.map((id) => [`fetch.fsck.${id}`, 'warn'])),
  'fastimport.unpackLimit': '1',
  'submodule.recurse': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'pack.threads': '1',
  'pack.windowMemory': '64m',
  'pack.writeReverseIndex': 'false',
  'commit.gpgSign': 'false',
  'safe.directory': '*',
  'user.name': 'Roost',
  'user.email': 'roost@localhost',
};

export interface GitPlace {
  /** The household's. What `startGit` starts takes no turn: its caller bounds it. */
  readonly lane: Lane;
  /** Left out: no repository, as for a new one. */
  readonly gitDir?: string;
  /** Where git is looked for. Left out: the relay’s own path. */
  readonly path?: string | undefined;
}

export interface GitCall extends GitPlace {
  /** Commits, references, addresses and files. None may begin with `-`. */
  readonly of?: readonly string[];
  /** Paths in the repository. */
  readonly paths?: readonly string[];
  /** A stream is written as fast as git reads it. */
  readonly input?: string | Uint8Array | AsyncIterable<string | Buffer>;
  /**
   * Receives the output piece by piece, and git waits for it. The answer has no `out` then. Left
   * out: `out` has all of it, at most `most` bytes.
   */
  readonly output?: (piece: Buffer) => void | Promise<void>;
  /** Left out: `GIT_LIMITS`. */
  readonly ms?: number;
  readonly memory?: number;
  readonly most?: number;
  /** Resolve with the beginning of a longer output, and end git there. Left out: it is an error. */
  readonly cut?: boolean;
  /** Protocols that it may use. Left out: none. */
  readonly protocols?: 'file' | 'https' | 'http:https';
  /** Further settings, such as a header with a token. They are not in the list of processes. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that are no error. Left out: 0 alone. */
  readonly codes?: readonly number[];
  readonly signal?: AbortSignal;
}

export interface GitAnswer {
  readonly code: number;
  readonly out: Buffer;
  /** The output was longer. */
  readonly isCut: boolean;
}

/** Limits the memory of git alone. Files that it maps do not count. Sizes in KiB. */
const BOUNDED = 'ulimit -d "$1" 2>/dev/null; shift; exec "$@"';

export interface Running {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Writes to its input, as fast as it reads. Throws `GitError` if it has ended. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Ends its input. Resolves with its exit code, one of `codes`. Throws `GitError`. */
  ended(): Promise<number>;
  /** Ends it and its helpers. `ended` throws this. */
  stop(error: unknown): void;
}

type GitStart = Pick<
  GitCall,
  'gitDir' | 'path' | 'of' | 'paths' | 'ms' | 'memory' | 'protocols' | 'settings' | 'env' | 'codes'
>;

/**
 * Starts git, with its input and output open. `words`: the command and its options, as the relay
 * writes them. Rejects with `ArgumentError`.
 */
export async function startGit(words: readonly string[], call: GitStart): Promise<Running> {
  const { gitDir, of = [], paths = [], protocols, ms = GIT_LIMITS.ms, memory = GIT_LIMITS.memory, codes = [0] } = call;
  const settings = Object.entries({ ...SETTINGS, ...call.settings });
  const { pid, stdin, stdout, stderr, closed } = await startShort(
    {
      program: '/bin/sh',
      options: ['-c', BOUNDED, 'sh', String(Math.floor(memory / 1_024))],
      mark: null,
      runs: {
        program: (call.path !== undefined && programAt('git', call.path)) || 'git',
        options: [
          ...(gitDir === undefined ? [] : [`--git-dir=${gitDir}`]),
          ...['--no-pager', '--no-replace-objects', '--no-optional-locks', ...words],
        ],
        mark: '--end-of-options',
        operands: of,
        paths,
      },
    },
    {
      cwd: '/',
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: '/nonexistent',
        LC_ALL: 'C',
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_SYSTEM: '/dev/null',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_ATTR_NOSYSTEM: '1',
        GIT_TERMINAL_PROMPT: '0',
        GIT_ALLOW_PROTOCOL: protocols ?? 'none',
        GIT_CONFIG_COUNT: String(settings.length),
        ...Object.fromEntries(
          settings.flatMap(([key, value], i) => [
            [`GIT_CONFIG_KEY_${i}`, key],
            [`GIT_CONFIG_VALUE_${i}`, value],
          ]),
        ),
        ...call.env,
      },
    },
  );
  const name = words[0] ?? '';
  let errorText = '';
  let failure: Error | null = null;
  const stop = (error: unknown) => {
    failure ??= error instanceof Error ? error : new GitError(String(error));
    // The whole group: a helper of git may hold its output open.
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The process has ended already.
    }
  };
  stdin.on('error', () => undefined);
  stderr.on('data', (piece: Buffer) => {
    errorText = (errorText + piece.toString('utf8')).slice(-GIT_LIMITS.words);
  });
  const seconds = Math.round(ms / 1_000);
  const timer = setTimeout(() => stop(new GitError(`git ${name} did not end within ${seconds} s.`, 'too-slow')), ms);
  void closed.then(() => clearTimeout(timer));
  async function ended(): Promise<number> {
    stdin.end();
    const code = await closed;
    if (failure) throw failure;
    if (code !== null && codes.includes(code)) return code;
    throw errorOf(errorText, name, code);
  }
  return {
    ...{ stdin, stdout, stop, ended },
    async write(bytes) {
      if (!stdin.writable) {
        await ended();
        throw new GitError(`git ${name} has ended too early.`);
      }
      // If git fails, its end says why.
      const drained = () => once(stdin, 'drain').catch(() => undefined);
      if (!stdin.write(bytes)) await Promise.race([drained(), closed]);
    },
  };
}

/** Throws `GitError`, also where git cannot be given some text. */
export async function git(words: readonly string[], call: GitCall): Promise<GitAnswer> {
  try {
    return await call.lane(() => runGit(words, call));
  } catch (error) {
    if (error instanceof ArgumentError) throw new GitError(error.message);
    if (!(error instanceof LaneFullError)) throw error;
    throw new GitError(sentence`Too much of your household waits for git. Try again in a moment.`, 'busy');
  }
}

const isAborted = (signal: AbortSignal | undefined) => signal?.aborted ?? false;

async function runGit(words: readonly string[], call: GitCall): Promise<GitAnswer> {
  const { signal, input = '', most = GIT_LIMITS.most, cut = false } = call;
  if (isAborted(signal)) throw stopped();
  const running = await startGit(words, call);
  const { stdin, stdout } = running;
  const onAbort = () => running.stop(stopped());
  signal?.addEventListener('abort', onAbort);
  if (isAborted(signal)) onAbort();
  const pieces: Buffer[] = [];
  let bytes = 0;
  const tooLong = new GitError('git wrote more than the relay reads.', 'too-much');
  const keep = (piece: Buffer) => {
    bytes += piece.length;
    pieces.push(piece);
    if (bytes > most) throw tooLong;
  };
  const isRead = (async () => {
    for await (const piece of stdout) await (call.output ?? keep)(piece as Buffer);
  })().catch(running.stop);
  const isStream = typeof input === 'object' && Symbol.asyncIterator in input;
  const isWritten = isStream ? pipeline(input, stdin).catch(unlessUnread).catch(running.stop) : null;
  if (!isStream) stdin.end(input);
  try {
    await Promise.all([isRead, isWritten]);
    const code = await running.ended();
    return { code, out: Buffer.concat(pieces), isCut: false };
  } catch (error) {
    if (error !== tooLong || !cut) throw error;
    return { code: 0, out: Buffer.concat(pieces).subarray(0, most), isCut: true };
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Git has stopped reading. Its exit says why. */
const UNREAD = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'];
function unlessUnread(error: unknown): void {
  if (!UNREAD.includes(codeOf(error) ?? '')) throw error;
}

const stopped = () => new GitError('It was stopped.', 'stopped');

/** As `git`, with its output as text without the newline at its end. */
export const gitText = async (words: readonly string[], call: GitCall): Promise<string> =>
  (await git(words, call)).out.toString('utf8').replace(/\n$/, '');

export const NO_GIT = sentence`git is not installed on the relay’s machine. Install it, and try again.`;
/** What the shell exits with where it finds no program. */
const NOT_FOUND = 127;

function errorOf(said: string, name: string, code: number | null): GitError {
  if (code === NOT_FOUND && programAt('git') === null) return new GitError(NO_GIT, 'missing');
  if (/No space left on device|Disk quota exceeded/.test(said))
    return new GitError(`The disk is full. ${lastWords(said)}`, 'disk-full');
  if (/out of memory|cannot allocate memory|unable to (mmap|create thread)/i.test(said))
    return new GitError(`git ${name} needs more memory than the relay gives it.`, 'too-much');
  const words = lastWords(said);
  return new GitError(words === '' ? `git ${name} ended with ${code ?? 'a signal'}.` : words);
}

/** The end of what git said, without the address of a server, which may hold a secret. */
function lastWords(said: string): string {
  return said
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('hint:'))
    .slice(-3)
    .join(' ')
    .replaceAll(/\/\/[^\s/@']*@/g, '//')
    .slice(-400);
}

/** Deletes packs of an import that was cut off, and git's reports about it. */
export async function removeUnfinished(gitDir: string): Promise<void> {
  for (const [folder, prefix] of [
    [join(gitDir, 'objects', 'pack'), 'tmp_'],
    [gitDir, 'fast_import_crash_'],
  ] as const)
    for (const name of await readdir(folder).catch(() => []))
      if (name.startsWith(prefix)) await rm(join(folder, name), { force: true });
}

export type GitVersion = readonly [major: number, minor: number];
export type GitState = 'on' | 'no-git' | 'old-git';

/**
 * Finds git, and finds it again some time after it was missing. `least`: the oldest that will do.
 */
export function createGitFinder(
  lane: Lane,
  least: GitVersion,
  elapsed: () => number,
  path?: string,
): () => Promise<GitState> {
  let lastCheck: { readonly state: Promise<GitState>; readonly at: number } | null = null;
  async function findGit(): Promise<GitState> {
    if (programAt('git', path) === null) return 'no-git';
    const words = await gitText(['version'], { lane, path }).catch(() => '');
    const version = /(\d+)\.(\d+)/.exec(words);
    if (!version) return 'no-git';
    const [major, minor] = [Number(version[1]), Number(version[2])];
    return major < least[0] || (major === least[0] && minor < least[1]) ? 'old-git' : 'on';
  }
  return async () => {
    const state = await lastCheck?.state;
    if (lastCheck && state !== undefined && (state === 'on' || elapsed() - lastCheck.at < GIT_LIMITS.recheckMs))
      return state;
    lastCheck = { state: findGit(), at: elapsed() };
    return await lastCheck.state;
  };
}

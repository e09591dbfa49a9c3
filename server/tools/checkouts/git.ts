/**
 * Runs git in the relay's own repositories, and nowhere else.
 *
 * What comes from a repository is not trusted: its configuration, hooks, filters and addresses. So
 * git reads no configuration but the one given here, runs no hook and no other program, and reaches
 * no address but the one that the call names.
 */
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../platform/errors.ts';
import { startProgram } from '../../platform/processes/index.ts';
import { CHECKOUT_LIMITS } from './settings.ts';

/** Git refused, with its own words. */
export class GitError extends Error {
  override readonly name = 'GitError';
}

const SETTINGS: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.autocrlf': 'false',
  'core.quotePath': 'false',
  'core.attributesFile': '/dev/null',
  'core.alternateRefsCommand': '',
  'core.sshCommand': 'false',
  'credential.helper': '',
  'http.followRedirects': 'false',
  'fetch.fsckObjects': 'true',
  'transfer.fsckObjects': 'true',
  'submodule.recurse': 'false',
  'gc.auto': '0',
  'commit.gpgSign': 'false',
  'safe.directory': '*',
  'user.name': 'Roost',
  'user.email': 'roost@localhost',
};

export interface GitCall {
  /** Left out: none, as for a new repository. */
  readonly gitDir?: string;
  /** A stream is written as fast as git reads it. */
  readonly input?: string | Buffer | AsyncIterable<string | Buffer>;
  /**
   * Receives the output piece by piece, and git waits for it. The answer has no `out` then. Left
   * out: `out` has all of it, at most `outputBytes`.
   */
  readonly output?: (piece: Buffer) => void | Promise<void>;
  /** Left out: `gitMs`. */
  readonly ms?: number;
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
}

/** Throws `GitError` for another exit code, for a time-out, and where git is not installed. */
export async function git(args: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
  const { gitDir, input, ms = CHECKOUT_LIMITS.gitMs, protocols, codes = [0], signal } = call;
  const settings = Object.entries({ ...SETTINGS, ...call.settings });
  const child = startProgram('git', [...(gitDir === undefined ? [] : [`--git-dir=${gitDir}`]), ...args], {
    cwd: '/',
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
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
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  const end = () => {
    // The whole group: a helper of git may hold its output open.
    if (child.pid !== undefined)
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
  };
  const pieces: Buffer[] = [];
  let bytes = 0;
  let said = '';
  let why: Error | null = null;
  const fail = (error: unknown) => {
    why ??= error instanceof Error ? error : new GitError(String(error));
    end();
  };
  const stop = (reason: string) => fail(new GitError(reason));
  const keep = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > CHECKOUT_LIMITS.outputBytes) stop('git wrote more than the relay reads.');
    else pieces.push(piece);
  };
  const { stdin, stdout } = child;
  const isRead = (async () => {
    for await (const piece of stdout ?? []) await (call.output ?? keep)(piece as Buffer);
  })().catch(fail);
  child.stderr?.on('data', (piece: Buffer) => {
    said = (said + piece.toString('utf8')).slice(-4 * CHECKOUT_LIMITS.saidChars);
  });
  stdin?.on('error', () => undefined);
  const isStreamed = typeof input === 'object' && !Buffer.isBuffer(input);
  const isWritten = isStreamed && stdin ? writeAll(stdin, input).catch(fail) : Promise.resolve();
  if (!isStreamed) stdin?.end(input);
  const timer = setTimeout(() => stop(`git did not end within ${Math.round(ms / 1_000)} s.`), ms);
  const onAbort = () => stop('It was stopped.');
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted) onAbort();
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          error.code === 'ENOENT'
            ? new GitError('git is not installed on the relay’s machine. Install it, and try again.')
            : error,
        ),
      );
      child.once('close', resolve);
    });
    await Promise.all([isRead, isWritten]);
    // Set by a listener, which the compiler does not see.
    if ((why as Error | null) !== null) throw why as unknown as Error;
    if (code === null || !codes.includes(code))
      throw new GitError(lastWords(said, `git ended with ${code ?? 'a signal'}.`));
    return { code, out: Buffer.concat(pieces) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Git has stopped reading. Its exit says why. */
const UNREAD = ['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'];
async function writeAll(stdin: Writable, input: AsyncIterable<string | Buffer>): Promise<void> {
  await pipeline(input, stdin).catch((error: unknown) => {
    if (!UNREAD.includes(codeOf(error) ?? '')) throw error;
  });
}

/** The end of what git said, without the address of a server, which may hold a secret. */
function lastWords(said: string, otherwise: string): string {
  const lines = said
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('hint:'));
  const text = lines
    .slice(-3)
    .join(' ')
    .replaceAll(/\/\/[^\s/@']*@/g, '//');
  return text === '' ? otherwise : text.slice(-CHECKOUT_LIMITS.saidChars);
}

/** As `git`, with its output as text without the newline at its end. */
export const gitText = async (args: readonly string[], call: GitCall = {}): Promise<string> =>
  (await git(args, call)).out.toString('utf8').replace(/\n$/, '');

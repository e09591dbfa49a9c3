/**
 * The files that a program has Roost read and write: those of its agent's own folder, by the ways
 * that hold for all.
 */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import { createLimiter } from '../../../src/shared/domain/platform/queue.ts';
import { WorkspaceError, type Workspace } from '../workspaces/index.ts';
import type { LineHandlers } from './line.ts';
import type { ProgramLimits } from './settings.ts';

export interface FilesDeps {
  readonly folder: string;
  readonly workspace: Pick<Workspace, 'bytesOf' | 'write'>;
  readonly limits: Pick<ProgramLimits, 'fileBytes' | 'filesAtOnce'>;
  /** Whether the person lets its agent use this tool of Roost's, by whatever way. */
  readonly mayUse: (tool: 'read_file' | 'write_file') => Promise<boolean>;
  /** Roost answers a read of a missing file with an empty one. */
  readonly readsNoneAsEmpty: () => boolean;
  /** Whether this is the program's session. */
  readonly isOwn: (sessionId: string) => boolean;
}

const NEWLINE = 0x0a;

/**
 * Where the line begins that is so many lines below the one at `from`; behind the end and its last
 * break, where there is none.
 */
function startOfLine(bytes: Uint8Array, below: number, from: number): number {
  let at = from;
  for (let line = 0; line < below; line++) {
    while (at < bytes.length && bytes[at] !== NEWLINE) at++;
    if (at >= bytes.length) return bytes.length + 1;
    at++;
  }
  return at;
}

const INVALID_PARAMS = -32_602;
const isMissing = (error: unknown) => error instanceof WorkspaceError && error.kind === 'not-found';
/**
 * As the protocol says it: a program that is about to make a file reads it first, and has to know
 * that there is none. Other refusals go out with their words; the library would say “Internal
 * error” of them.
 */
function refusalOf(error: unknown, path: string): unknown {
  if (isMissing(error)) return RequestError.resourceNotFound(path);
  if (error instanceof WorkspaceError || error instanceof FilesRefused)
    return new RequestError(INVALID_PARAMS, error.message);
  return error;
}
/** Why a program may not read or write there. */
class FilesRefused extends Error {}

export function createFiles({
  folder,
  workspace,
  limits,
  mayUse,
  readsNoneAsEmpty,
  isOwn,
}: FilesDeps): Pick<LineHandlers, 'readFile' | 'writeFile'> {
  /** The path within the folder; links in it are refused by the workspace. */
  async function within(sessionId: string, path: string, tool: Parameters<FilesDeps['mayUse']>[0]): Promise<string> {
    if (!isOwn(sessionId)) throw new FilesRefused('There is no such session.');
    if (!(await mayUse(tool))) throw new FilesRefused('The human has switched off files for this agent.');
    const roots = [await realpath(folder), folder];
    const inner = roots.map((root) => relative(root, path)).find((each) => !each.startsWith('..') && !isAbsolute(each));
    if (!isAbsolute(path) || inner === undefined || inner === '')
      throw new FilesRefused('This lies outside of the folder.');
    return inner.split(sep).join('/');
  }
  const limited = createLimiter(limits.filesAtOnce);
  const answer = <Value>(path: string, work: () => Promise<Value>) =>
    limited(() => work().catch((error: unknown) => Promise.reject(refusalOf(error, path))));
  return {
    readFile: ({ sessionId, path, line, limit }) =>
      answer(path, async () => {
        const inner = await within(sessionId, path, 'read_file');
        const bytes = await workspace.bytesOf(inner, limits.fileBytes).catch((error: unknown) => {
          if (isMissing(error) && readsNoneAsEmpty()) return Buffer.alloc(0);
          throw error;
        });
        const from = startOfLine(bytes, Math.max(0, (line ?? 1) - 1), 0);
        const to = typeof limit === 'number' ? startOfLine(bytes, limit, from) - 1 : bytes.length;
        return { content: bytes.toString('utf8', from, Math.max(from, to)) };
      }),
    writeFile: ({ sessionId, path, content }) =>
      answer(path, async () => {
        await workspace.write(await within(sessionId, path, 'write_file'), Buffer.from(content));
      }),
  };
}

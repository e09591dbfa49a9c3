/**
 * Files that an ACP agent reads and writes through Roost: those of its agent's own folder, under
 * the rules of the workspace.
 */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk';
import { createLimiter } from '../../../../src/shared/domain/platform/queue.ts';
import { isGitsOwn } from '../../../../src/shared/domain/project-path.ts';
import { type Workspace, WorkspaceError } from '../../../files/workspaces/index.ts';
import type { ConnectionHandlers } from './connection.ts';
import type { ProgramLimits } from './settings.ts';

export interface FilesDeps {
  readonly folder: string;
  readonly workspace: Pick<Workspace, 'bytesOf' | 'write'>;
  readonly limits: Pick<ProgramLimits, 'fileBytes' | 'filesAtOnce'>;
  /** Whether the person lets the agent use this tool of Roost's, in any way. */
  readonly mayUse: (tool: 'read_file' | 'write_file') => Promise<boolean>;
  /** Roost answers a read of a missing file with an empty one. */
  readonly readsNoneAsEmpty: () => boolean;
  /** Whether this is the process's own session. */
  readonly isOwn: (sessionId: string) => boolean;
}

const NEWLINE = 0x0a;

/**
 * Offset of the line that is `below` lines after the one at `from`. If there is none: behind the
 * end and its last line break.
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
 * The protocol's error for a missing file, because a program that creates a file reads it first.
 * Other refusals carry their text. Without this the library would send “Internal error”.
 */
function refusalOf(error: unknown, path: string): unknown {
  if (isMissing(error)) return RequestError.resourceNotFound(path);
  if (error instanceof WorkspaceError || error instanceof FilesRefused)
    return new RequestError(INVALID_PARAMS, error.message);
  return error;
}
/** Why the ACP agent may not read or write there. */
class FilesRefused extends Error {}

export function createFiles({
  folder,
  workspace,
  limits,
  mayUse,
  readsNoneAsEmpty,
  isOwn,
}: FilesDeps): Pick<ConnectionHandlers, 'readFile' | 'writeFile'> {
  /** The path within the folder. The workspace refuses links in it. */
  async function within(sessionId: string, path: string, tool: Parameters<FilesDeps['mayUse']>[0]): Promise<string> {
    if (!isOwn(sessionId)) throw new FilesRefused('There is no such session.');
    if (!(await mayUse(tool))) throw new FilesRefused('The human has switched off files for this agent.');
    const roots = [await realpath(folder), folder];
    const inner = roots.map((root) => relative(root, path)).find((each) => !each.startsWith('..') && !isAbsolute(each));
    if (!isAbsolute(path) || inner === undefined || inner === '')
      throw new FilesRefused('This path is outside the folder.');
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
        const inner = await within(sessionId, path, 'write_file');
        if (isGitsOwn(inner)) throw new FilesRefused('This path belongs to git.');
        await workspace.write(inner, Buffer.from(content));
      }),
  };
}

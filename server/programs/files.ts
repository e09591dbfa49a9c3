/** The files that a program has Roost read and write: those of its agent's own folder, by the ways that hold for all. */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import type { Workspace } from '../workspaces/index.ts';
import type { LineHandlers } from './line.ts';
import type { ProgramLimits } from './settings.ts';

export interface FilesDeps {
  readonly folder: string;
  readonly workspace: Pick<Workspace, 'bytesOf' | 'write'>;
  readonly limits: Pick<ProgramLimits, 'fileBytes'>;
  /** Whether the person lets its agent use this tool of Roost's, by whatever way. */
  readonly mayUse: (tool: 'read_file' | 'write_file') => Promise<boolean>;
  /** Whether this is the program's session. */
  readonly isOwn: (sessionId: string) => boolean;
}

export function createFiles({
  folder,
  workspace,
  limits,
  mayUse,
  isOwn,
}: FilesDeps): Pick<LineHandlers, 'readFile' | 'writeFile'> {
  /** The path within the folder; links in it are refused by the workspace. */
  async function within(sessionId: string, path: string, tool: Parameters<FilesDeps['mayUse']>[0]): Promise<string> {
    if (!isOwn(sessionId)) throw new Error('There is no such session.');
    if (!(await mayUse(tool))) throw new Error('The human has switched off files for this agent.');
    const roots = [await realpath(folder), folder];
    const inner = roots.map((root) => relative(root, path)).find((each) => !each.startsWith('..') && !isAbsolute(each));
    if (!isAbsolute(path) || inner === undefined || inner === '') throw new Error('This lies outside of the folder.');
    return inner.split(sep).join('/');
  }
  return {
    async readFile({ sessionId, path, line, limit }) {
      const text = (await workspace.bytesOf(await within(sessionId, path, 'read_file'), limits.fileBytes)).toString(
        'utf8',
      );
      if (typeof line !== 'number' && typeof limit !== 'number') return { content: text };
      const from = Math.max(0, (line ?? 1) - 1);
      return {
        content: text
          .split('\n')
          .slice(from, from + (limit ?? Infinity))
          .join('\n'),
      };
    },
    async writeFile({ sessionId, path, content }) {
      await workspace.write(await within(sessionId, path, 'write_file'), Buffer.from(content));
    },
  };
}

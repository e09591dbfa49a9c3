/** Files in an agent's folder on the relay's machine, for the person, from the page. */
import { z } from 'zod';
import { browsersOnly, endpoint, idText, named } from './endpoint.ts';

/** Maximum bytes of a file that a page uploads in one call. */
export const UPLOAD_BYTES = 30_000_000;
/** Maximum number of listed entries of one folder. */
export const LISTED_ENTRIES = 2_000;
/** Maximum bytes of a file that the page displays. Larger files can be downloaded. */
export const SHOWN_BYTES = 2_000_000;

/** The file in a zip that lists what the zip does not contain as it is in the folder. */
export const LEFT_OUT_NAME = 'ROOST-LEFT-OUT.txt';
const LEFT_OUT = 'roost-left-out: ';
/** Number of bytes at the end of a zip in which its comment is found. */
export const ZIP_COMMENT_MAX = 64;
/** The comment of a zip from which `count` entries are missing. */
export const leftOutComment = (count: number): string => (count === 0 ? '' : `${LEFT_OUT}${count}`);
/** Reads that count from the end of a zip, as text. */
export const leftOutIn = (end: string): number => Number(new RegExp(`${LEFT_OUT}(\\d+)$`).exec(end)?.[1] ?? 0);

const params = { agentId: named(idText, 'the agent’s id, name or seat') };
const path = z
  .string()
  .default('')
  .describe('path from the agent’s folder on, with `/` between names; empty: the folder itself');
const unknownAgent = { status: 404, when: 'there is no such agent, or nothing at this path' } as const;
const badPath = { status: 400, when: '`path` is outside the folder, or not a file' } as const;

const fileEntrySchema = z.object({
  name: z.string(),
  kind: z
    .enum(['file', 'folder', 'link', 'other'])
    .describe('link: a link, which is not followed; other: a pipe, a socket or a device'),
  bytes: z.number().int().nonnegative().describe('of the file, or of all files below the folder; 0 for anything else'),
  changedAt: z.number().int().describe('ms since the epoch'),
});
export type FileEntry = z.infer<typeof fileEntrySchema>;

export const folderSchema = z.object({
  entries: z.array(fileEntrySchema).describe(`by name, the first ${LISTED_ENTRIES}`),
  more: z.number().int().nonnegative().describe('number of entries that are not listed'),
  used: z
    .object({
      bytes: z.number().int().nonnegative(),
      entries: z.number().int().nonnegative(),
      history: z
        .number()
        .int()
        .nonnegative()
        .optional()
        .describe('bytes of the history of its files, which count too; left out: none'),
      most: z.number().int().nonnegative().describe('bytes that the folder and its history may take'),
      whole: z
        .literal(false)
        .optional()
        .describe(
          'not everything was counted, so folders may be larger than their sizes say; left out: everything was counted',
        ),
    })
    .describe('size of the agent’s whole folder'),
});
export type FolderAnswer = z.infer<typeof folderSchema>;

export const workspaceEndpoints = {
  files: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}',
    does: 'Lists an agent’s folder, or a folder below it.',
    params,
    query: { path },
    answers: [{ status: 200, when: 'the list', body: folderSchema }, badPath, unknownAgent, browsersOnly],
  }),
  file: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}/file',
    does: 'A file, byte for byte, as a download. The browser never opens it itself.',
    raw: true,
    params,
    query: { path },
    answers: [{ status: 200, when: 'the file' }, badPath, unknownAgent, browsersOnly],
  }),
  putFile: endpoint({
    method: 'PUT',
    path: '/api/workspaces/{agentId}/file',
    does: `Stores the body as a file: \`application/octet-stream\`, at most ${UPLOAD_BYTES} bytes. It replaces a file of the same name.`,
    raw: true,
    params,
    query: { path },
    answers: [
      { status: 204, when: 'stored' },
      badPath,
      unknownAgent,
      { status: 413, when: 'the file is too large, or the folder is full' },
      { status: 415, when: 'the body is not sent as `application/octet-stream`' },
      browsersOnly,
    ],
  }),
  removeFile: endpoint({
    method: 'DELETE',
    path: '/api/workspaces/{agentId}/file',
    does: 'Deletes a file, or a folder with everything in it.',
    params,
    query: { path },
    answers: [{ status: 204, when: 'deleted' }, badPath, unknownAgent, browsersOnly],
  }),
  filesZip: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}/zip',
    does: `A folder with everything in it, as a zip that is sent while it is made. Its last file, \`${LEFT_OUT_NAME}\`, names what is left out, such as links, and its comment counts them.`,
    raw: true,
    params,
    query: { path },
    answers: [
      { status: 200, when: 'the zip' },
      badPath,
      unknownAgent,
      browsersOnly,
      { status: 413, when: 'the folder is larger than a zip can hold' },
    ],
  }),
};

/** Files in an agent's folder on the relay's machine, for the person, from the page. */
import { z } from 'zod';
import { endpoint, idText, named } from './endpoint.ts';

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
const path = z.string().default('').describe('from the agent’s folder on, `/` between names; empty: the folder itself');
const unknownAgent = { status: 404, when: 'no such agent, or nothing lies there' } as const;
const badPath = { status: 400, when: '`path` is none within the folder, or it is no file' } as const;
const browsersOnly = { status: 403, when: 'it is no browser that asks' } as const;

export const fileEntrySchema = z.object({
  name: z.string(),
  kind: z
    .enum(['file', 'folder', 'link', 'other'])
    .describe('link: it leads elsewhere, and is not followed; other: a pipe, a socket, a device'),
  bytes: z.number().int().nonnegative().describe('of a file, or of all files below a folder; else 0'),
  changedAt: z.number().int().describe('ms since the epoch'),
});
export type FileEntry = z.infer<typeof fileEntrySchema>;

export const folderSchema = z.object({
  entries: z.array(fileEntrySchema).describe(`by name, the first ${LISTED_ENTRIES}`),
  more: z.number().int().nonnegative().describe('entries that are not listed'),
  used: z
    .object({
      bytes: z.number().int().nonnegative(),
      entries: z.number().int().nonnegative(),
      most: z.number().int().nonnegative().describe('bytes that it may hold'),
      whole: z
        .literal(false)
        .optional()
        .describe(
          'there is more than was counted, and the sizes of folders may be larger than is said; left out: all was counted',
        ),
    })
    .describe('of the whole of the agent’s folder'),
});
export type FolderAnswer = z.infer<typeof folderSchema>;

export const workspaceEndpoints = {
  files: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}',
    does: 'What lies in an agent’s folder, or in one below it.',
    params,
    query: { path },
    answers: [{ status: 200, when: 'it is there', body: folderSchema }, badPath, unknownAgent, browsersOnly],
  }),
  file: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}/file',
    does: 'A file as it is, byte for byte, to be kept and never to be opened by the browser itself.',
    raw: true,
    params,
    query: { path },
    answers: [{ status: 200, when: 'it is there' }, badPath, unknownAgent, browsersOnly],
  }),
  putFile: endpoint({
    method: 'PUT',
    path: '/api/workspaces/{agentId}/file',
    does: `Puts a file there, as the body has it: \`application/octet-stream\`, at most ${UPLOAD_BYTES} bytes. It replaces one of the same name.`,
    raw: true,
    params,
    query: { path },
    answers: [
      { status: 204, when: 'it is there' },
      badPath,
      unknownAgent,
      { status: 413, when: 'it is too large, or the folder is full' },
      { status: 415, when: 'it is not sent as `application/octet-stream`' },
      browsersOnly,
    ],
  }),
  removeFile: endpoint({
    method: 'DELETE',
    path: '/api/workspaces/{agentId}/file',
    does: 'Takes away a file, or a folder with all that is in it.',
    params,
    query: { path },
    answers: [{ status: 204, when: 'it is gone' }, badPath, unknownAgent, browsersOnly],
  }),
  filesZip: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}/zip',
    does: `A folder with all that is in it, as a zip, sent as it is made. What is not in it, such as links, is named in its last file, \`${LEFT_OUT_NAME}\`, and counted in its comment.`,
    raw: true,
    params,
    query: { path },
    answers: [
      { status: 200, when: 'it is there' },
      badPath,
      unknownAgent,
      browsersOnly,
      { status: 413, when: 'it is more than a zip holds' },
    ],
  }),
};

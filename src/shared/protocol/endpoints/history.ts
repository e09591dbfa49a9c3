/** The history of an agent's files: what each run changed, and restoring it. For the page. */
import { z } from 'zod';
import { runCauseSchema } from '../runs.ts';
import { browsersOnly, endpoint, idText, named } from './endpoint.ts';

/** Maximum number of points in one answer. */
export const LISTED_POINTS = 100;
/** Maximum number of changes, and of entries that are not recorded, in one answer. */
export const LISTED_CHANGES = 1_000;
/** Maximum bytes of a text that is compared on the page. */
export const COMPARED_BYTES = 300_000;
/** Days for which changes can be undone. */
export const KEPT_DAYS = 30;
/** The key of an agent's own folder among its recorded folders. */
export const OWN_FOLDER = 'files';

export const workSchema = z
  .discriminatedUnion('kind', [
    z.looseObject({ kind: z.literal('run'), runId: idText, cause: runCauseSchema }).describe('a run outside a session'),
    z
      .looseObject({ kind: z.literal('turn'), messageId: idText })
      .describe('a turn in a session; `messageId`: the answer'),
    z
      .looseObject({ kind: z.literal('call'), tool: z.string() })
      .describe('a tool call outside a run and a turn: of a client that joined, or after the person’s yes'),
    z.looseObject({ kind: z.literal('script'), name: z.string() }).describe('a scheduled script, by its file'),
    z
      .looseObject({ kind: z.literal('person'), does: z.enum(['replace', 'delete']), path: z.string() })
      .describe('the person, on the page'),
    z
      .looseObject({ kind: z.literal('restore'), pointId: z.string(), to: z.enum(['before', 'after']) })
      .describe('the person restored the files of another point'),
    z
      .looseObject({ kind: z.literal('outside') })
      .describe(
        'found changed outside all of these: new files of the person, another program, a command in the background',
      ),
  ])
  .describe('Who changed files.');
export type Work = z.infer<typeof workSchema>;

const counts = z.object({
  added: z.number().int().nonnegative(),
  changed: z.number().int().nonnegative(),
  deleted: z.number().int().nonnegative(),
});

const pointSchema = z
  .object({
    pointId: z.string(),
    at: z.number().int().describe('ms since the epoch, at the end of the work'),
    work: workSchema,
    cutOff: z.boolean().describe('the relay was killed during the work, so other changes may be among these'),
    counts: counts.describe('files, folders and links that the work changed'),
    folders: z.array(z.string()).describe(`keys of the recorded folders; \`${OWN_FOLDER}\`: the agent’s own`),
  })
  .describe('A recorded change of an agent’s files.');
export type Point = z.infer<typeof pointSchema>;

const gapSchema = z.object({
  at: z.number().int().describe('ms since the epoch'),
  work: workSchema,
  why: z.enum(['no-room', 'disk-full', 'too-slow', 'broken']),
});
export type Gap = z.infer<typeof gapSchema>;

export const historySchema = z.object({
  undo: z
    .enum(['on', 'no-git', 'old-git', 'broken'])
    .describe(
      'no-git: git is not installed at the relay; old-git: it is too old to record; broken: the history cannot be read, and can only be deleted',
    ),
  leastGit: z.string().describe('the oldest version of git that can record'),
  points: z.array(pointSchema).describe(`newest first, at most ${LISTED_POINTS}`),
  more: z.boolean().describe('there are older points'),
  gaps: z.array(gapSchema).describe('work before or after which the files could not be recorded, newest first'),
  bytes: z.number().int().nonnegative().describe('room that the history takes, a part of the agent’s room'),
  most: z.number().int().nonnegative().describe('bytes that files and history may take together'),
  keptDays: z.number().int().describe('older points are dropped'),
  fileBytes: z.number().int().describe('larger files are not recorded'),
});
export type History = z.infer<typeof historySchema>;

const kind = z.enum(['file', 'folder', 'link']);
const changeSchema = z.object({
  folder: z.string().describe('the key of the folder'),
  file: z.string().describe('the path in the folder, for other calls: bytes that are no plain ASCII are `%` and hex'),
  path: z.string().describe('the same path, to be read'),
  kind,
  change: z
    .enum(['added', 'changed', 'deleted', 'mode', 'renamed'])
    .describe('mode: only its permissions; renamed: moved without any other change'),
  from: z.object({ file: z.string(), path: z.string() }).nullable().describe('where it was; null: not renamed'),
  bytes: z.number().int().nonnegative().nullable().describe('now; null: it is deleted'),
  executable: z.boolean().nullable().describe('the owner may execute it now; null: no file'),
});
export type Change = z.infer<typeof changeSchema>;

const notRecordedSchema = z.object({
  folder: z.string(),
  path: z.string(),
  why: z
    .enum(['large', 'special', 'closed', 'deep', 'many'])
    .describe(
      'large: larger than is recorded; special: a pipe, a socket or a device; closed: it cannot be opened; deep: nested too deep; many: more files than are recorded',
    ),
  bytes: z.number().int().nonnegative(),
});
export type NotRecorded = z.infer<typeof notRecordedSchema>;

export const changesSchema = z.object({
  changes: z.array(changeSchema).describe(`by path, the first ${LISTED_CHANGES}`),
  more: z.number().int().nonnegative().describe('number of changes that are not listed'),
  notRecorded: z
    .array(notRecordedSchema)
    .describe('entries of the folder that are in no point, and are never restored'),
  moreNotRecorded: z.number().int().nonnegative(),
});
export type Changes = z.infer<typeof changesSchema>;

const sideSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('none') }),
    z.object({ kind: z.literal('text'), text: z.string() }),
    z.object({ kind: z.literal('link'), target: z.string() }),
    z.object({ kind: z.literal('large'), bytes: z.number().int().nonnegative() }),
    z.object({ kind: z.literal('binary'), bytes: z.number().int().nonnegative() }),
  ])
  .describe(`none: no file; large: longer than ${COMPARED_BYTES} bytes; binary: not UTF-8 text`);
export type Side = z.infer<typeof sideSchema>;
export const comparedSchema = z.object({ before: sideSchema, after: sideSchema });
export type Compared = z.infer<typeof comparedSchema>;

const moment = z.enum(['before', 'after']).describe('the files as they were before the point’s work, or after it');
const restoreSchema = z.object({
  to: moment,
  files: z
    .array(z.object({ folder: z.string(), file: z.string() }))
    .max(LISTED_CHANGES)
    .nullable()
    .describe('restores these alone; null: all'),
});
export const restoredSchema = z.object({
  pointId: z
    .string()
    .nullable()
    .describe('the point of this restore, by which it can be undone; null: nothing changed'),
  counts,
  left: z
    .array(z.object({ folder: z.string(), path: z.string(), why: z.string().describe('a sentence') }))
    .describe('what could not be restored, and lies there as it was'),
});
export type Restored = z.infer<typeof restoredSchema>;

const params = { agentId: named(idText, 'the agent’s id, name or seat') };
const pointParams = { ...params, pointId: z.string() };
const from = z
  .enum(['previous', 'before', 'after'])
  .default('previous')
  .describe('previous: what the point’s work changed; before, after: from then until now');
const unknownAgent = { status: 404, when: 'there is no such agent' } as const;
const unknownPoint = { status: 404, when: 'there is no such agent, point or file' } as const;
const off = { status: 409, when: 'git is missing at the relay, or the history cannot be read' } as const;

export const historyEndpoints = {
  history: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}/history',
    does: 'Lists what runs, turns, scripts, clients and the person changed in an agent’s files.',
    params,
    query: { before: z.string().nullable().default(null).describe('only points older than this one') },
    answers: [{ status: 200, when: 'the list', body: historySchema }, unknownAgent, browsersOnly],
  }),
  historyChanges: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}/history/{pointId}',
    does: 'Lists the files that the work of a point changed, or that have changed since.',
    params: pointParams,
    query: { from },
    answers: [{ status: 200, when: 'the changes', body: changesSchema }, unknownPoint, off, browsersOnly],
  }),
  historyFile: endpoint({
    method: 'GET',
    path: '/api/workspaces/{agentId}/history/{pointId}/file',
    does: 'One file on both sides of such a change, as text.',
    params: pointParams,
    query: { from, folder: z.string().default(OWN_FOLDER), file: z.string() },
    answers: [{ status: 200, when: 'both sides', body: comparedSchema }, unknownPoint, off, browsersOnly],
  }),
  historyRestore: endpoint({
    method: 'POST',
    path: '/api/workspaces/{agentId}/history/{pointId}/restore',
    does: 'Restores files as they were before or after a point’s work. The files are recorded first, so this can be undone in the same way. Entries that are not recorded stay as they are.',
    params: pointParams,
    body: restoreSchema,
    heavy: true,
    answers: [
      { status: 200, when: 'restored, except for what `left` names', body: restoredSchema },
      unknownPoint,
      { status: 409, when: 'the agent is at work, git is missing, or the files could not be recorded first' },
      browsersOnly,
    ],
  }),
  historyForget: endpoint({
    method: 'DELETE',
    path: '/api/workspaces/{agentId}/history',
    does: 'Deletes the history of an agent’s files, and frees its room. The files stay.',
    params,
    answers: [{ status: 204, when: 'deleted' }, unknownAgent, browsersOnly],
  }),
};

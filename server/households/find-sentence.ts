/**
 * Searches everything that the relay stores of a household for a sentence: rows, agent snapshots
 * and files in agents' folders. Upper and lower case are one.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import type { SentencePlace, SentencePlaces } from '../../src/shared/protocol/forgets.ts';
import { rowsWith } from '../store/forgetting.ts';
import type { HomeStore } from '../store/index.ts';
import { rowId } from '../store/said.ts';
import type { Workspaces } from '../files/workspaces/index.ts';
import type { Team } from './team.ts';

const SENTENCE_LIMITS = {
  /** Bytes of a file. */
  fileBytes: 5_000_000,
  /** Files of one folder. */
  files: 5_000,
} as const;

interface Deps extends HomeStore, Pick<Team, 'snapshots' | 'directory'> {
  readonly workspaces: Pick<Workspaces, 'folderOf'>;
}

/** Whether a text has the sentence, also as JSON writes it. */
function finder(sentence: string): (text: string) => boolean {
  const plain = sentence.toLowerCase();
  const escaped = JSON.stringify(plain).slice(1, -1);
  return (text) => {
    const lower = text.toLowerCase();
    return lower.includes(plain) || lower.includes(escaped);
  };
}

/** Paths of the files below a folder. Links are not followed. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

export function createFindSentence({ db, home, snapshots, directory, workspaces }: Deps) {
  /** Calls of one tool. */
  async function callsOf(tool: string): Promise<SentencePlaces> {
    const calls = await db
      .selectFrom('tool_calls')
      .select('call')
      .where('home', '=', home)
      .where('tool', '=', tool)
      .execute();
    const places = calls.length === 0 ? [] : [{ kind: 'table' as const, table: 'tool_calls', rows: calls.length }];
    return { places, ids: calls.flatMap((row) => rowId('tool_calls', row) ?? []), unread: 0 };
  }

  return async (sentence: string, isTool = false): Promise<SentencePlaces> => {
    if (isTool) return await callsOf(sentence);
    const has = finder(sentence);
    const places: SentencePlace[] = [];
    let unread = 0;
    const rowsFound = await rowsWith(db, home, (row) =>
      Object.values(row).some((value) => typeof value === 'string' && has(value)),
    );
    for (const [table, rows] of rowsFound) places.push({ kind: 'table', table, rows: rows.length });
    const ids = [...rowsFound].flatMap(([table, rows]) => rows.flatMap((row) => rowId(table, row) ?? []));
    for (const agentId of new Set([LEAD_ID, ...(await directory.all()).map((member) => member.agentId)])) {
      const snapshot = await snapshots.of(agentId);
      if (snapshot && has(JSON.stringify(snapshot))) places.push({ kind: 'snapshot', agentId });
      const folder = workspaces.folderOf(agentId);
      const files = await filesOf(folder);
      unread += Math.max(0, files.length - SENTENCE_LIMITS.files);
      for (const path of files.slice(0, SENTENCE_LIMITS.files)) {
        const { size } = await stat(path).catch(() => ({ size: 0 }));
        if (size > SENTENCE_LIMITS.fileBytes) unread += 1;
        else if (has(await readFile(path, 'utf8').catch(() => '')))
          places.push({ kind: 'file', agentId, path: relative(folder, path) });
      }
    }
    return { places, ids, unread };
  };
}

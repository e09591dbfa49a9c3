/**
 * Brings what others changed in a folder project into a checkout, file by file. Of a file that both
 * sides changed, theirs is put beside.
 */
import { type Workspace, WorkspaceError } from '../../files/workspaces/index.ts';
import {
  changesIn,
  createLeft,
  type FileEntry,
  filesIn,
  fits,
  type FolderFile,
  idOf,
  type Listing,
  twinsIn,
} from './folder-files.ts';
import type { CommitWords } from './git-files.ts';
import type { Repository } from './contract.ts';
import { above, PROJECT_PATH_LIMITS } from '../../../src/shared/domain/project-path.ts';

export interface Bring {
  readonly workspace: Workspace;
  readonly folder: string;
  readonly repository: Repository;
  readonly branch: string;
  /** The commit at which the checkout is. */
  readonly head: string;
  readonly theirs: string;
  readonly said: Pick<CommitWords, 'by' | 'at'>;
  readonly write: (
    repository: Repository,
    entries: readonly FileEntry[],
    write: (file: FolderFile) => Promise<unknown>,
  ) => Promise<void>;
}

/** Both sides changed `path`. Theirs is at `beside`. */
export interface Both {
  readonly path: string;
  readonly beside: string;
}

/** The end of the name under which the project’s side of a file lies beside the agent’s. */
const OF_PROJECT = '.project';

export async function bringFiles(bring: Bring): Promise<readonly Both[]> {
  const { workspace, folder, repository, branch, head, said } = bring;
  const fork = await repository.forkOf(bring.theirs, head);
  const [old, theirs, own] = [
    await repository.list(fork),
    await repository.list(bring.theirs),
    await repository.list(head),
  ];
  const left = createLeft();
  const mine = new Map<string, string>();
  for await (const { path, bytes } of filesIn(workspace, folder, left, own)) mine.set(path, idOf(bytes));

  const takes: FileEntry[] = [];
  const conflicts: FileEntry[] = [];
  // A file that others renamed is no twin of its earlier name.
  const stay = [...mine.keys()].filter((path) => theirs.has(path) || old.get(path)?.id !== mine.get(path));
  const twins = twinsIn([...new Set([...stay, ...theirs.keys()])], (path) => mine.has(path));
  for (const path of new Set([...old.keys(), ...theirs.keys()])) {
    const [then, now, have] = [old.get(path), theirs.get(path), mine.get(path)];
    if (then?.id === now?.id || have === now?.id || !fits(now ?? then ?? { path, bytes: 0 })) continue;
    const isMine = left.has(path) || have !== then?.id || twins.has(path);
    if (now) (isMine ? conflicts : takes).push(now);
    else if (!isMine) {
      await remove(path);
      mine.delete(path);
    }
  }
  const folders = new Set([...mine.keys(), ...left.paths].flatMap((path) => [...above(path)]));
  const isFile = (path: string) => mine.has(path) || left.paths.has(path);
  /** Where something else is in the way of this path. Null: nowhere. */
  const blockedAt = (path: string) => [...above(path)].find(isFile) ?? (folders.has(path) ? path : null);
  const places = new Map<string, string>();
  const used = new Set<string>();
  const both: Both[] = [];
  for (const entry of takes) {
    const blocked = blockedAt(entry.path);
    if (blocked === null) places.set(entry.path, entry.path);
    else conflicts.push(entry);
  }
  for (const { path, id } of conflicts) {
    const blocked = blockedAt(path) ?? path;
    const place = (number: number) => `${named(blocked, number)}${path.slice(blocked.length)}`;
    let number = 1;
    while (mine.get(place(number)) !== id && isTaken(place(number))) number += 1;
    places.set(path, place(number));
    used.add(place(number));
    both.push({ path, beside: place(number) });
  }
  await bring.write(repository, [...takes, ...conflicts.filter((entry) => !takes.includes(entry))], ({ path, bytes }) =>
    workspace.write(`${folder}/${places.get(path) ?? path}`, bytes),
  );
  const now = createLeft();
  const changes = changesIn(filesIn(workspace, folder, now, own), now, own, merged(old, theirs, own));
  await repository.commitFiles(head, branch, changes, {
    ...said,
    ...{ message: 'Bring what others changed', also: bring.theirs },
  });
  return both;

  function isTaken(path: string): boolean {
    return isFile(path) || used.has(path) || theirs.has(path) || blockedAt(path) !== null;
  }
  /** Removes a file, and the folders that are empty without it. */
  async function remove(path: string): Promise<void> {
    await workspace.remove(`${folder}/${path}`);
    try {
      for (const empty of [...above(path)].reverse()) await workspace.remove(`${folder}/${empty}`, { onlyEmpty: true });
    } catch (error) {
      if (!(error instanceof WorkspaceError) || error.kind !== 'not-empty') throw error;
    }
  }
}

/** A name beside this one. It is cut where it would be too long. */
function named(path: string, number: number): string {
  const end = `${OF_PROJECT}${number === 1 ? '' : `-${number}`}`;
  const at = path.lastIndexOf('/') + 1;
  let name = path.slice(at);
  while (Buffer.byteLength(name) + end.length > PROJECT_PATH_LIMITS.name) name = [...name].slice(0, -1).join('');
  return `${path.slice(0, at)}${name}${end}`;
}

/** What stays in the place of files that cannot be recorded: the side that changed it. */
function merged(old: Listing, theirs: Listing, own: Listing): Listing {
  const kept = new Map(own);
  for (const path of new Set([...old.keys(), ...theirs.keys()])) {
    if (own.get(path)?.id !== old.get(path)?.id) continue;
    const entry = theirs.get(path);
    if (entry) kept.set(path, entry);
    else kept.delete(path);
  }
  return kept;
}

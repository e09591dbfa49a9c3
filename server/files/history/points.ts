/** The points of an agent's history: which are shown, and how the folders were at one. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { fileText } from '../../../src/shared/domain/file-text.ts';
import {
  type Changes,
  COMPARED_BYTES,
  LISTED_CHANGES,
  LISTED_POINTS,
  type NotRecorded,
  type Side,
} from '../../../src/shared/protocol/endpoints/history.ts';
import { changeOf, EMPTY, type Listing, shownDifferences, shownPathOf } from './listing.ts';
import { recordFolder, type Store } from './record.ts';
import type { Repository, StoredPoint } from './repository.ts';
import { HISTORY_LIMITS } from './settings.ts';
import {
  HistoryError,
  type Histories,
  type HistoriesDeps,
  type From,
  type To,
  type RecordedFolder,
} from './contract.ts';
import type { Shadow, Shadows } from './shadows.ts';

interface Found {
  readonly repository: Repository;
  readonly point: StoredPoint;
  readonly previous: StoredPoint | null;
}

/** The folder as it was at this moment. */
export async function stateAt({ repository, point, previous }: Found, to: To, key: string): Promise<Listing> {
  if (to === 'after') return await repository.listing(point.number, key);
  if (previous?.folders.includes(key)) return await repository.listing(previous.number, key);
  // Found by the first recording of this folder. Nobody's work has put it there.
  return point.work.kind === 'outside' ? await repository.listing(point.number, key) : EMPTY;
}

async function sideOf(
  repository: Repository,
  listing: Listing,
  file: string,
  storedContents: Map<string, Buffer>,
): Promise<Side> {
  const entry = listing.entries.get(file);
  if (!entry || entry.kind === 'folder') return { kind: 'none' };
  if (entry.bytes > COMPARED_BYTES) return { kind: 'large', bytes: entry.bytes };
  let content = storedContents.get(entry.object);
  if (!content)
    await repository.read([entry.object], (bytes) => {
      content = bytes;
      return Promise.resolve();
    });
  const bytes = content ?? Buffer.alloc(0);
  if (entry.kind === 'link') return { kind: 'link', target: bytes.toString() };
  const text = fileText(bytes);
  return text === null ? { kind: 'binary', bytes: entry.bytes } : { kind: 'text', text };
}

const storesNothing: Store = () => Promise.resolve();

export type Points = ReturnType<typeof createPoints>;

export function createPoints(deps: HistoriesDeps, { findGit, oldest, open, count, inHistory }: Shadows) {
  const { now, logger, limits = HISTORY_LIMITS } = deps;
  /**
   * The points that are shown, newest first. The oldest may only be what others are compared with.
   */
  function shownIn(points: readonly StoredPoint[]): readonly StoredPoint[] {
    const last = points.at(-1);
    const isBase = last !== undefined && (last.number > 1 || last.work.kind === 'outside');
    return (isBase ? points.slice(0, -1) : points).filter(({ at }) => at >= oldest());
  }
  /** Null: the repository is damaged. */
  async function readPoints(shadow: Shadow): Promise<readonly StoredPoint[] | null> {
    try {
      const repository = await open(shadow, false);
      return repository ? shownIn(await repository.points()) : [];
    } catch (error) {
      logger.warn('The history of an agent’s files cannot be read.', { folder: shadow.folder, error });
      return null;
    }
  }
  async function pointOf(shadow: Shadow, pointId: string): Promise<Found> {
    const repository = await open(shadow, false);
    if (!repository) throw new HistoryError((await findGit()) === 'on' ? 'not-found' : 'off');
    const points = await repository.points();
    const point = shownIn(points).find(({ number }) => String(number) === pointId);
    if (!point) throw new HistoryError('not-found');
    const previous = points[points.indexOf(point) + 1] ?? null;
    return { repository, point, previous };
  }
  /** The folder as it is now. `keep`: receives contents that are not in the repository. */
  async function stateNow(repository: Repository, { key, path }: RecordedFolder, store: Store): Promise<Listing> {
    const before = await repository.newest(key);
    const signal = AbortSignal.timeout(limits.recordMs);
    return await recordFolder(path, { before, store, now: now(), limits, signal });
  }
  async function bothSides(agentId: AgentId, point: Found, from: From, key: string, store = storesNothing) {
    if (from === 'previous')
      return { before: await stateAt(point, 'before', key), after: await stateAt(point, 'after', key) };
    const folder = (await deps.foldersOf(agentId)).find((each) => each.key === key);
    const before = await stateAt(point, from, key);
    return { before, after: folder ? await stateNow(point.repository, folder, store) : EMPTY };
  }

  const shown: Pick<Histories, 'list' | 'changes' | 'compare'> = {
    list: (agentId, before) =>
      inHistory(agentId, async (shadow) => {
        const git = await findGit();
        const all = await readPoints(shadow);
        const older = (all ?? []).filter(({ number }) => before === null || number < Number(before));
        return {
          undo: all === null ? 'broken' : git,
          leastGit: limits.leastGit.join('.'),
          points: older.slice(0, LISTED_POINTS).map(({ number, at, work, cutOff, counts, folders }) => ({
            pointId: String(number),
            ...{ at, work, cutOff, counts, folders: [...folders] },
          })),
          more: older.length > LISTED_POINTS,
          gaps: [...shadow.gaps],
          bytes: shadow.bytes ?? (await count(shadow)),
          most: await deps.mostOf(agentId),
          keptDays: limits.keptDays,
          fileBytes: limits.fileBytes,
        };
      }),
    changes: (agentId, pointId, from) =>
      inHistory(agentId, async (shadow) => {
        const point = await pointOf(shadow, pointId);
        const changes: Changes['changes'] = [];
        const notRecorded: NotRecorded[] = [];
        let moreNotRecorded = 0;
        for (const key of point.point.folders) {
          const { before, after } = await bothSides(agentId, point, from, key);
          changes.push(...shownDifferences(before, after).map((each) => changeOf(key, each)));
          notRecorded.push(
            ...after.notRecorded.map((each) => ({ ...each, folder: key, path: shownPathOf(each.path) })),
          );
          moreNotRecorded += after.moreNotRecorded;
        }
        return {
          changes: changes.slice(0, LISTED_CHANGES),
          more: Math.max(0, changes.length - LISTED_CHANGES),
          notRecorded: notRecorded.slice(0, LISTED_CHANGES),
          moreNotRecorded: moreNotRecorded + Math.max(0, notRecorded.length - LISTED_CHANGES),
        };
      }),
    compare: (agentId, pointId, from, { folder, file }) =>
      inHistory(agentId, async (shadow) => {
        const point = await pointOf(shadow, pointId);
        const kept = new Map<string, Buffer>();
        const keep: Store = (object, bytes, parts, where) => {
          if (where === file && bytes <= COMPARED_BYTES) kept.set(object, Buffer.concat(parts));
          return Promise.resolve();
        };
        const { before, after } = await bothSides(agentId, point, from, folder, keep);
        if (!before.entries.has(file) && !after.entries.has(file)) throw new HistoryError('not-found');
        return {
          before: await sideOf(point.repository, before, file, kept),
          after: await sideOf(point.repository, after, file, kept),
        };
      }),
  };
  return { ...shown, pointOf };
}

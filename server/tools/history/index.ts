/**
 * The history of agents' files: recorded before and after work, compared, and restored.
 *
 * One bare git repository for each agent, outside every workspace, holds what was recorded.
 * `record.ts` reads folders, `restore.ts` writes them, `repository.ts` stores points, and
 * `listing.ts` compares.
 *
 * Main type: `Histories`.
 *
 * Invariants:
 * - Git never looks into an agent's folder. The relay reads and writes there itself, and follows no
 *   link.
 * - Nothing is restored before the present state is recorded, and an entry that is not recorded is
 *   never replaced or removed.
 * - A failed recording never stops work. The person is told which work it was.
 *
 * It does not know what a run or a session is: work is a label.
 */
import { existsSync, lstatSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { fileText } from '../../../src/shared/domain/file-text.ts';
import { createLimiter, createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import {
  type Changes,
  COMPARED_BYTES,
  type Compared,
  type Gap,
  type History,
  LISTED_CHANGES,
  LISTED_POINTS,
  type NotRecorded,
  type Restored,
  type Side,
  type Work,
} from '../../../src/shared/protocol/endpoints/history.ts';
import type { RecordWork } from '../../contracts/recorder.ts';
import { createGitFinder, GitError } from '../../platform/git/index.ts';
import type { Lane } from '../../platform/lanes.ts';
import type { Logger } from '../../platform/logger.ts';
import { codeOf } from '../../platform/errors.ts';
import { folderName } from '../workspaces/index.ts';
import {
  changeOf,
  countsOf,
  type Difference,
  differences,
  EMPTY,
  type Listing,
  shownDifferences,
  shownPathOf,
} from './listing.ts';
import { recordFolder, type Store } from './record.ts';
import { type Import, type Message, openRepository, type Repository, type StoredPoint } from './repository.ts';
import { type Left, restoreFolder } from './restore.ts';
import { HISTORY_LIMITS, type HistoryLimits } from './settings.ts';
import { isUnchanged } from './unchanged.ts';

export { GitError } from '../../platform/git/index.ts';

/** A recorded folder. `key`: letters, digits, `.`, `_` and `-`. */
export interface RecordedFolder {
  readonly key: string;
  readonly path: string;
}

type From = 'previous' | 'before' | 'after';
type To = 'before' | 'after';
interface FileOf {
  readonly folder: string;
  readonly file: string;
}

/** Expected. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  readonly kind: 'off' | 'not-found' | 'busy' | 'unrecorded';
  readonly why: Gap['why'] | null;
  constructor(kind: HistoryError['kind'], why: Gap['why'] | null = null) {
    super(`history: ${kind}`);
    this.kind = kind;
    this.why = why;
  }
}

export interface Histories {
  readonly record: RecordWork;
  /** `before`: only older points. */
  list(agentId: AgentId, before: string | null): Promise<History>;
  changes(agentId: AgentId, pointId: string, from: From): Promise<Changes>;
  compare(agentId: AgentId, pointId: string, from: From, file: FileOf): Promise<Compared>;
  restore(agentId: AgentId, pointId: string, to: To, files: readonly FileOf[] | null): Promise<Restored>;
  /** Deletes the agent's history. Its files stay. */
  forget(agentId: AgentId): Promise<void>;
  /** Bytes that an agent's history takes. */
  bytes(agentId: AgentId): Promise<number>;
  /** Drops what is too old of every agent, now and from time to time, until `close`. */
  keepTidy(timers: Pick<Timers, 'after'>): Promise<void>;
  /** Resolves when no recording is under way. */
  close(): Promise<void>;
}

export interface HistoriesDeps {
  /** Contains a repository for each agent. */
  readonly folder: string;
  readonly foldersOf: (agentId: AgentId) => Promise<readonly RecordedFolder[]>;
  /** Bytes that the agent's files and history may take together. */
  readonly mostOf: (agentId: AgentId) => Promise<number>;
  /** Nothing that this agent may do writes in its folders. Left out: something may. */
  readonly mayWrite?: (agentId: AgentId) => Promise<boolean>;
  /** Takes the agent's turn, so that it is not at work meanwhile. Null: it is at work. */
  readonly takeTurn: (agentId: AgentId) => Promise<(() => void) | null>;
  /** Points or files have changed. */
  readonly onChange: (agentId: AgentId) => void;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly logger: Pick<Logger, 'warn'>;
  /** The household's, for git. */
  readonly lane: Lane;
  readonly limits?: HistoryLimits;
  /** Where git is looked for. Left out: the relay's own path. */
  readonly path?: string;
}

/** What is known of one agent's history. */
interface Shadow {
  readonly folder: string;
  readonly inTurn: ReturnType<typeof createQueue>;
  repository: Repository | null;
  /** Work that is under way, oldest first. */
  readonly active: Work[];
  readonly gaps: Gap[];
  /** Null: not counted yet. */
  bytes: number | null;
  pointsSinceMerge: number;
  /** The last recording before work failed, so the next point may hold more than its work. */
  isUnsure: boolean;
}

/** The end of the name of a history that is being deleted. */
const GOING = '.going';

/** What the person is told where git failed. Left out: the history is broken. */
const GAPS: Partial<Record<GitError['why'], Gap['why']>> = { 'disk-full': 'disk-full', 'too-slow': 'too-slow' };

/** The history would take more room than it may. */
class NoRoomError extends Error {}

/** Each run asks twice, and most agents have no folder: too short a question for another thread. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Bytes of new contents after which the room is counted again. */
const COUNT_EVERY = 4_000_000;
const DAY_MS = 86_400_000;

export function createHistories(deps: HistoriesDeps): Histories {
  const { now, elapsed, logger, onChange, limits = HISTORY_LIMITS } = deps;
  const findGit = createGitFinder(deps.lane, limits.leastGit, elapsed, deps.path);
  const atOnce = createLimiter(limits.atOnce);
  const shadows = new Map<string, Shadow>();
  let isClosed = false;
  let cancelTidy: () => void = () => undefined;

  const shadowOf = (agentId: AgentId) => shadowIn(join(deps.folder, folderName(agentId)));
  function shadowIn(folder: string): Shadow {
    const known = shadows.get(folder);
    if (known) return known;
    const shadow: Shadow = {
      ...{ folder, inTurn: createQueue(), repository: null, active: [], gaps: [], bytes: null },
      ...{ pointsSinceMerge: 0, isUnsure: false },
    };
    shadows.set(folder, shadow);
    return shadow;
  }

  /** Null: git is missing, or there is no history and none may begin. */
  async function open(shadow: Shadow, begins: boolean): Promise<Repository | null> {
    if (!begins && !existsSync(shadow.folder)) return null;
    const git = await findGit();
    if (git !== 'on') return null;
    if (!shadow.repository) shadow.repository = await openRepository({ ...deps, folder: shadow.folder });
    return shadow.repository;
  }
  async function count(shadow: Shadow): Promise<number> {
    shadow.bytes = (await shadow.repository?.bytes()) ?? shadow.bytes ?? 0;
    return shadow.bytes;
  }

  /** Drops these points. The oldest that stays is what the others are compared with. */
  async function drop(shadow: Shadow, repository: Repository, numbers: readonly number[]): Promise<void> {
    await repository.drop(numbers);
    shadow.pointsSinceMerge = 0;
    await count(shadow);
  }
  async function dropOld(shadow: Shadow, repository: Repository): Promise<void> {
    const since = now() - limits.keptDays * DAY_MS;
    // The newest of them is what the first of the others is compared with.
    const [, ...old] = (await repository.points()).filter(({ at }) => at < since);
    if (old.length > 0)
      await drop(
        shadow,
        repository,
        old.map(({ number }) => number),
      );
  }
  /** Drops the oldest points, a few at a time. False: there are none to drop. */
  async function makeRoom(shadow: Shadow, repository: Repository): Promise<boolean> {
    const [, ...older] = await repository.points();
    if (older.length === 0) return false;
    await drop(
      shadow,
      repository,
      older.slice(-Math.ceil(older.length / 2)).map(({ number }) => number),
    );
    return true;
  }

  async function areUnchanged(
    repository: Repository,
    folders: readonly RecordedFolder[],
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const { key, path } of folders) {
      const asked = await repository.comparisonOf(key);
      if (!asked || !existsSync(path)) return false;
      const late = new Promise<boolean>((answer) => signal.addEventListener('abort', () => answer(false)));
      if (!(await Promise.race([isUnchanged({ ...asked, folder: path }), late]))) return false;
    }
    return true;
  }

  /** Records the folders as they are. Null: nothing has changed. */
  async function capture(
    agentId: AgentId,
    shadow: Shadow,
    label: { readonly work: Work; readonly cutOff: boolean },
    isRepeated = false,
  ): Promise<StoredPoint | null> {
    const folders = await deps.foldersOf(agentId);
    const repository = await open(
      shadow,
      folders.some(({ path }) => isThere(path)),
    );
    if (!repository) return null;
    const most = limits.share * (await deps.mostOf(agentId));
    const signal = AbortSignal.timeout(limits.recordMs);
    if (await areUnchanged(repository, folders, signal)) return null;
    const known = new Set<string>();
    let importing: Import | null = null;
    let counted = 0;
    const inImport = createQueue();
    const store: Store = (object, bytes, parts) =>
      inImport(async () => {
        if (known.has(object)) return;
        known.add(object);
        importing ??= await repository.import(limits.recordMs);
        await importing.blob(bytes, parts);
        counted += bytes;
        if (counted < COUNT_EVERY) return;
        counted = 0;
        if ((await repository.bytes()) > most) throw new NoRoomError();
      });
    try {
      const started = now();
      const before = new Map<string, Listing>();
      for (const { key } of folders) before.set(key, await repository.newest(key));
      for (const { entries } of before.values()) for (const { object } of entries.values()) known.add(object);
      const all = new Map<string, { before: Listing; after: Listing }>();
      const shown: Difference[] = [];
      let isOther = false;
      for (const { key, path } of folders) {
        const old = before.get(key) ?? EMPTY;
        const after = await recordFolder(path, { before: old, store, now: started, limits, signal });
        all.set(key, { before: old, after });
        isOther ||= differences(old, after).length > 0;
        shown.push(...shownDifferences(old, after));
      }
      let point: StoredPoint | null = null;
      if (isOther) {
        importing ??= await repository.import(limits.recordMs);
        const message: Message = {
          at: now(),
          ...label,
          counts: countsOf(shown),
          folders: [...new Set([...((await repository.points())[0]?.folders ?? []), ...all.keys()])],
        };
        await importing.commit(message, all);
        importing = null;
        point = (await repository.points())[0] ?? null;
        shadow.pointsSinceMerge += 1;
      }
      for (const [key, { before: old, after }] of all)
        if (point || hasNewStamps(old, after)) await repository.stamped(key, after);
      if (point) {
        if ((await count(shadow)) > most)
          while (await makeRoom(shadow, repository)) if ((shadow.bytes ?? 0) <= most) break;
        onChange(agentId);
      }
      return point;
    } catch (error) {
      await importing?.abandon();
      if (signal.aborted) throw new GitError(`The folder could not be read in ${limits.recordMs} ms.`, 'too-slow');
      if (error instanceof NoRoomError && !isRepeated && (await makeRoom(shadow, repository)))
        return await capture(agentId, shadow, label, true);
      throw error;
    }
  }

  const whyOf = (error: unknown): Gap['why'] =>
    error instanceof NoRoomError
      ? 'no-room'
      : error instanceof GitError
        ? (GAPS[error.why] ?? 'broken')
        : ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
          ? 'disk-full'
          : 'broken';

  function missed(agentId: AgentId, shadow: Shadow, work: Work, error: unknown): Gap['why'] {
    const why = whyOf(error);
    shadow.gaps.unshift({ at: now(), work, why });
    shadow.gaps.length = Math.min(shadow.gaps.length, limits.gaps);
    shadow.isUnsure = true;
    logger.warn('The files of an agent could not be recorded. What its work changes cannot be undone.', {
      agentId,
      why,
      error,
    });
    onChange(agentId);
    return why;
  }

  /** What changed since the last recording belongs to the work that was under way. */
  async function labelOf(shadow: Shadow): Promise<{ readonly work: Work; readonly cutOff: boolean }> {
    const running = shadow.active.at(-1);
    if (running) return { work: running, cutOff: shadow.isUnsure };
    const pending = (await shadow.repository?.readPending()) ?? null;
    return pending ? { work: pending, cutOff: true } : { work: { kind: 'outside' }, cutOff: false };
  }
  async function captureBefore(agentId: AgentId, shadow: Shadow): Promise<void> {
    await open(shadow, false);
    await capture(agentId, shadow, await labelOf(shadow));
    shadow.isUnsure = false;
  }

  const record: RecordWork = async (agentId, work) => {
    const shadow = shadowOf(agentId);
    // What an agent may do says nothing about scripts and the person.
    const isAgents = work.kind === 'run' || work.kind === 'turn';
    const isIdle = isAgents && (await deps.mayWrite?.(agentId).catch(() => true)) === false;
    const isWithin = work.kind === 'call' && shadow.active.some(({ kind }) => kind === 'run' || kind === 'turn');
    if (isClosed || isIdle || isWithin) return () => Promise.resolve();
    const begin = () =>
      atOnce(async () => {
        try {
          await captureBefore(agentId, shadow);
          await shadow.repository?.writePending(work);
        } catch (error) {
          missed(agentId, shadow, work, error);
        }
        shadow.active.push(work);
      });
    const end = () =>
      atOnce(async () => {
        try {
          await capture(agentId, shadow, { work, cutOff: shadow.isUnsure });
          shadow.isUnsure = false;
        } catch (error) {
          missed(agentId, shadow, work, error);
        }
        shadow.active.splice(shadow.active.indexOf(work), 1);
        await shadow.repository?.writePending(shadow.active.at(-1) ?? null).catch(() => undefined);
      });
    await shadow.inTurn(begin);
    return async () => {
      await shadow.inTurn(end);
      void shadow
        .inTurn(() => upkeep(shadow))
        .catch((error: unknown) =>
          logger.warn('The history of an agent’s files could not be tidied. The relay tries again.', {
            agentId,
            error,
          }),
        );
    };
  };

  const tidy = (shadow: Shadow) =>
    shadow.inTurn(async () => {
      await open(shadow, false);
      await upkeep(shadow);
    });
  async function upkeep(shadow: Shadow): Promise<void> {
    const { repository } = shadow;
    if (!repository) return;
    await dropOld(shadow, repository);
    if (shadow.pointsSinceMerge < limits.mergeAfter) return;
    await repository.merge();
    shadow.pointsSinceMerge = 0;
    await count(shadow);
  }

  /**
   * The points that are shown, newest first. The oldest may only be what others are compared with.
   */
  function shownIn(points: readonly StoredPoint[]): readonly StoredPoint[] {
    const since = now() - limits.keptDays * DAY_MS;
    const last = points.at(-1);
    const isBase = last !== undefined && (last.number > 1 || last.work.kind === 'outside');
    return (isBase ? points.slice(0, -1) : points).filter(({ at }) => at >= since);
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
  async function pointOf(shadow: Shadow, pointId: string) {
    const repository = await open(shadow, false);
    if (!repository) throw new HistoryError((await findGit()) === 'on' ? 'not-found' : 'off');
    const points = await repository.points();
    const point = shownIn(points).find(({ number }) => String(number) === pointId);
    if (!point) throw new HistoryError('not-found');
    const previous = points[points.indexOf(point) + 1] ?? null;
    return { repository, point, previous };
  }
  type Found = Awaited<ReturnType<typeof pointOf>>;
  /** The folder as it was at this moment. */
  async function stateAt({ repository, point, previous }: Found, to: To, key: string): Promise<Listing> {
    if (to === 'after') return await repository.listing(point.number, key);
    if (previous?.folders.includes(key)) return await repository.listing(previous.number, key);
    // Found by the first recording of this folder. Nobody's work has put it there.
    return point.work.kind === 'outside' ? await repository.listing(point.number, key) : EMPTY;
  }
  /** The folder as it is now. `keep`: receives contents that are not in the repository. */
  async function stateNow(repository: Repository, { key, path }: RecordedFolder, store: Store): Promise<Listing> {
    const before = await repository.newest(key);
    const signal = AbortSignal.timeout(limits.recordMs);
    return await recordFolder(path, { before, store, now: now(), limits, signal });
  }
  const storesNothing: Store = () => Promise.resolve();

  async function bothSides(agentId: AgentId, found: Found, from: From, key: string, store = storesNothing) {
    if (from === 'previous')
      return { before: await stateAt(found, 'before', key), after: await stateAt(found, 'after', key) };
    const folder = (await deps.foldersOf(agentId)).find((each) => each.key === key);
    const before = await stateAt(found, from, key);
    return { before, after: folder ? await stateNow(found.repository, folder, store) : EMPTY };
  }

  async function sideOf(
    repository: Repository,
    listing: Listing,
    file: string,
    kept: Map<string, Buffer>,
  ): Promise<Side> {
    const entry = listing.entries.get(file);
    if (!entry || entry.kind === 'folder') return { kind: 'none' };
    if (entry.bytes > COMPARED_BYTES) return { kind: 'large', bytes: entry.bytes };
    let content = kept.get(entry.object);
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

  const inHistory = <Value>(agentId: AgentId, work: (shadow: Shadow) => Promise<Value>): Promise<Value> => {
    const shadow = shadowOf(agentId);
    return shadow.inTurn(() => work(shadow));
  };

  async function restore(
    agentId: AgentId,
    shadow: Shadow,
    pointId: string,
    to: To,
    files: readonly FileOf[] | null,
  ): Promise<Restored> {
    const found = await pointOf(shadow, pointId);
    const { repository } = found;
    const work: Work = { kind: 'restore', pointId, to };
    try {
      await captureBefore(agentId, shadow);
    } catch (error) {
      throw new HistoryError('unrecorded', missed(agentId, shadow, work, error));
    }
    const folders = await deps.foldersOf(agentId);
    const targets = new Map<string, Listing>();
    for (const { key } of folders)
      if (files === null ? found.point.folders.includes(key) : files.some(({ folder }) => folder === key))
        targets.set(key, await stateAt(found, to, key));
    const objects = [...targets.values()].flatMap(({ entries }) =>
      [...entries.values()].flatMap(({ object }) => (object === '' ? [] : [object])),
    );
    // Nothing begins that could not be finished.
    if ((await repository.missing([...new Set(objects)])).length > 0) throw new HistoryError('unrecorded', 'broken');
    await repository.writePending(work);
    shadow.active.push(work);
    const left: (Left & { readonly folder: string })[] = [];
    try {
      for (const { key, path } of folders) {
        const target = targets.get(key);
        if (!target) continue;
        const only = files && new Set(files.flatMap(({ folder, file }) => (folder === key ? [file] : [])));
        const signal = AbortSignal.timeout(limits.restoreMs);
        const current = await repository.newest(key);
        const more = await restoreFolder(path, { current, target, only, signal, read: repository.read });
        left.push(...more.map((each) => ({ ...each, folder: key })));
      }
    } finally {
      shadow.active.splice(shadow.active.indexOf(work), 1);
    }
    let point: StoredPoint | null = null;
    try {
      point = await capture(agentId, shadow, { work, cutOff: false });
    } catch (error) {
      missed(agentId, shadow, work, error);
    }
    await repository.writePending(shadow.active.at(-1) ?? null);
    onChange(agentId);
    return {
      pointId: point === null ? null : String(point.number),
      counts: point?.counts ?? { added: 0, changed: 0, deleted: 0 },
      left: left.map(({ folder, path, why }) => ({ folder, path: shownPathOf(path), why })),
    };
  }

  const histories: Histories = {
    record,
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
        const found = await pointOf(shadow, pointId);
        const changes: Changes['changes'] = [];
        const notRecorded: NotRecorded[] = [];
        let moreNotRecorded = 0;
        for (const key of found.point.folders) {
          const { before, after } = await bothSides(agentId, found, from, key);
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
        const found = await pointOf(shadow, pointId);
        const kept = new Map<string, Buffer>();
        const keep: Store = (object, bytes, parts, where) => {
          if (where === file && bytes <= COMPARED_BYTES) kept.set(object, Buffer.concat(parts));
          return Promise.resolve();
        };
        const { before, after } = await bothSides(agentId, found, from, folder, keep);
        if (!before.entries.has(file) && !after.entries.has(file)) throw new HistoryError('not-found');
        return {
          before: await sideOf(found.repository, before, file, kept),
          after: await sideOf(found.repository, after, file, kept),
        };
      }),
    async restore(agentId, pointId, to, files) {
      const endTurn = await deps.takeTurn(agentId);
      if (!endTurn) throw new HistoryError('busy');
      try {
        return await inHistory(agentId, (shadow) => restore(agentId, shadow, pointId, to, files));
      } finally {
        endTurn();
      }
    },
    forget: (agentId) =>
      inHistory(agentId, async (shadow) => {
        shadow.repository = null;
        shadow.bytes = 0;
        shadow.gaps.length = 0;
        if (!existsSync(shadow.folder)) return;
        // Gone at once, also where the relay is killed before all of it is removed.
        const going = `${shadow.folder}.${newId()}${GOING}`;
        await rename(shadow.folder, going);
        await rm(going, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
        onChange(agentId);
      }),
    async bytes(agentId) {
      const shadow = shadowOf(agentId);
      if (shadow.bytes !== null) return shadow.bytes;
      await shadow.inTurn(async () => {
        await open(shadow, false);
        await count(shadow);
      });
      return shadow.bytes ?? 0;
    },
    async keepTidy(timers) {
      for (const name of await readdir(deps.folder).catch(() => [])) {
        if (isClosed) return;
        const folder = join(deps.folder, name);
        try {
          // The rest of a history whose deletion was cut off.
          if (name.endsWith(GOING)) await rm(folder, { recursive: true, force: true });
          else await tidy(shadowIn(folder));
        } catch (error) {
          logger.warn('The history of an agent’s files could not be tidied. The relay tries again.', { name, error });
        }
      }
      if (!isClosed) cancelTidy = timers.after(limits.tidyMs, () => void histories.keepTidy(timers));
    },
    async close() {
      isClosed = true;
      cancelTidy();
      for (const shadow of shadows.values()) await shadow.inTurn(() => Promise.resolve());
    },
  };
  return histories;
}

function hasNewStamps(before: Listing, after: Listing): boolean {
  if (before.notRecorded.length !== after.notRecorded.length) return true;
  for (const [path, { stamp }] of after.entries) if (before.entries.get(path)?.stamp !== stamp) return true;
  return JSON.stringify(before.notRecorded) !== JSON.stringify(after.notRecorded);
}

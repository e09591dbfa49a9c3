/** The repositories of all agents' histories: opening, counting, tidying and deleting them. */
import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import type { Gap, Work } from '../../../src/shared/protocol/endpoints/history.ts';
import { createGitFinder } from '../../platform/git/index.ts';
import { folderName } from '../workspaces/index.ts';
import { openRepository, type Repository } from './repository.ts';
import { HISTORY_LIMITS } from './settings.ts';
import type { HistoriesDeps, Histories } from './contract.ts';

/** What is known of one agent's history. */
export interface Shadow {
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

const DAY_MS = 86_400_000;

export type Shadows = ReturnType<typeof createShadows>;

export function createShadows(deps: HistoriesDeps) {
  const { now, elapsed, logger, onChange, limits = HISTORY_LIMITS } = deps;
  const findGit = createGitFinder(deps.lane, limits.leastGit, elapsed, deps.path);
  const shadows = new Map<string, Shadow>();
  let isClosed = false;
  let cancelTidy: () => void = () => undefined;
  /** Points from before this moment are dropped, in ms since the epoch. */
  const oldest = () => now() - limits.keptDays * DAY_MS;

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
    const since = oldest();
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

  const inHistory = <Value>(agentId: AgentId, work: (shadow: Shadow) => Promise<Value>): Promise<Value> => {
    const shadow = shadowOf(agentId);
    return shadow.inTurn(() => work(shadow));
  };

  const own: Pick<Histories, 'forget' | 'bytes' | 'keepTidy' | 'close'> = {
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
      if (!isClosed) cancelTidy = timers.after(limits.tidyMs, () => void own.keepTidy(timers));
    },
    async close() {
      isClosed = true;
      cancelTidy();
      for (const shadow of shadows.values()) await shadow.inTurn(() => Promise.resolve());
    },
  };
  return { ...own, findGit, isClosed: () => isClosed, oldest, shadowOf, open, count, makeRoom, upkeep, inHistory };
}

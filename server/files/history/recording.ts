/** Recordings of an agent's folders, before and after each work in them. */
import { existsSync, lstatSync } from 'node:fs';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { createLimiter, createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { Gap, Work } from '../../../src/shared/protocol/endpoints/history.ts';
import type { RecordWork } from '../workspaces/record-work.ts';
import { GitError } from '../../platform/git/index.ts';
import { codeOf } from '../../platform/errors.ts';
import { countsOf, type Difference, differences, EMPTY, type Listing, shownDifferences } from './listing.ts';
import { recordFolder, type Store } from './record.ts';
import type { Import, Message, Repository, StoredPoint } from './repository.ts';
import { HISTORY_LIMITS } from './settings.ts';
import { isUnchanged } from './unchanged.ts';
import type { HistoriesDeps, RecordedFolder } from './contract.ts';
import type { Shadow, Shadows } from './shadows.ts';

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

const whyOf = (error: unknown): Gap['why'] =>
  error instanceof NoRoomError
    ? 'no-room'
    : error instanceof GitError
      ? (GAPS[error.why] ?? 'broken')
      : ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
        ? 'disk-full'
        : 'broken';

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

function hasNewStamps(before: Listing, after: Listing): boolean {
  if (before.notRecorded.length !== after.notRecorded.length) return true;
  for (const [path, { stamp }] of after.entries) if (before.entries.get(path)?.stamp !== stamp) return true;
  return JSON.stringify(before.notRecorded) !== JSON.stringify(after.notRecorded);
}

export type Recording = ReturnType<typeof createRecording>;

export function createRecording(deps: HistoriesDeps, { isClosed, shadowOf, open, count, makeRoom, upkeep }: Shadows) {
  const { now, logger, onChange, limits = HISTORY_LIMITS } = deps;
  const atOnce = createLimiter(limits.atOnce);

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
    const knownObjects = new Set<string>();
    let importing: Import | null = null;
    let counted = 0;
    const inImport = createQueue();
    const store: Store = (object, bytes, parts) =>
      inImport(async () => {
        if (knownObjects.has(object)) return;
        knownObjects.add(object);
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
      for (const { entries } of before.values()) for (const { object } of entries.values()) knownObjects.add(object);
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
    if (isClosed() || isIdle || isWithin) return () => Promise.resolve();
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

  return { record, capture, captureBefore, missed };
}

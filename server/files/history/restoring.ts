/** Puts an agent's files back as they were at a point. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Restored, Work } from '../../../src/shared/protocol/endpoints/history.ts';
import { type Listing, shownPathOf } from './listing.ts';
import type { StoredPoint } from './repository.ts';
import { type Left, restoreFolder } from './restore.ts';
import { HISTORY_LIMITS } from './settings.ts';
import { HistoryError, type FileOf, type Histories, type HistoriesDeps, type To } from './contract.ts';
import { type Points, stateAt } from './points.ts';
import type { Recording } from './recording.ts';
import type { Shadow, Shadows } from './shadows.ts';

export function createRestoring(
  deps: HistoriesDeps,
  { inHistory }: Shadows,
  { capture, captureBefore, missed }: Recording,
  { pointOf }: Pick<Points, 'pointOf'>,
): Pick<Histories, 'restore'> {
  const { onChange, limits = HISTORY_LIMITS } = deps;
  async function restore(
    agentId: AgentId,
    shadow: Shadow,
    pointId: string,
    to: To,
    files: readonly FileOf[] | null,
  ): Promise<Restored> {
    const restored = await pointOf(shadow, pointId);
    const { repository } = restored;
    const work: Work = { kind: 'restore', pointId, to };
    try {
      await captureBefore(agentId, shadow);
    } catch (error) {
      throw new HistoryError('unrecorded', missed(agentId, shadow, work, error));
    }
    const folders = await deps.foldersOf(agentId);
    const targets = new Map<string, Listing>();
    for (const { key } of folders)
      if (files === null ? restored.point.folders.includes(key) : files.some(({ folder }) => folder === key))
        targets.set(key, await stateAt(restored, to, key));
    const objects = [...targets.values()].flatMap(({ entries }) =>
      [...entries.values()].flatMap(({ object }) => (object === '' ? [] : [object])),
    );
    // Nothing begins that could not be finished.
    if ((await repository.missing([...new Set(objects)])).length > 0) throw new HistoryError('unrecorded', 'broken');
    await repository.writePending(work);
    shadow.active.push(work);
    const notRestored: (Left & { readonly folder: string })[] = [];
    try {
      for (const { key, path } of folders) {
        const target = targets.get(key);
        if (!target) continue;
        const only = files && new Set(files.flatMap(({ folder, file }) => (folder === key ? [file] : [])));
        const signal = AbortSignal.timeout(limits.restoreMs);
        const current = await repository.newest(key);
        const more = await restoreFolder(path, { current, target, only, signal, read: repository.read });
        notRestored.push(...more.map((each) => ({ ...each, folder: key })));
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
      left: notRestored.map(({ folder, path, why }) => ({ folder, path: shownPathOf(path), why })),
    };
  }

  return {
    async restore(agentId, pointId, to, files) {
      const endTurn = await deps.takeTurn(agentId);
      if (!endTurn) throw new HistoryError('busy');
      try {
        return await inHistory(agentId, (shadow) => restore(agentId, shadow, pointId, to, files));
      } finally {
        endTurn();
      }
    },
  };
}

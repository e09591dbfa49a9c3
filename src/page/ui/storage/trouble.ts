/** A storage problem of this device, in words. */
import type { StorageProblem } from '../../../shared/protocol/worker.ts';
import { retold, t } from '../../language/t.ts';
import type { Trouble } from '../text/reasons.ts';

const STORAGE_TITLES: Record<StorageProblem['kind'], string> = {
  quota: t`The disk is full: nothing can be saved`,
  broken: t`The storage on this device is faulty`,
  unreadable: t`The browser cannot read its storage`,
  blocked: t`The storage is not open yet`,
  'no-owner': t`This page cannot reach the storage`,
  damaged: t`A part of the storage was damaged`,
  unsupported: t`Roost does not work in this browser`,
};

/** The data worker's message says what to do. */
export const storageTrouble = ({ kind, detail }: StorageProblem): Trouble => ({
  title: STORAGE_TITLES[kind],
  advice: retold(detail),
});

/** A storage problem of this device, in words. */
import type { StorageProblem } from '../../../shared/protocol/worker.ts';
import { retold, t } from '../../language/t.ts';
import type { Trouble } from '../text/reasons.ts';

const STORAGE_TITLES: Record<StorageProblem['kind'], string> = {
  quota: t`The disk is full: nothing can be saved`,
  broken: t`Something is wrong with the storage on this device`,
  unreadable: t`The browser cannot read what it stored here`,
  blocked: t`What is stored here is not open yet`,
  'no-owner': t`This page cannot reach what is stored here`,
  damaged: t`A part of what is stored on this device was damaged`,
  unsupported: t`This browser cannot store what Roost needs`,
};

/** The data worker's message says what to do. */
export const storageTrouble = ({ kind, detail }: StorageProblem): Trouble => ({
  title: STORAGE_TITLES[kind],
  advice: retold(detail),
});

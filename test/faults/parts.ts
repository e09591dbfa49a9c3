/** Every part of `npm run faults`. */
import { devicesPart, restoredPart } from './long-devices.ts';
import { acpPart } from './long-acp.ts';
import { acpProgramParts } from './long-acp-programs.ts';
import { backupPart } from './long-backup.ts';
import { checkoutsPart } from './long-checkouts.ts';
import { damagePart } from './long-damage.ts';
import { damageRestorePart } from './long-damage-restore.ts';
import { fullDiskPart } from './long-full-disk.ts';
import { growthPart } from './long-growth.ts';
import { hostilePart } from './long-hostile.ts';
import { ledgerPart } from './long-ledger.ts';
import { linePart } from './long-line.ts';
import { forgettingPart } from './long-forgetting.ts';
import { memoryPart } from './long-memory.ts';
import { schedulesPart } from './long-schedules.ts';
import { plainPart } from './long-plain.ts';
import { powerPart } from './long-power.ts';
import { projectsPart } from './long-projects.ts';
import { relayPart } from './long-relay.ts';
import { restartPart } from './long-restart.ts';
import { longTests } from './long-tests.ts';
import { transactionsPart } from './long-transactions.ts';
import { undoPart } from './long-undo.ts';
import type { LongPart } from './long-part.ts';

/** In the order in which they run. */
export const PARTS: readonly LongPart[] = [
  relayPart,
  restartPart,
  powerPart,
  fullDiskPart,
  backupPart,
  growthPart,
  linePart,
  ledgerPart,
  transactionsPart,
  devicesPart,
  restoredPart,
  damagePart,
  damageRestorePart,
  memoryPart,
  forgettingPart,
  schedulesPart,
  projectsPart,
  plainPart,
  hostilePart,
  checkoutsPart,
  undoPart,
  ...longTests,
];
/** Only where they are named: what they need is large, and is installed at their first run. */
export const BY_NAME: readonly LongPart[] = [acpPart, ...acpProgramParts];

/** Every part of `npm run bench`, in the order in which they run. */
import { diffs } from './diffs.ts';
import { fileTools } from './file-tools.ts';
import { gate } from './gate.ts';
import { heldCalls } from './held-calls.ts';
import { ledgerAppend } from './ledger-append.ts';
import { ledgerTakeover } from './ledger-takeover.ts';
import { ledgerYears } from './ledger-years.ts';
import { loop } from './loop.ts';
import { schedules } from './schedules.ts';
import { packed } from './package.ts';
import { pageActs } from './page-acts.ts';
import { pagePaint } from './page-paint.ts';
import { pageRest } from './page-rest.ts';
import { pageWeight } from './page-weight.ts';
import { pageYears } from './page-years.ts';
import { memoryDreams } from './memory-dreams.ts';
import { memoryEvidence } from './memory-evidence.ts';
import { memoryImport } from './memory-import.ts';
import { memoryRecall } from './memory-recall.ts';
import { memoryTurns } from './memory-turns.ts';
import type { Part } from './part.ts';
import { projectFolder } from './project-folder.ts';
import { projects } from './projects.ts';
import { proxy } from './proxy.ts';
import { search } from './search.ts';
import { start } from './start.ts';
import { store } from './store.ts';
import { syncBrowsers } from './sync-browsers.ts';
import { syncReplica } from './sync-replica.ts';
import { wakeCost } from './wake-cost.ts';
import { wakePayload } from './wake-payload.ts';
import { wake } from './wake.ts';

export const PARTS: readonly Part[] = [
  wake,
  wakePayload,
  wakeCost,
  memoryTurns,
  memoryDreams,
  memoryEvidence,
  memoryRecall,
  memoryImport,
  gate,
  schedules,
  start,
  packed,
  store,
  fileTools,
  proxy,
  heldCalls,
  loop,
  pageWeight,
  pagePaint,
  pageActs,
  pageRest,
  pageYears,
  projects,
  projectFolder,
  diffs,
  ledgerAppend,
  ledgerTakeover,
  ledgerYears,
  search,
  syncReplica,
  syncBrowsers,
];

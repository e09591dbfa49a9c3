/**
 * `npm run bench`: the figures of this machine, each beside a limit or a peer. Nothing here fails on a time.
 * `npm run bench -- ledger` runs the parts whose names begin so.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';
import { printed, type Section } from './figures.ts';
import { fileTools } from './file-tools.ts';
import { gateFigures } from './gate.ts';
import { heldCalls } from './held-calls.ts';
import { ledgerAppend } from './ledger-append.ts';
import { ledgerTakeover } from './ledger-takeover.ts';
import { ledgerYears } from './ledger-years.ts';
import { nightFigures } from './night.ts';
import { pagePaint } from './page-paint.ts';
import { pageRest } from './page-rest.ts';
import { pageWeight } from './page-weight.ts';
import { pageYears } from './page-years.ts';
import { proxyFigures } from './proxy.ts';
import { searchFigures } from './search.ts';
import { storeFigures } from './store.ts';
import { syncBrowsers } from './sync-browsers.ts';
import { syncReplica } from './sync-replica.ts';
import { wakeCost } from './wake-cost.ts';
import { wakePayload } from './wake-payload.ts';
import { wakeFigures } from './wake.ts';

const PARTS: Readonly<Record<string, () => Promise<Section>>> = {
  wake: wakeFigures,
  'wake-payload': wakePayload,
  'wake-cost': wakeCost,
  gate: gateFigures,
  night: nightFigures,
  store: storeFigures,
  'file-tools': fileTools,
  proxy: proxyFigures,
  'held-calls': heldCalls,
  'page-weight': pageWeight,
  'page-paint': pagePaint,
  'page-rest': pageRest,
  'page-years': pageYears,
  'ledger-append': ledgerAppend,
  'ledger-takeover': ledgerTakeover,
  'ledger-years': ledgerYears,
  search: searchFigures,
  'sync-replica': syncReplica,
  'sync-browsers': syncBrowsers,
};

const asked = process.argv.slice(2);
const chosen = Object.entries(PARTS).filter(
  ([name]) => asked.length === 0 || asked.some((one) => name.startsWith(one)),
);
if (chosen.length === 0)
  throw new Error(`There is no part "${asked.join(' ')}"; there are ${Object.keys(PARTS).join(', ')}.`);

console.log(
  `Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, load ${(loadavg()[0] ?? 0).toFixed(1)} before\n`,
);
for (const [, section] of chosen) console.log(printed(await section()));

/**
 * A run of writes, and at a random moment of it whoever owns the ledger is ended: the worker, the
 * tab whose worker it is, or the whole browser. The run goes on to its end with whoever takes over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { ownerOf, type LedgerBench, type MortalHousehold } from '../support/ledger-harness.ts';
import { demand } from './checks.ts';
import { faultsOfLedgerAfter } from './ledger-checks.ts';
import { crashTab, killOwner } from './ledger-owners.ts';
import { createScribe } from './ledger-scribe.ts';

export type OwnerEnd =
  /** The SharedWorker is ended. */
  | 'worker'
  /** Without SharedWorker: the tab whose worker owns the ledger crashes, another tab goes on. */
  | 'tab'
  /** `kill -9` of the browser. */
  | 'browser';

/** Of the long form. */
export const WRITES = 500;
/** ms at most between the write that is chosen and the kill. */
const JITTER = 15;
/** Calls under way at once, at most. */
const MOST_WRITERS = 5;
/**
 * One run on a new household, which is removed. Rejects with a `Fault` where something is wrong.
 */
export async function ledgerKillRound(
  bench: LedgerBench,
  how: OwnerEnd,
  random: () => number,
  writes = WRITES,
): Promise<void> {
  const home = await bench.mortalHousehold();
  try {
    await killedRun(home, how, random, writes);
  } finally {
    await home.remove();
  }
}

async function killedRun(home: MortalHousehold, how: OwnerEnd, random: () => number, writes: number): Promise<void> {
  const query = how === 'tab' ? '?without-shared-worker' : '';
  const scribe = createScribe(random);
  const moment = Math.floor(random() * writes);
  const writers = 1 + Math.floor(random() * MOST_WRITERS);
  const jitter = random() * JITTER;
  let begun = 0;
  let answered = 0;
  let momentHasCome: () => void = () => undefined;
  const come = new Promise<void>((resolve) => {
    momentHasCome = resolve;
  });

  const owner = await home.tab(query);
  // It has become the owner before another tab can.
  await ownerOf(owner).call('household');
  const other = await home.tab(query);

  /** Writes by turns until the run is over or its tab is gone. */
  const writer = async (tab: Page) => {
    while (begun < writes) {
      begun += 1;
      await scribe.write(tab);
      answered += 1;
      if (answered > moment) momentHasCome();
    }
    momentHasCome();
  };
  const start = (tab: Page) => Array.from({ length: writers }, () => writer(tab));
  const mortal = [...(how === 'worker' ? [] : start(owner)), ...(how === 'browser' ? start(other) : [])];
  const lasting = how === 'browser' ? [] : start(other);
  const ending = Promise.allSettled(mortal);
  const lastingEnd = Promise.all(lasting);

  await Promise.race([come, lastingEnd]);
  await sleep(jitter);
  switch (how) {
    case 'worker':
      await killOwner(home.context());
      break;
    case 'tab':
      await crashTab(owner);
      break;
    case 'browser':
      await home.kill();
      break;
    default:
      how satisfies never;
  }
  await ending;
  await lastingEnd;
  if (how === 'browser') await Promise.all(start(await home.tab()));
  demand(
    `After the ${how} was killed at write ${moment} of ${writes} with ${writers} at once`,
    await faultsOfLedgerAfter(home, scribe.story, query),
  );
}

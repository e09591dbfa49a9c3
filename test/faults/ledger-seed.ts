/**
 * What one seed does to a ledger: a run of writes with a kill in it; every tenth also kills ten
 * owners of three tabs.
 */
import type { LedgerBench } from '../support/ledger-harness.ts';
import { createRandom } from '../support/random.ts';
import { ledgerKillRound, type OwnerEnd } from './ledger-kill.ts';
import { ledgerTakeoverRound } from './ledger-takeover.ts';
import { withSeed } from './seeds.ts';

const ENDS: readonly OwnerEnd[] = ['worker', 'tab', 'browser'];
const TAKEOVERS_EVERY = 10;

export const endOf = (seed: number): OwnerEnd => ENDS[seed % ENDS.length] ?? 'worker';
export const takesOver = (seed: number): boolean => seed % TAKEOVERS_EVERY === 0;

/** Where it is shorter than the long form. */
interface Lengths {
  readonly writes?: number;
  readonly kills?: number;
}

/** Rejects with what is wrong, and how to run it again. */
export async function runLedgerSeed(bench: LedgerBench, seed: number, { writes, kills }: Lengths = {}): Promise<void> {
  await withSeed('ledger', seed, async () => {
    await ledgerKillRound(bench, endOf(seed), createRandom(seed), writes);
    if (takesOver(seed)) await ledgerTakeoverRound(bench, createRandom(seed), kills);
  });
}

/**
 * Our ledger, behind its owner, for the tests of one file; each test has a browser profile of its
 * own.
 */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { drained, openBench, volumesOf, type Household, type LedgerBench } from '../support/ledger-harness.ts';

export interface OwnerPage {
  home(): Household;
  /**
   * Waits until all lies in volumes, closes every tab, and answers with the ids that Fireproof
   * gives back.
   */
  stored(tab: Page): Promise<string[]>;
}

export function useOwnerPage(): OwnerPage {
  let bench: LedgerBench;
  let home: Household;
  beforeAll(async () => {
    bench = await openBench();
    bench.relay.refuse(503);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    home = await bench.household();
  });
  afterEach(() => home.remove());
  return {
    home: () => home,
    async stored(tab) {
      await drained(tab);
      await home.closeTabs();
      const volumes = await volumesOf(await home.tab('?closed'));
      return Object.values(volumes)
        .flatMap(({ docs }) => docs.map(({ _id }) => _id))
        .sort();
    },
  };
}

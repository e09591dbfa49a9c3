import { describe, expect, it } from 'vitest';
import { ids, itIsPlain, usePlainPage } from './plain-page.ts';

const FEW = 100;
const MANY = 400;
const COMMIT = 20;

const { tab, reopened } = usePlainPage();
const commits = (count: number) => Array.from({ length: count / COMMIT }, (_, n) => ids(`doc-${n}`, COMMIT));

describe('opening to read one document', () => {
  itIsPlain('reads the whole ledger with plain Fireproof, however old it is', async () => {
    const bytes: number[] = [];
    for (const count of [FEW, MANY]) {
      const writer = await tab();
      for (const commit of commits(count))
        await writer.evaluate(({ count, commit }) => window.faults.bulk(`of-${count}`, commit, 200), { count, commit });
      bytes.push(
        await (
          await reopened(writer)
        ).evaluate((count) => window.faults.bytesToReadOne(`of-${count}`, 'doc-0-0001'), count),
      );
    }
    expect(bytes[1]).toBeGreaterThan(3 * (bytes[0] ?? 0));
  });

  it('reads one volume with ours, whatever lies in those before it', async () => {
    const writer = await tab();
    await writer.evaluate((all) => window.faults.ours.bulk('v00002', all, 200), ids('doc', COMMIT));
    const second = await reopened(writer);
    const before = await second.evaluate(() => window.faults.ours.bytesToRead('v00002'));
    for (const commit of commits(FEW))
      await second.evaluate((all) => window.faults.ours.bulk('v00001', all, 200), commit);
    expect(await (await reopened(second)).evaluate(() => window.faults.ours.bytesToRead('v00002'))).toBe(before);
  });
});

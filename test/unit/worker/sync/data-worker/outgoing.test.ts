import { expect, it } from 'vitest';
import { createOutgoing } from '../../../../../src/worker/sync/data-worker/writing.ts';
import { SYNC_WORKER } from '../../../../../src/worker/sync/settings.ts';
import { formatStamp } from '../../../../../src/shared/domain/stamp.ts';
import type { Doc } from '../../../../../src/shared/protocol/documents.ts';
import { createManualTimers } from '../../../../support/manual-timers.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const note = (n: number): Doc => ({
  _id: `setting:${n}`,
  type: 'setting',
  schema: 1,
  at: formatStamp({ time: n, counter: 0, node: 'test' }),
  key: 'note',
  value: n,
});

/** An outbox whose reading and sealing go on only when the test says so. */
function slowOutbox() {
  const timers = createManualTimers();
  let rows: { number: number; fromRelay: boolean; docs: readonly Doc[] }[] = [];
  let newest = 0;
  let broken = false;
  const held: (() => void)[] = [];
  const step = () => new Promise<void>((resolve) => void held.push(resolve));
  const outgoing = createOutgoing({
    ledger: {
      async outbox() {
        const read = [...rows];
        await step();
        if (broken) throw new Error('no room');
        return read;
      },
      clearOutbox(numbers) {
        rows = rows.filter(({ number }) => !numbers.includes(number));
        return Promise.resolve();
      },
    },
    sealer: { seal: step },
    heard: { has: () => false },
    timers,
    elapsed: () => 0,
    random: () => 0,
    hasOthers: () => false,
    onOwn: () => Promise.resolve(),
    onTrouble: () => undefined,
    onChange: () => undefined,
  });
  return {
    outgoing,
    add() {
      rows.push({ number: ++newest, fromRelay: false, docs: [note(newest)] });
      outgoing.wake();
    },
    breaks: (now: boolean) => void (broken = now),
    /** One read or one seal ends. */
    async goOn() {
      await settled();
      held.shift()?.();
      await settled();
    },
    pass: (ms: number) => timers.advance(ms),
    rows: () => rows.length,
  };
}

it('rows count as waiting while they are read, and those that come meanwhile until they are sealed too', async () => {
  const box = slowOutbox();
  box.add();
  expect(box.outgoing.waiting()).toBe(1);
  box.pass(SYNC_WORKER.sealQuiet);
  // The first row is read, and the second comes before it is sealed.
  await box.goOn();
  box.add();
  await box.goOn();
  expect([box.rows(), box.outgoing.waiting()]).toEqual([1, 1]);
  box.pass(SYNC_WORKER.sealQuiet);
  await box.goOn();
  expect([box.rows(), box.outgoing.waiting()]).toEqual([1, 1]);
  await box.goOn();
  expect([box.rows(), box.outgoing.waiting()]).toEqual([0, 0]);
});

it('rows that come during a second round count while that round reads', async () => {
  const box = slowOutbox();
  box.add();
  box.pass(SYNC_WORKER.sealQuiet);
  await box.goOn();
  box.add();
  box.pass(SYNC_WORKER.sealQuiet);
  await box.goOn();
  // The first row is sealed, and the second round has begun.
  expect([box.rows(), box.outgoing.waiting()]).toEqual([1, 1]);
  await box.goOn();
  await box.goOn();
  expect([box.rows(), box.outgoing.waiting()]).toEqual([0, 0]);
});

it('rows that could not be read count until they are', async () => {
  const box = slowOutbox();
  box.breaks(true);
  box.add();
  box.pass(SYNC_WORKER.sealQuiet);
  await box.goOn();
  expect(box.outgoing.waiting()).toBe(1);
  box.breaks(false);
  box.pass(SYNC_WORKER.sealRetry);
  await box.goOn();
  await box.goOn();
  expect([box.rows(), box.outgoing.waiting()]).toEqual([0, 0]);
});

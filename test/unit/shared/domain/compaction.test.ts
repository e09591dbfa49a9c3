import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CompactionPiece, planCompaction } from '../../../../src/shared/domain/compaction.ts';

const said = (size: number): CompactionPiece => ({ size, opens: [], closes: [], isSaid: true });
const answer = (size: number, ...opens: string[]): CompactionPiece => ({ size, opens, closes: [], isSaid: false });
const results = (size: number, ...closes: string[]): CompactionPiece => ({ size, opens: [], closes, isSaid: false });

/** Turns of a conversation. Some servers use the ids of calls again. */
const conversation = fc
  .array(
    fc.record({
      size: fc.nat(5_000),
      loops: fc.array(fc.record({ size: fc.nat(9_000), calls: fc.integer({ min: 1, max: 3 }) }), { maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((turns) =>
    turns.flatMap(({ size, loops }) => [
      said(size),
      ...loops.flatMap((loop) => {
        const ids = Array.from({ length: loop.calls }, (_none, i) => `call_${i}`);
        return [answer(100, ...ids), results(loop.size, ...ids)];
      }),
      answer(size),
    ]),
  );
const sizeOf = (pieces: readonly CompactionPiece[]) => pieces.reduce((sum, { size }) => sum + size, 0);

it('never separates a call from its result, and keeps the newest words and the last piece', () => {
  fc.assert(
    fc.property(conversation, fc.nat(3), (all, cut) => {
      // A compaction may be due within a turn.
      const pieces = all.slice(0, Math.max(1, all.length - cut));
      const plan = planCompaction(pieces, { keep: 0.2, least: 0 });
      if (!plan) return;
      const kept = pieces.filter((_piece, index) => index >= plan.from || index === plan.lastSaid);
      const older = pieces.filter((_piece, index) => index < plan.from && index !== plan.lastSaid);
      expect(plan.from).toBeLessThan(pieces.length);
      const balance = (part: readonly CompactionPiece[]) =>
        part.reduce((sum, { opens, closes }) => sum + opens.length - closes.length, 0);
      expect(balance(older)).toBe(0);
      expect(kept).toContain(pieces.findLast(({ isSaid }) => isSaid));
      expect(sizeOf(older)).toBeGreaterThan(0);
    }),
  );
});

it('keeps about the last fifth of a long conversation of short turns', () => {
  fc.assert(
    fc.property(fc.integer({ min: 50, max: 2_000 }), (turns) => {
      const pieces = Array.from({ length: turns }, () => [said(300), answer(500)]).flat();
      const plan = planCompaction(pieces, { keep: 0.2, least: 0 });
      const share = sizeOf(pieces.slice(plan?.from)) / sizeOf(pieces);
      expect(share).toBeLessThanOrEqual(0.2);
      expect(share).toBeGreaterThan(0.15);
    }),
  );
});

it('keeps the words that started a long loop of tools, and cuts within the loop', () => {
  const loop = Array.from({ length: 40 }, (_none, i) => [answer(50, `c${i}`), results(2_000, `c${i}`)]).flat();
  const plan = planCompaction([said(400), answer(40), said(90), ...loop], { keep: 0.2, least: 1_000 });
  expect(plan?.lastSaid).toBe(2);
  expect(plan?.from).toBeGreaterThan(60);
});

it('plans nothing for a single giant message, or when too little would be summarised', () => {
  expect(planCompaction([said(900_000)], { keep: 0.2, least: 0 })).toBeNull();
  expect(planCompaction([said(10), answer(10), said(900_000)], { keep: 0.2, least: 1_000 })).toBeNull();
  expect(planCompaction([said(5_000), answer(10), said(900_000)], { keep: 0.2, least: 1_000 })).toEqual({
    from: 2,
    lastSaid: null,
  });
});

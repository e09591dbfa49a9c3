import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addRange, NO_RANGES, type Ranges } from '../../../../src/shared/domain/ranges.ts';
import { checked, decodeFrame, encodeFrame, type Frame } from '../../../../src/shared/replication/frames.ts';

const id = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('base64url'));
const TOP = Number.MAX_SAFE_INTEGER;
const counter = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: TOP }));
const ranges = fc
  .array(fc.tuple(counter, fc.integer({ min: 0, max: 1_000 })), { minLength: 1, maxLength: 8 })
  .map((list) =>
    list.reduce<Ranges>((sum, [from, more]) => addRange(sum, from, Math.min(TOP, from + more)), NO_RANGES),
  );
const have = fc.array(fc.tuple(id, ranges), { maxLength: 5 }).map((list) => new Map(list));
const entries = fc.array(
  fc.record({
    writer: fc.oneof(id, fc.constant('A'.repeat(22))),
    counter,
    sealed: fc.uint8Array({ minLength: 1, maxLength: 50 }),
  }),
  { maxLength: 8 },
);
const digested = (bytes: number) =>
  fc.array(
    fc.record({
      writer: id,
      counter,
      digest: fc
        .uint8Array({ minLength: bytes, maxLength: bytes })
        .map((digest) => Buffer.from(digest).toString('hex')),
    }),
    { maxLength: 5 },
  );
const frames: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ kind: fc.constantFrom('have' as const, 'more' as const, 'less' as const), have }),
  fc.record({ kind: fc.constant('want' as const), request: fc.nat(), want: have }),
  fc.record({
    kind: fc.constant('entries' as const),
    request: fc.oneof(fc.constant(null), fc.nat()),
    replace: fc.boolean(),
    entries,
  }),
  fc.record({
    kind: fc.constant('conflict' as const),
    request: fc.oneof(fc.constant(null), fc.nat()),
    more: fc.boolean(),
    entries,
  }),
  fc.record({ kind: fc.constant('refused' as const), refused: digested(16) }),
  fc.record({ kind: fc.constant('compare' as const), request: fc.nat(), compared: digested(8) }),
);

describe('a frame of replication', () => {
  it('parses a frame back to what it was made from', () => {
    fc.assert(
      fc.property(frames, (frame) => {
        expect(decodeFrame(encodeFrame(frame))).toEqual({ ok: true, frame });
      }),
      { numRuns: 500 },
    );
  });

  it('gives a frame or a reason, whatever bytes come', () => {
    fc.assert(
      fc.property(fc.nat(10), fc.uint8Array({ maxLength: 200 }), (kind, rest) => {
        const frame = checked(Uint8Array.from([kind, ...rest]));
        const read = decodeFrame(frame);
        expect(read.ok ? read.frame.kind : read.reason).toMatch(/./);
        // There is one way to write what was read.
        if (read.ok && read.frame.kind !== 'entries' && read.frame.kind !== 'conflict')
          expect(encodeFrame(read.frame)).toEqual(frame);
      }),
      { numRuns: 5_000 },
    );
  });

  it('refuses a frame that is cut short or has an extra byte', () => {
    const frame = encodeFrame({
      kind: 'have',
      have: new Map([
        [
          'A'.repeat(22),
          [
            [1, 5],
            [9, 9],
          ],
        ],
      ]),
    });
    const body = frame.subarray(0, -4);
    for (let length = 0; length < frame.length; length++)
      expect(decodeFrame(frame.subarray(0, length))).toMatchObject({ ok: false });
    for (let length = 2; length < body.length; length++)
      expect(decodeFrame(checked(body.subarray(0, length)))).toMatchObject({ ok: false });
    expect(decodeFrame(checked(Uint8Array.from([...body, 0])))).toMatchObject({ ok: false });
  });

  it('refuses a frame with one changed bit', () => {
    fc.assert(
      fc.property(frames, fc.nat(), fc.nat(7), (frame, place, bit) => {
        const bytes = encodeFrame(frame);
        const at = place % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        expect(decodeFrame(bytes)).toEqual({
          ok: false,
          reason: 'A frame of replication cannot be read: it was changed or cut short on the way.',
        });
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    { what: 'nothing', bytes: [] },
    { what: 'an unknown kind', bytes: [99] },
    { what: 'an unknown flag', bytes: [5, 4] },
    { what: 'a number without an end', bytes: [4, 255, 255, 255, 255, 255, 255, 255, 255, 255] },
    { what: 'a number beyond whole numbers', bytes: [4, 255, 255, 255, 255, 255, 255, 255, 127] },
    { what: 'a number written longer than it is', bytes: [4, 128, 0] },
    { what: 'a counter of 0', bytes: [5, 0, ...Array<number>(16).fill(7), 1, 0, 1, 9] },
    { what: 'an empty entry', bytes: [5, 0, ...Array<number>(16).fill(7), 1, 1, 0] },
    {
      what: 'more entries than a frame has',
      bytes: [5, 0, ...Array<number>(16).fill(7), 255, 127, ...Array.from({ length: 10_000 }, () => [1, 1, 9]).flat()],
    },
    { what: 'touching ranges', bytes: [1, ...Array<number>(16).fill(7), 2, 0, 0, 0, 0] },
    {
      what: 'a writer twice',
      bytes: [1, ...Array<number>(16).fill(7), 1, 0, 0, ...Array<number>(16).fill(7), 1, 0, 0],
    },
  ])('refuses a frame with $what', ({ bytes }) => {
    expect(decodeFrame(checked(Uint8Array.from(bytes)))).toMatchObject({ ok: false });
  });

  it('says in few bytes what is there: 3 writers with 3 ranges each', () => {
    const three = new Map(
      ['A', 'B', 'C'].map((letter) => [
        `${letter.repeat(21)}A`,
        [
          [1, 900],
          [950, 1_000],
          [1_200, 5_000],
        ] as Ranges,
      ]),
    );
    expect(encodeFrame({ kind: 'have', have: three }).length).toBeLessThanOrEqual(95);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FACE_SIZE, faceHash, facePixels } from '../../../../src/shared/domain/face.ts';
import { anyText } from './arbitraries.ts';

/** Rows of the face: `#` in the agent's colour, `+` in a shade of it. */
function drawn(agentId: string, birthName: string): string {
  const rows = Array.from({ length: FACE_SIZE }, () => Array<string>(FACE_SIZE).fill('·'));
  for (const { x, y, tone } of facePixels(agentId, birthName)) {
    const row = rows[y];
    if (row) row[x] = tone === 1 ? '#' : '+';
  }
  return rows.map((row) => row.join('')).join('\n');
}

describe('a face', () => {
  // These are promises to agents who live: a change here changes somebody's face.
  it('never changes', () => {
    expect(
      ['01JD0000000000000000000000 Lyra', 'lead Julian', 'a A', ' '].map((who) =>
        faceHash(who.split(' ')[0] ?? '', who.split(' ')[1] ?? ''),
      ),
    ).toMatchInlineSnapshot(`
      [
        716756086,
        2993502419,
        1092129687,
        579050429,
      ]
    `);
    expect(drawn('01JD0000000000000000000000', 'Lyra')).toMatchInlineSnapshot(`
      "················
      ················
      ················
      ····+++··+++····
      ················
      ····##····##····
      ·····#····#·····
      ················
      ················
      ················
      ·······#········
      ······#·##······
      ················
      ················
      ················
      ················"
    `);
    expect(drawn('01JD0000000000000000000001', 'Orin')).toMatchInlineSnapshot(`
      "················
      ················
      ················
      ·····++··++·····
      ····+······+····
      ····#······#····
      ················
      ····#······#····
      ·······++·······
      ················
      ······####······
      ·····#····#·····
      ················
      ················
      ················
      ················"
    `);
    expect(drawn('01JD0000000000000000000002', 'Sable')).toMatchInlineSnapshot(`
      "················
      ················
      ················
      ····++····++····
      ······+··+······
      ····#······#····
      ················
      ····#······#····
      ················
      ················
      ······####······
      ·····#····#·····
      ····+······+····
      ················
      ················
      ················"
    `);
    expect(drawn('01JD0000000000000000000003', 'Wren')).toMatchInlineSnapshot(`
      "················
      ················
      ················
      ·····++··++·····
      ····+······+····
      ····##····##····
      ····#······#····
      ················
      ················
      ················
      ······####······
      ·····#····#·····
      ····+······+····
      ················
      ················
      ················"
    `);
    expect(drawn('lead', 'Julian')).toMatchInlineSnapshot(`
      "················
      ················
      ················
      ····++····++····
      ······+··+······
      ····###··###····
      ·····#····#·····
      ················
      ················
      ················
      ·········##·····
      ·····####·······
      ················
      ················
      ················
      ················"
    `);
  });

  it('draws every variant of eyes, mouth, brow and mark: a thousand faces', () => {
    const faces = new Set(Array.from({ length: 20_000 }, (_, i) => drawn(`agent-${i}`, 'Lyra')));
    expect(faces.size).toBe(1024);
  });

  it('differs between agents of one name, and between names of one agent', () => {
    const sameName = new Set(Array.from({ length: 100 }, (_, i) => drawn(`agent-${i}`, 'Lyra')));
    const sameId = new Set(Array.from({ length: 100 }, (_, i) => drawn('agent', `Lyra ${i}`)));
    expect(sameName.size).toBeGreaterThanOrEqual(32);
    expect(sameId.size).toBeGreaterThanOrEqual(32);
  });

  it('lies whole within its square, and is the same every time, for any id and name', () => {
    fc.assert(
      fc.property(anyText, anyText, (id, name) => {
        const pixels = facePixels(id, name);
        expect(pixels.length).toBeGreaterThan(0);
        for (const { x, y, tone } of pixels) {
          expect(Number.isInteger(x) && x >= 0 && x < FACE_SIZE && Number.isInteger(y) && y >= 0 && y < FACE_SIZE).toBe(
            true,
          );
          expect([1, 0.55]).toContain(tone);
        }
        expect(facePixels(id, name)).toEqual(pixels);
      }),
    );
  });

  it('mirrors eyes, brows and cheeks', () => {
    for (let i = 0; i < 2000; i++) {
      const above = drawn(`agent-${i}`, 'Lyra').split('\n').slice(0, 8);
      for (const row of above) expect(row).toBe([...row].reverse().join(''));
    }
  });
});

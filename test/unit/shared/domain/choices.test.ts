import { expect, test } from 'vitest';
import { rosterOf } from '../../../../src/shared/domain/agent.ts';
import { AGENT_COLORS, choiceOf, choiceSetting, choicesOf } from '../../../../src/shared/domain/choices.ts';
import { facePixels, facePartsOf, facePartsText, paintedFaceText } from '../../../../src/shared/domain/face.ts';
import { seatColor } from '../../../../src/shared/domain/seat.ts';
import { slotOf } from '../../../../src/shared/protocol/documents/kinds.ts';
import { identityDoc, settingDoc } from '../../../support/documents.ts';

const withId = <T extends { _id: string }>(doc: T) => ({ ...doc, id: doc._id });
const chosen = (n: number, key: 'model' | 'color' | 'face', value: unknown, agentId = 'a:1') =>
  withId(settingDoc(n, choiceSetting(agentId, key, '').key, value));
const [poppy, tangerine] = AGENT_COLORS;

const painted = paintedFaceText((x, y) => (y === 6 && x === 5 ? 1 : y === 7 ? 0.55 : undefined));

test('the newest choice of each kind holds, in whatever order they are heard of, and what cannot be one never does', () => {
  const records = [
    chosen(1, 'color', poppy.color),
    chosen(3, 'color', tangerine.color),
    chosen(4, 'color', '#123456'),
    chosen(2, 'model', 'big'),
    chosen(5, 'face', 'parts:9-0-0-0'),
    chosen(6, 'model', 'x'.repeat(300)),
    chosen(7, 'face', 7),
    chosen(8, 'face', `${painted.slice(0, -1)}3`),
    chosen(9, 'face', painted.slice(0, -1)),
  ];
  for (const order of [records, records.toReversed()])
    expect([...choicesOf(order)]).toEqual([['a:1', { model: 'big', color: tangerine.color, face: '' }]]);
});

test('a choice has a place of its own in the ledger, beside the others of the same agent', () => {
  const all = [
    chosen(1, 'color', ''),
    chosen(1, 'face', painted),
    chosen(1, 'model', 'm'),
    chosen(1, 'model', 'm', 'a2'),
  ];
  expect(new Set(all.flatMap((doc) => slotOf(doc) ?? [])).size).toBe(4);
  expect(choiceOf({ key: 'read:a1', value: 'x' })).toBeNull();
  expect(slotOf(settingDoc(1, 'color:a1', 'no colour'))).toBeNull();
});

test('uses the seat’s colour and the face of birth without a choice or after an empty one', () => {
  const identity = withId(identityDoc(1, 'a1', 0));
  const of = (...choices: Parameters<typeof choicesOf>[0]) =>
    rosterOf([identity], [], null, choicesOf(choices)).seats.get(0);
  const parts = facePartsText(facePartsOf('other', 'another'));
  expect(of(chosen(1, 'color', poppy.color, 'a1'), chosen(1, 'face', parts, 'a1'))).toMatchObject({
    ...poppy,
    face: parts,
  });
  expect(of(chosen(1, 'color', poppy.color, 'a1'), chosen(2, 'color', '', 'a1'))).toMatchObject({
    ...seatColor(0),
    face: identity.name,
  });
  expect(facePixels('a1', facePartsText(facePartsOf('a1', identity.name)))).toEqual(facePixels('a1', identity.name));
  // A painted one is drawn as it was painted, whoever has it; on the head alone.
  expect(of(chosen(1, 'face', painted, 'a1'))?.face).toBe(painted);
  const [eye, ...line] = facePixels('a1', painted);
  expect(eye).toEqual({ x: 5, y: 6, tone: 1 });
  expect(line.map(({ x, y, tone }) => [x, y, tone])).toEqual(Array.from({ length: 14 }, (_, i) => [i + 1, 7, 0.55]));
});

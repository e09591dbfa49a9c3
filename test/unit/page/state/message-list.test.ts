import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMessageList, visibleMessages } from '../../../../src/page/state/conversations.ts';
import type { MessageDoc } from '../../../../src/shared/protocol/documents.ts';
import { said } from '../support/household.ts';

const all = Array.from({ length: 12 }, (_none, i) => i);
/** Twelve messages; `edits` says which of them replaces which earlier one. */
const conversation = (edits: readonly (readonly [number, number])[]): MessageDoc[] => {
  const replaces = new Map(edits.map(([by, of]) => [Math.max(by, of), by === of ? null : `m${Math.min(by, of)}`]));
  return all.map((i) =>
    said('a', 'human', `${i}`, 1000 + i, { messageId: `m${i}`, replaces: replaces.get(i) ?? null }),
  );
};
const idsOf = (messages: readonly MessageDoc[]) => messages.map((message) => message.messageId);

test('whatever the pages and in whatever order they come, with whatever edits, what is shown is the same', () => {
  const edit = fc.tuple(fc.nat(11), fc.nat(11));
  const order = fc.oneof(fc.constant(all), fc.constant(all.toReversed()), fc.shuffledSubarray(all, { minLength: 12 }));
  fc.assert(
    fc.property(
      fc.array(edit, { maxLength: 3 }),
      order,
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 12, maxLength: 12 }),
      (edits, sequence, sizes) => {
        const messages = conversation(edits);
        const list = createMessageList();
        let at = 0;
        for (const size of sizes) {
          list.add(sequence.slice(at, at + size).flatMap((i) => messages[i] ?? []));
          at += size;
          const held = sequence.slice(0, at).flatMap((i) => messages[i] ?? []);
          expect(idsOf(list.visible())).toEqual(idsOf(visibleMessages(held)));
        }
      },
    ),
    { numRuns: 400 },
  );
});

test('changes nothing for a message that is already there', () => {
  const messages = conversation([]);
  const list = createMessageList(messages);
  const shown = list.visible();
  expect(list.add(messages.slice(3, 6))).toBe(false);
  expect(list.visible()).toBe(shown);
  expect(list.has('m3')).toBe(true);
  expect(list.has('m12')).toBe(false);
});

test('lists the messages since a given one, also hidden ones', () => {
  const messages = conversation([[5, 4]]);
  const list = createMessageList(messages);
  expect(idsOf(list.visible())).not.toContain('m4');
  expect(idsOf(list.since(messages[3] ?? null))).toEqual(['m3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11']);
  expect(list.since(null)).toHaveLength(12);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachOnce, fitting, refuseMentions } from '../../../../src/shared/domain/threads.ts';

const named = (agentId: string) => ({ agentId, name: agentId.toUpperCase() });
const someIds = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 6 });

describe('mentions', () => {
  it('refuses mentions of oneself or of outsiders, and names the first such', () => {
    fc.assert(
      fc.property(fc.constantFrom('a', 'b', 'human'), someIds, someIds, (from, participants, ids) => {
        const bad = ids.find((agentId) => agentId === from || !participants.includes(agentId));
        const reason = refuseMentions({ from, participants, mentions: ids.map(named) });
        if (bad === undefined) expect(reason).toBeNull();
        else
          expect(reason).toMatch(new RegExp(`^${bad.toUpperCase()} is ${bad === from ? 'you' : 'not in this thread'}`));
      }),
    );
  });
});

describe('agents that are named more than once', () => {
  it('count once, in the order in which they were first named', () => {
    fc.assert(
      fc.property(someIds, (ids) => {
        expect(eachOnce(ids.map(named)).map(({ agentId }) => agentId)).toEqual([...new Set(ids)]);
      }),
    );
  });
});

describe('what is given to a reader at once', () => {
  it('returns as many messages as fit from the first on, and at least one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 12 }), { maxLength: 8 }),
        fc.nat({ max: 40 }),
        (texts, characters) => {
          const messages = texts.map((text) => ({ text }));
          const given = fitting(messages, characters);
          const size = (count: number) => texts.slice(0, count).join('').length;
          expect(given).toEqual(messages.slice(0, given.length));
          if (given.length > 1) expect(size(given.length)).toBeLessThanOrEqual(characters);
          if (given.length < texts.length) expect(size(given.length + 1)).toBeGreaterThan(characters);
          expect(given.length > 0).toBe(texts.length > 0);
        },
      ),
    );
  });
});

import { expect, it } from 'vitest';
import { talkText } from '../../../../src/shared/domain/talk.ts';

const call = (kind: 'wake' | 'summon') =>
  talkText({
    author: 'human',
    role: 'user',
    agentId: 'lead',
    blocks: [
      {
        kind: 'call',
        call: kind,
        seats: [
          { position: 0, name: 'Dara' },
          { position: 1, name: null },
        ],
      },
    ],
  });

it('names the called agents in a call to the team, without claiming that they came', () => {
  expect(call('wake')).toBe('[called Dara, seat 2, to wake]');
  expect(call('summon')).toBe('[called Dara, seat 2, to be born]');
});

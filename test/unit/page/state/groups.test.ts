import { expect, it } from 'vitest';
import { groupOf } from '../../../../src/shared/domain/seat.ts';
import { groupsOf } from '../../../../src/page/state/groups.ts';

const record = (key: string, at: string, name: unknown, agentIds: unknown) => ({
  id: `${key}${at}`,
  key,
  at,
  value: { name, agentIds },
});

it.each([
  ['another setting', 'model:a', { name: 'x', agentIds: [] }],
  ['no id', 'group:', { name: 'x', agentIds: [] }],
  ['no name', 'group:1', { name: ' ', agentIds: ['a'] }],
  ['a name without end', 'group:1', { name: 'x'.repeat(41), agentIds: ['a'] }],
  ['nobody at all', 'group:1', { name: 'x' }],
  ['somebody twice', 'group:1', { name: 'x', agentIds: ['a', 'a'] }],
  ['what is no id', 'group:1', { name: 'x', agentIds: ['a', 7] }],
  ['more than there are seats', 'group:1', { name: 'x', agentIds: [...'123456789'] }],
  ['a word', 'group:1', 'x'],
])('reads no group from %s', (_, key, value) => {
  expect(groupOf({ key, value })).toBeNull();
});

it('merges the groups of two devices in any order, newest first, without removed ones', () => {
  const records = [
    record('group:1', '2', 'Night crew', ['a', 'b']),
    record('group:1', '1', 'Crew', ['a']),
    record('group:2', '1', 'Early birds', ['c']),
    record('group:3', '1', 'Gone', ['a']),
    record('group:3', '2', 'Gone', []),
    record('group:1', '3', '', ['x']),
  ];
  const groups = [
    { groupId: '2', name: 'Early birds', agentIds: ['c'] },
    { groupId: '1', name: 'Night crew', agentIds: ['a', 'b'] },
  ];
  expect(groupsOf(records)).toEqual(groups);
  expect(groupsOf(records.toReversed())).toEqual(groups);
});

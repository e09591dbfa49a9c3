import { expect, test } from 'vitest';
import { limitValue, scheduleParts } from '../../../../../src/page/ui/text/record-changes.ts';
import { type ScheduleRecord, scheduleSchema } from '../../../../../src/shared/protocol/schedules.ts';

const timing = { kind: 'every', minutes: 60, offset: null };
const record = (schedule: object): ScheduleRecord => ({
  ...{ homeRelay: 'h', removed: false, turn: 0, wanted: null, since: null, position: 0 },
  schedule: scheduleSchema.parse({ agentId: 'a1', name: 'Round', timing, ...schedule }),
});
const changed = (before: object, after: object) =>
  scheduleParts(record(before), record(after), 'Lyra').map(({ part, before: was, after: is }) => [part, was, is]);

test('the values of a schedule have the names that its form has', () => {
  const script = { kind: 'script', script: 'round.sh' };
  expect(
    changed(
      { ...script, on_failure: 'wake_agent', overlap: 'skip', context: 'none', timeoutMs: 60_000 },
      { ...script, on_failure: 'ignore', overlap: 'wait', context: 'own_runs', timeoutMs: 90_000 },
    ),
  ).toEqual([
    ['Seconds it may take', '60', '90'],
    ['Where it fails', 'Wake the agent with its output', 'Only record it'],
    ['Where it still runs when it is due again', 'Skip that time', 'Run it after this one'],
    ['What it remembers', 'Nothing', 'The last words of its last three runs'],
  ]);
  const routine = { kind: 'routine', instructions: 'Look.' };
  expect(changed({ ...routine, catch_up: 'skip' }, { ...routine, catch_up: 'each' })).toEqual([
    ['When the relay was away', 'Make up for none', 'Make up for each'],
  ]);
});

test('the values of a limit have the names that its field has', () => {
  const values = (name: string, ...all: readonly unknown[]) =>
    all.map((value) => limitValue(['coordination', name], value));
  expect(values('dreams', 'off', 'propose')).toEqual(['Off', 'Propose changes']);
  expect(values('network', 'none', 'all', ['example.org'])).toEqual(['Nothing', 'All that is public', 'example.org']);
  expect(values('mind', null, 'program-of-a-newer-roost')).toEqual([
    'The connected models',
    'program-of-a-newer-roost',
  ]);
  expect(limitValue(['coordination', 'toolsets', 'shell'], 'ask')).toBe('Asks you');
});

import { expect, test } from 'vitest';
import type { SyncStatus } from '../../../../src/shared/protocol/sync/page.ts';
import { createDeviceActions } from '../../../../src/page/state/actions/devices.ts';
import { arrivingOf, createDevices } from '../../../../src/page/state/devices.ts';
import { LAPTOP, sharedStatus, SIX } from '../support/devices.ts';
import { memoryOwner } from '../support/fakes.ts';

const parts = () => {
  const owner = memoryOwner();
  const devices = createDevices(owner, { read: () => null, write: () => true });
  return { owner, devices, actions: createDeviceActions({ dataWorker: owner }) };
};

test('how it stands is asked for, and heard', async () => {
  const { owner, devices } = parts();
  await devices.refresh();
  expect(devices.store.getState()).toEqual({ status: { kind: 'alone', joining: null, kept: null }, failed: null });
  owner.broken = 'The keys could not be read.';
  await devices.refresh();
  expect(devices.store.getState()).toEqual({
    status: { kind: 'alone', joining: null, kept: null },
    failed: 'The keys could not be read.',
  });
  devices.hear(sharedStatus({ arriving: ['agent-1'] }));
  expect(devices.store.getState().failed).toBeNull();
  expect(arrivingOf(devices.store.getState())).toEqual(['agent-1']);
});

test.each<SyncStatus | null>([null, { kind: 'alone', joining: null, kept: null }, { kind: 'removed', joining: null }])(
  'expects no agents when nothing is shared (%j)',
  (status) => {
    expect(arrivingOf({ status, failed: null })).toEqual([]);
  },
);

test('an invitation goes from its offer over the words to a new device', async () => {
  const { owner, devices, actions } = parts();
  devices.hear(sharedStatus({ devices: [LAPTOP] }));
  owner.sync = { beginInvite: () => ({ words: SIX }), answerInvite: () => ({ joined: true }) };
  const steps: string[] = [];
  actions.invite.subscribe(({ now }) => steps.push(now.step));
  await actions.takeOffer('ROOST1.X');
  await actions.answerInvite(true);
  expect(steps).toEqual(['taking', 'comparing', 'sending', 'joined']);
  expect(actions.invite.getState().now).toEqual({ step: 'joined' });
});

test('a new device that did not take the keys is not called joined', async () => {
  const { owner, actions } = parts();
  owner.sync = { beginInvite: () => ({ words: SIX }), answerInvite: () => ({ joined: false }) };
  await actions.takeOffer('ROOST1.X');
  await actions.answerInvite(true);
  expect(actions.invite.getState().now).toMatchObject({ step: 'failed' });
});

test('the late answer to an offer that was left changes nothing, and the other device is told no', async () => {
  const { owner, actions } = parts();
  let answer: (value: { words: readonly string[] }) => void = () => undefined;
  const told: boolean[] = [];
  owner.sync = {
    beginInvite: () => new Promise((resolve) => (answer = resolve)),
    answerInvite: ({ same }) => {
      told.push(same);
      return { joined: false };
    },
  };
  const taking = actions.takeOffer('ROOST1.X');
  actions.leaveInvite();
  await new Promise((resolve) => setTimeout(resolve));
  answer({ words: SIX });
  await taking;
  expect(actions.invite.getState().now).toEqual({ step: 'idle' });
  expect(told).toEqual([false]);
});

test('turns every failure into a sentence, and never rejects', async () => {
  const { owner, actions } = parts();
  owner.broken = 'The relay cannot be reached.';
  const failed = { ok: false, reason: 'The relay cannot be reached.' };
  expect(
    await Promise.all([
      actions.share('Laptop'),
      actions.beginJoin('Laptop'),
      actions.answerJoin(true),
      actions.makePhrase(),
      actions.keepPhrase([]),
      actions.checkPhrase(''),
      actions.restore('', 'Laptop'),
      actions.rename('Laptop'),
      actions.remove('x', []),
      actions.makeDirectOffer(),
      actions.takeDirectText(''),
    ]),
  ).toEqual(Array.from({ length: 11 }, () => failed));
});

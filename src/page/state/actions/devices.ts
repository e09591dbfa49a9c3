/** What a person does with their devices. Loaded with the parts of the page that show them. */
import { errorText } from '../ports.ts';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import type { SyncCalls } from '../../../shared/protocol/sync/methods.ts';
import type { RoostState } from '../index.ts';
import { onePerPage } from '../per-page.ts';
import { attempt, type Done } from './parts.ts';

type Answer<Value> = { readonly ok: true; readonly value: Value } | Extract<Done, { ok: false }>;

/** State of the pairing that lets another device in. */
export type Invite =
  | { readonly step: 'idle' }
  /** The offer is being accepted. The words to compare are not known yet. */
  | { readonly step: 'taking' }
  | { readonly step: 'comparing'; readonly words: readonly string[] }
  /** The person confirmed here. The keys are on their way, and the new device acknowledges them. */
  | { readonly step: 'sending'; readonly words: readonly string[] }
  | { readonly step: 'joined' }
  /** The person refused. Nothing was sent. */
  | { readonly step: 'refused' }
  | { readonly step: 'failed'; readonly reason: string };

export interface DeviceActions {
  /** The pairing goes on while the person visits other views. */
  readonly invite: StoreApi<{ readonly now: Invite }>;
  /** Creates the household key if there is none. */
  share(deviceName: string): Promise<Done>;
  takeOffer(offer: string): Promise<void>;
  answerInvite(same: boolean): Promise<void>;
  /** Back to the start. Ends a pairing in progress. */
  leaveInvite(): void;
  beginJoin(deviceName: string): Promise<Done>;
  answerJoin(same: boolean): Promise<Done>;
  makePhrase(): Promise<Answer<readonly string[]>>;
  keepPhrase(answers: Parameters<SyncCalls['keepPhrase']>[0]['answers']): Promise<Done>;
  checkPhrase(phrase: string): Promise<Answer<boolean>>;
  restore(phrase: string, deviceName: string): Promise<Done>;
  /** Starts or stops handing sealed entries to the relay. */
  keepAtRelay(on: boolean): Promise<Done>;
  /** Abandons a team that cannot be restored. */
  beginAnew(): Promise<Done>;
  /** Accepts documents that other devices dated ahead of this device's clock. */
  takeAhead(): Promise<Done>;
  rename(name: string): Promise<Done>;
  /**
   * Also removes the devices that it let in, except those in `keep`. Returns the ids of all removed
   * devices.
   */
  remove(deviceId: DeviceId, keep: readonly string[]): Promise<Answer<readonly string[]>>;
  makeDirectOffer(): Promise<Answer<string>>;
  /** Returns the text for the other device, or null if none is due. */
  takeDirectText(text: string): Promise<Answer<string | null>>;
}

async function ask<Value, Read>(work: Promise<Value>, read: (value: Value) => Read): Promise<Answer<Read>> {
  try {
    return { ok: true, value: read(await work) };
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}

export function createDeviceActions({ dataWorker }: Pick<RoostState, 'dataWorker'>): DeviceActions {
  const invite = createStore<{ readonly now: Invite }>()(() => ({ now: { step: 'idle' } }));
  /** Counts invitations, so that a late answer to an abandoned one changes nothing. */
  let turn = 0;
  const set = (now: Invite, of = turn) => {
    if (of === turn) invite.setState({ now });
  };

  return {
    invite,
    share: (deviceName) => attempt(dataWorker.call('shareHousehold', { deviceName })),
    async takeOffer(offer) {
      const mine = ++turn;
      set({ step: 'taking' });
      const taken = await ask(dataWorker.call('beginInvite', { offer }), ({ words }) => words);
      set(taken.ok ? { step: 'comparing', words: taken.value } : { step: 'failed', reason: taken.reason }, mine);
    },
    async answerInvite(same) {
      const { now } = invite.getState();
      if (now.step !== 'comparing') return;
      const mine = turn;
      set(same ? { step: 'sending', words: now.words } : { step: 'refused' });
      const answered = await ask(dataWorker.call('answerInvite', { same }), ({ joined }) => joined);
      if (!answered.ok) return set({ step: 'failed', reason: answered.reason }, mine);
      if (!same) return;
      set(
        answered.value ? { step: 'joined' } : { step: 'failed', reason: t`The other device did not take the keys.` },
        mine,
      );
    },
    leaveInvite() {
      const { now } = invite.getState();
      turn++;
      set({ step: 'idle' });
      // The result does not matter, since the person has left. An unanswered offer expires by
      // itself.
      if (now.step === 'comparing' || now.step === 'taking')
        void attempt(dataWorker.call('answerInvite', { same: false }));
    },
    beginJoin: (deviceName) => attempt(dataWorker.call('beginJoin', { deviceName })),
    answerJoin: (same) => attempt(dataWorker.call('answerJoin', { same })),
    makePhrase: () => ask(dataWorker.call('makePhrase'), ({ words }) => words),
    keepPhrase: (answers) => attempt(dataWorker.call('keepPhrase', { answers })),
    checkPhrase: (phrase) => ask(dataWorker.call('checkPhrase', { phrase }), ({ good }) => good),
    restore: (phrase, deviceName) => attempt(dataWorker.call('restore', { phrase, deviceName })),
    keepAtRelay: (on) => attempt(dataWorker.call('keepAtRelay', { on })),
    beginAnew: () => attempt(dataWorker.call('beginAnew')),
    takeAhead: () => attempt(dataWorker.call('takeAhead')),
    rename: (name) => attempt(dataWorker.call('nameDevice', { name })),
    remove: (deviceId, keep) =>
      ask(dataWorker.call('removeDevice', { deviceId, keep: [...keep] }), ({ removed }) => removed),
    makeDirectOffer: () => ask(dataWorker.call('makeDirectOffer'), ({ text }) => text),
    takeDirectText: (text) => ask(dataWorker.call('takeDirectText', { text }), (taken) => taken.text),
  };
}

export const deviceActionsOf = onePerPage(createDeviceActions);

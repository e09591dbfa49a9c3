/**
 * The household's keys as they are renewed, and the recovery phrase they are sealed to. A rotation
 * counts when the relay has taken it: of two devices that renew at once one is first, and the other
 * takes its keys.
 */
import { sentence } from '../../../shared/domain/sentence.ts';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { FromRelay } from '../../../shared/protocol/sync/control.ts';
import { SYNC_OWNER } from '../settings.ts';
import { goesWith } from './let-in.ts';
import type { Members } from './members.ts';
import type { Keys } from './keys.ts';
import type { RelayConnection, Welcome } from './relay-connection.ts';
import type { Payload } from './payload.ts';
import type { Called } from './ports.ts';

const AWAY = sentence`The relay cannot be reached, and it must lock the device out. Try again when it can.`;
const ROTATED_MEANWHILE = sentence`Another device renewed the keys at the same moment. Look at the list again, and repeat this if it is still needed.`;

export interface KeyRotation {
  hearWelcome(welcome: Welcome): Promise<void>;
  /** Newer keys, sealed to this device. Answers whether they were taken. */
  adopt(box: string | null): Promise<boolean>;
  hearRotated(rotated: Extract<FromRelay, { kind: 'rotated' }>): Promise<void>;
  hearAnswer(message: Extract<FromRelay, { kind: 'refused' | 'recovery-kept' }>): void;
  /**
   * Leaves a device out, and those that go with it except what is to be kept, by one rotation: see
   * ./let-in.ts. Answers with the ids of all that are out. Rejects with a sentence where the relay
   * did not take it; nothing is changed then.
   */
  remove(deviceId: DeviceId, keep: readonly string[]): Promise<readonly string[]>;
  /**
   * From now on this phrase restores the household. Rejects with a sentence where the relay did not
   * take it.
   */
  keepRecovery(recovery: { readonly id: string; readonly boxKey: string }): Promise<void>;
}

export interface KeyRotationDeps {
  readonly keys: Keys;
  readonly members: Members;
  readonly timers: Timers;
  readonly now: () => number;
  readonly relayConnection: Pick<RelayConnection, 'say'>;
  readonly register: () => Promise<Called<{ readonly epoch: number }>>;
  readonly say: (payload: Payload) => Promise<void>;
  /** There are more keys than before, and who has them is another roll. */
  readonly onKeys: () => Promise<void>;
  /** null: it is over. */
  readonly onTrouble: (error: unknown) => void;
  /** The relay takes no more entries; null: it may again. */
  readonly onFull: (error: Error | null) => void;
}

type Answer = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export function createKeyRotation({
  keys,
  members,
  timers,
  now,
  relayConnection,
  register,
  say,
  onKeys,
  onTrouble,
  onFull,
}: KeyRotationDeps): KeyRotation {
  /** What is waited for: the relay's word on a rotation to this epoch, or on this recovery. */
  let waiting: {
    readonly what: 'rotate' | 'recovery';
    readonly box: string | null;
    readonly settle: (answer: Answer) => void;
  } | null = null;

  const signKeyOf = (deviceId: DeviceId) =>
    members.devices().find((one) => one.deviceId === deviceId && !one.removed)?.signKey ?? null;

  /**
   * `box`: what the relay gives this device when it has taken our rotation, rather than another
   * one's.
   */
  function ask(
    what: 'rotate' | 'recovery',
    message: Parameters<RelayConnection['say']>[0],
    box: string | null,
  ): Promise<Answer> {
    if (waiting)
      return Promise.resolve({
        ok: false,
        reason: sentence`Another change of the keys is under way. Try again in a moment.`,
      });
    if (!relayConnection.say(message)) return Promise.resolve({ ok: false, reason: AWAY });
    return new Promise((resolve) => {
      const settle = (answer: Answer) => {
        waiting = null;
        cancel();
        resolve(answer);
      };
      const cancel = timers.after(SYNC_OWNER.rotate, () =>
        settle({
          ok: false,
          reason: sentence`The relay did not answer. Look at the list of devices in a moment: it may have been done.`,
        }),
      );
      waiting = { what, box, settle };
    });
  }

  async function adopt(box: string | null): Promise<boolean> {
    if (box === null || !(await keys.adopt(box, signKeyOf))) return false;
    await onKeys();
    return true;
  }

  return {
    adopt,
    async hearWelcome({ epoch, box, recoveryId }) {
      // Said anew where it still is so.
      onFull(null);
      if (epoch > keys.epoch())
        onTrouble(
          (await adopt(box))
            ? null
            : new Error(
                sentence`The household’s keys were renewed, and this device was not given the new ones. Add it anew from another device.`,
              ),
        );
      else onTrouble(null);
      // A relay from an old copy has forgotten rotations of the keys: it is told of them before
      // anything new goes to it.
      if (epoch < keys.epoch()) await register();
      const { recovery } = keys.membership();
      if (recovery !== null && recovery.id !== recoveryId && recovery.box !== '')
        queueMicrotask(() =>
          relayConnection.say({
            kind: 'recovery',
            recovery: { id: recovery.id, box: recovery.box },
            proof: keys.recoveryProof(recovery.id),
          }),
        );
    },
    async hearRotated({ epoch, box }) {
      if (waiting?.what === 'rotate' && box === waiting.box) {
        waiting.settle({ ok: true });
        return;
      }
      if (waiting?.what === 'rotate') waiting.settle({ ok: false, reason: ROTATED_MEANWHILE });
      if (epoch > keys.epoch()) await adopt(box);
    },
    hearAnswer(message) {
      if (message.kind === 'recovery-kept') {
        if (waiting?.what === 'recovery') waiting.settle({ ok: true });
        return;
      }
      if (message.what === 'entries') onFull(new Error(message.reason));
      else if (waiting?.what === message.what)
        waiting.settle({ ok: false, reason: message.what === 'rotate' ? ROTATED_MEANWHILE : message.reason });
    },
    async remove(deviceId, keep) {
      const known = members.devices();
      const along = goesWith(known, deviceId, keys.membership().deviceId).filter((one) => !keep.includes(one));
      const out = [deviceId, ...along];
      const staying = known.filter((one) => !one.removed && !out.includes(one.deviceId));
      const { rotation, next } = keys.rotation(out, staying);
      const answer = await ask(
        'rotate',
        { kind: 'rotate', rotation },
        rotation.boxes[keys.membership().deviceId] ?? null,
      );
      if (!answer.ok) throw new Error(answer.reason);
      // The others learn who is left from what was sealed to them.
      await keys.change(next);
      await onKeys();
      return out;
    },
    async keepRecovery({ id, boxKey }) {
      const box = keys.recoveryBox(boxKey);
      const answer = await ask(
        'recovery',
        { kind: 'recovery', recovery: { id, box }, proof: keys.recoveryProof(id) },
        null,
      );
      if (!answer.ok) throw new Error(answer.reason);
      const time = now();
      await keys.change({ recovery: { id, boxKey, box, by: keys.membership().deviceId, time } });
      await say({ recovery: keys.recoveryRecord({ id, boxKey, time }) });
    },
  };
}

/** What is signed, byte for byte: UTF-8 lines, the first of which names the purpose. */
import type { DeviceId } from '../../domain/ids.ts';

const lines = (...parts: readonly (string | number)[]) => new TextEncoder().encode(parts.join('\n'));

/** A device proves on a socket that it is itself. `nonce`: the relay's, fresh for each socket. */
export const socketBytes = (household: string, device: string, nonce: string) =>
  lines('roost socket 1', household, device, nonce);

/**
 * Whoever has the household key of `epoch` lets a device in; the device signs the same, so that
 * nobody else asks in its name.
 */
export const registrationBytes = (household: string, epoch: number, device: string, deviceKey: string) =>
  lines('roost registration 1', household, epoch, device, deviceKey);

/** The household key of `epoch - 1` hands over to that of `epoch`. */
export const rotationBytes = (household: string, epoch: number, authKey: string, removed: readonly string[]) =>
  lines('roost rotation 1', household, epoch, authKey, [...removed].sort().join(' '));

/** The household key of `epoch` sets the recovery box. */
export const recoveryBytes = (household: string, epoch: number, recoveryId: string) =>
  lines('roost recovery 1', household, epoch, recoveryId);

/** `by` has let `device` in, at `time`: signed by `by`. */
export const letInBytes = (household: string, device: string, by: string, time: number) =>
  lines('roost let in 1', household, device, by, time);

/**
 * What a device says of itself to the others, signed by itself and by the household key of `epoch`.
 * The name, which may be any text, comes last; before it who let it in, and an empty line where
 * nobody did.
 */
export const deviceBytes = (
  household: string,
  {
    deviceId,
    signKey,
    boxKey,
    addedAt,
    time,
    epoch,
    letIn,
    name,
  }: {
    deviceId: DeviceId;
    signKey: string;
    boxKey: string;
    addedAt: number;
    time: number;
    epoch: number;
    letIn: { by: string; time: number; signature: string } | null;
    name: string;
  },
) => {
  const came = letIn === null ? '' : `${letIn.by} ${letIn.time} ${letIn.signature}`;
  return lines('roost device 1', household, deviceId, signKey, boxKey, epoch, addedAt, time, came, name);
};

/**
 * A device has made a recovery phrase: signed by that device, and by the household key of `epoch`.
 */
export const phraseBytes = (
  household: string,
  { id, boxKey, by, epoch, time }: { id: string; boxKey: string; by: string; epoch: number; time: number },
) => lines('roost phrase 1', household, id, boxKey, by, epoch, time);

/** A device has renewed the keys, and says who is left: `keys` as they are written, base64url. */
export const signedGrantBytes = (by: string, keys: string, members: readonly string[]) =>
  lines('roost renewal 1', by, keys, [...members].sort().join(' '));

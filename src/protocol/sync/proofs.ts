/** What is signed, byte for byte: UTF-8 lines, the first of which names the purpose. */

const lines = (...parts: readonly (string | number)[]) => new TextEncoder().encode(parts.join('\n'));

/** A device proves on a socket that it is itself. `nonce`: the relay's, fresh for each socket. */
export const socketBytes = (household: string, device: string, nonce: string) => lines('roost socket 1', household, device, nonce);

/** Whoever has the household key of `epoch` lets a device in. */
export const registrationBytes = (household: string, epoch: number, device: string, deviceKey: string) =>
  lines('roost registration 1', household, epoch, device, deviceKey);

/** The household key of `epoch - 1` hands over to that of `epoch`. */
export const rotationBytes = (household: string, epoch: number, authKey: string, removed: readonly string[]) =>
  lines('roost rotation 1', household, epoch, authKey, [...removed].sort().join(' '));

/** The household key of `epoch` sets the recovery box. */
export const recoveryBytes = (household: string, epoch: number, recoveryId: string) => lines('roost recovery 1', household, epoch, recoveryId);

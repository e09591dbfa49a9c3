/**
 * Which device admitted which. A device carries the statement of the device that admitted it. The
 * latter signs it, so nobody can make it in another's name. A device that hides its origin has no
 * such statement. It is removed together with any device, unless the person decides otherwise.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { shownName } from '../../../shared/domain/names.ts';
import type { DeviceView } from '../../../shared/protocol/sync/page.ts';
import type { KnownDevice } from './members.ts';

/**
 * A device, the device that admitted it, the one that admitted that one, and so on, as far as it is
 * known.
 */
function rowOf(devices: readonly KnownDevice[], deviceId: DeviceId): readonly string[] {
  const row = new Set<string>();
  for (let now: string | null = deviceId; now !== null && !row.has(now);) {
    const one: string = now;
    row.add(one);
    now = devices.find((each) => each.deviceId === one)?.letInBy ?? null;
  }
  return [...row];
}

/**
 * The devices that are removed together with one, from the view of the device `self`. A device goes
 * too if the removed one admitted it, directly or indirectly. A device also goes if its chain leads
 * to no trusted device. `self`, and the devices by which `self` or the removed one came, are
 * trusted.
 */
export function goesWith(devices: readonly KnownDevice[], removed: string, self: string): readonly string[] {
  const trusted = new Set([...rowOf(devices, self), ...rowOf(devices, removed)]);
  trusted.delete(removed);
  const stays = (deviceId: DeviceId) => {
    const row = rowOf(devices, deviceId);
    return !row.includes(removed) && row.some((one) => trusted.has(one));
  };
  return devices
    .filter(({ deviceId, removed: isOut }) => !isOut && deviceId !== removed && !trusted.has(deviceId))
    .map(({ deviceId }) => deviceId)
    .filter((deviceId) => !stays(deviceId));
}

/** How a device came into the household, as far as `self` can know it. */
export function cameOf(devices: readonly KnownDevice[], deviceId: DeviceId, self: string): DeviceView['came'] {
  const one = devices.find((each) => each.deviceId === deviceId);
  if (one?.letIn && one.letInBy !== null)
    return {
      kind: 'let-in',
      by: shownName(devices.find(({ deviceId: id }) => id === one.letInBy)?.name ?? '', 'device'),
      time: one.letIn.time,
    };
  return { kind: rowOf(devices, self).includes(deviceId) ? 'first' : 'unsaid' };
}

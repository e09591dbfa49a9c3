/**
 * Who let whom in. A device carries the word of the one that let it in, signed by that one, so
 * nobody says it in another's name. Who hides where it comes from has no such word: it counts as
 * let in by whichever device is removed, unless the person says otherwise.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { shownName } from '../../../shared/domain/names.ts';
import type { DeviceView } from '../../../shared/protocol/sync/page.ts';
import type { KnownDevice } from './members.ts';

/**
 * A device, the one that let it in, the one that let that one in, and so on, as far as it is said.
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
 * The devices that are removed together with one, as the device `self` knows the household: those
 * that it let in, whom these let in, and those whose row leads neither to `self` nor to a device by
 * which `self` or the removed one came.
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

/** How a device came, as far as `self` can know it. */
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

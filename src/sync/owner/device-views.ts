/** The devices of the household, as the page shows them: this one first, then in the order in which they came. */
import { shownName } from '../../domain/names.ts';
import type { DeviceSeen } from '../../protocol/sync/control.ts';
import type { DeviceView } from '../../protocol/sync/page.ts';
import { cameOf, goesWith } from './let-in.ts';
import type { KnownDevice } from './members.ts';

export function deviceViews({
  records,
  seen,
  self,
  isLive,
  direct,
}: {
  readonly records: readonly KnownDevice[];
  /** What the relay said of them, by device id. */
  readonly seen: ReadonlyMap<string, DeviceSeen>;
  readonly self: string;
  /** Is there a line to the relay? */
  readonly isLive: boolean;
  /** Devices to which there is a direct line. */
  readonly direct: readonly string[];
}): readonly DeviceView[] {
  return records
    .filter(({ removed }) => !removed)
    .map(({ deviceId, name, addedAt }) => ({
      deviceId,
      name: shownName(name, 'device'),
      self: deviceId === self,
      addedAt,
      came: cameOf(records, deviceId, self),
      along: deviceId === self ? [] : goesWith(records, deviceId, self),
      lastSeen: seen.get(deviceId)?.lastSeen ?? null,
      online: isLive && (deviceId === self || (seen.get(deviceId)?.online ?? false)),
      direct: direct.includes(deviceId),
    }))
    .sort((a, b) => Number(b.self) - Number(a.self) || a.addedAt - b.addedAt);
}

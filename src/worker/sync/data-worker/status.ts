/** The status of a device within its household, for the tabs. */
import { shownName } from '../../../shared/domain/names.ts';
import { MOST_AHEAD_MS } from '../../../shared/domain/stamp.ts';
import type { DeviceSeen } from '../../../shared/protocol/sync/control.ts';
import type { DeviceView, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import { cameOf, type Facts, goesWith, type KnownDevice } from './members.ts';
import type { Membership } from './records.ts';

/** The devices of the household, for the page: this one first, then in the order of joining. */
export function deviceViews({
  records,
  seen,
  self,
  isLive,
  direct,
}: {
  readonly records: readonly KnownDevice[];
  /** What the relay reports of them, by device id. */
  readonly seen: ReadonlyMap<string, DeviceSeen>;
  readonly self: string;
  /** Is there a connection to the relay? */
  readonly isLive: boolean;
  /** Devices with a direct connection. */
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

interface StatusParts {
  readonly facts: Facts;
  readonly trouble: string | null;
  readonly membership: Membership;
  readonly devices: readonly KnownDevice[];
  /** Devices with a direct connection. */
  readonly direct: readonly string[];
  readonly isLetIn: boolean;
  readonly hasFiles: boolean;
  /** Entries that the relay lacks, and rows that are not sealed. */
  readonly toSend: number;
  readonly arriving: readonly string[];
  /** ms since the epoch */
  readonly now: number;
}

export function sharedStatus({
  facts: { seen, link, backlog, attachments, sealing, shut, ahead, refused },
  trouble,
  membership: { household, deviceId, recovery },
  devices,
  direct,
  isLetIn,
  hasFiles,
  toSend,
  arriving,
  now,
}: StatusParts): Extract<SyncStatus, { kind: 'shared' }> {
  return {
    kind: 'shared',
    household,
    deviceId,
    link: link !== 'live' && link !== 'off' && !isLetIn ? 'locked-out' : link,
    files: hasFiles,
    devices: deviceViews({ records: devices, seen, self: deviceId, isLive: link === 'live', direct }),
    toSend: toSend + (sealing ? 1 : 0),
    backlog: sealing ?? (backlog && { done: backlog.done, of: backlog.of }),
    attachments,
    arriving,
    phrase: recovery !== null,
    newer: shut,
    ahead: ahead.entries === 0 ? null : { ...ahead, taken: ahead.latest <= now + MOST_AHEAD_MS },
    refused,
    trouble,
  };
}

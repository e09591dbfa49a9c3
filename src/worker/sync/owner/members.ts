/**
 * What the devices of a household tell each other about themselves: merged by the time it was
 * written. A device can say that as many others came as it likes; of those that are new here, no
 * more are heard than a household may have.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import type { WriteMeta } from './database.ts';
import type { DeviceRecord, LetIn, Tip } from './records.ts';

/**
 * Per key the newest by epoch, where there is one, and time; of two of one moment the one that
 * sorts last, so that every device keeps the same.
 */
function newest<Item extends { readonly time: number; readonly epoch?: number }>(
  held: readonly Item[],
  heard: readonly Item[],
  key: (item: Item) => string,
): readonly Item[] {
  const byKey = new Map<string, Item>();
  const isAfter = (item: Item, known: Item) => {
    const later = (item.epoch ?? 0) - (known.epoch ?? 0) || item.time - known.time;
    return later > 0 || (later === 0 && JSON.stringify(item) > JSON.stringify(known));
  };
  for (const item of [...held, ...heard]) {
    const known = byKey.get(key(item));
    if (!known || isAfter(item, known)) byKey.set(key(item), item);
  }
  return [...byKey.values()];
}

/**
 * `removed`: it was left out of a rotation of the keys. `letInBy`: the device that says so itself;
 * null: none does.
 */
export type KnownDevice = DeviceRecord & { readonly removed: boolean; readonly letInBy: string | null };

export interface Members {
  devices(): readonly KnownDevice[];
  tips(): readonly Tip[];
  /** Resolves when it is durable. Records that are not genuine are passed over. */
  hear(news: {
    readonly devices?: readonly DeviceRecord[] | undefined;
    readonly tips?: readonly Tip[] | undefined;
  }): Promise<void>;
}

export function createMembers({
  writeMeta,
  isGenuine,
  isOnRoll,
  isLetIn,
  onChange,
  ...held
}: {
  readonly writeMeta: WriteMeta;
  readonly devices: readonly DeviceRecord[];
  readonly tips: readonly Tip[];
  /** Does the device that a record names say this itself, and had it the household’s key? */
  readonly isGenuine: (record: DeviceRecord) => boolean;
  /** Is it one of the household, by the newest epoch that it has shown the key of? */
  readonly isOnRoll: (deviceId: DeviceId, epoch: number) => boolean;
  /** Is it the word of the device that signs with `signKey`? */
  readonly isLetIn: (deviceId: DeviceId, letIn: LetIn, signKey: string) => boolean;
  readonly onChange: () => void;
}): Members {
  // Whatever way these came by: from this profile, with the keys, or from a mark that lay outside
  // of it.
  let devices: readonly DeviceRecord[] = held.devices.filter(isGenuine);
  let { tips } = held;
  /**
   * By signature: whether it is genuine, once the device that it names is known. That one’s keys
   * never change.
   */
  const words = new Map<string, boolean>();

  function letInBy({ deviceId, letIn }: DeviceRecord): string | null {
    const inviter = letIn && devices.find((one) => one.deviceId === letIn.by);
    if (!letIn || !inviter) return null;
    const word = `${deviceId} ${letIn.time} ${letIn.signature}`;
    const good = words.get(word) ?? isLetIn(deviceId, letIn, inviter.signKey);
    words.set(word, good);
    return good ? letIn.by : null;
  }

  return {
    devices: () =>
      devices.map((record) => ({
        ...record,
        removed: !isOnRoll(record.deviceId, record.epoch),
        letInBy: letInBy(record),
      })),
    tips: () => tips,
    async hear(news) {
      const known = new Set(devices.map(({ deviceId }) => deviceId));
      let room = SYNC.devices - devices.filter(({ deviceId, epoch }) => isOnRoll(deviceId, epoch)).length;
      const genuine: DeviceRecord[] = [];
      for (const record of news.devices?.filter(isGenuine) ?? []) {
        if (!known.has(record.deviceId) && room-- <= 0) continue;
        known.add(record.deviceId);
        genuine.push(record);
      }
      if (genuine.length === 0 && !news.tips?.length) return;
      devices = newest(devices, genuine, ({ deviceId }) => deviceId);
      tips = newest(tips, news.tips ?? [], ({ agentId }) => agentId);
      await writeMeta({ devices, tips }, 'relaxed');
      onChange();
    },
  };
}

/** What the devices of a household tell each other about themselves: merged by the time it was written. */
import type { Remember } from './database.ts';
import type { DeviceRecord, Head } from './records.ts';

/** Per key the newest by `time`; of two of one moment the one that sorts last, so that every device keeps the same. */
export function newest<Item extends { readonly time: number }>(held: readonly Item[], heard: readonly Item[], key: (item: Item) => string): readonly Item[] {
  const byKey = new Map<string, Item>();
  for (const item of [...held, ...heard]) {
    const known = byKey.get(key(item));
    if (!known || item.time > known.time || (item.time === known.time && JSON.stringify(item) > JSON.stringify(known))) byKey.set(key(item), item);
  }
  return [...byKey.values()];
}

export interface HouseholdBook {
  devices(): readonly DeviceRecord[];
  heads(): readonly Head[];
  /** Resolves when it is durable. A device that was removed stays so. */
  hear(news: { readonly devices?: readonly DeviceRecord[] | undefined; readonly heads?: readonly Head[] | undefined }): Promise<void>;
}

export function createHouseholdBook({ remember, onChange, ...held }: {
  readonly remember: Remember;
  readonly devices: readonly DeviceRecord[];
  readonly heads: readonly Head[];
  readonly onChange: () => void;
}): HouseholdBook {
  let { devices, heads } = held;
  return {
    devices: () => devices,
    heads: () => heads,
    async hear(news) {
      if (!news.devices?.length && !news.heads?.length) return;
      const removed = new Set([...devices, ...(news.devices ?? [])].flatMap((one) => (one.removed ? [one.deviceId] : [])));
      devices = newest(devices, news.devices ?? [], ({ deviceId }) => deviceId).map((one) => (removed.has(one.deviceId) ? { ...one, removed: true } : one));
      heads = newest(heads, news.heads ?? [], ({ agentId }) => agentId);
      await remember({ devices, heads }, 'relaxed');
      onChange();
    },
  };
}

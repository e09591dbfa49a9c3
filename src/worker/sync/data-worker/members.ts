/**
 * The records that the devices of a household send each other about themselves. The newest record
 * wins. A device can claim any number of admitted devices, so of unknown ones no more are accepted
 * than a household may have.
 *
 * `SyncState` collects the facts about this device that its status for people is made from.
 */
import { createListeners } from '../../../shared/domain/platform/events.ts';
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { DeviceSeen } from '../../../shared/protocol/sync/control.ts';
import type { DeviceView, RelayLink } from '../../../shared/protocol/sync/page.ts';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import { shownName } from '../../../shared/domain/names.ts';
import type { WriteMeta } from './entry-store.ts';
import type { DeviceRecord, LetIn, Tip } from './records.ts';

// The state of a device within its household. The status for people is made from it.

export interface Facts {
  /** What the relay reports of the devices, by id. */
  readonly seen: ReadonlyMap<string, DeviceSeen>;
  readonly link: Exclude<RelayLink, 'locked-out'>;
  /**
   * Entries known to be missing, and the progress of fetching them. Null: none. `people`: those
   * that come before talk.
   */
  readonly backlog: { readonly done: number; readonly of: number; readonly people: number } | null;
  /**
   * Missing entries with bytes of pictures and files. They come last, and no agent waits for them.
   */
  readonly attachments: number;
  /** Progress of sealing what was here before. Null: all of it is sealed. */
  readonly sealing: { readonly done: number; readonly of: number } | null;
  /**
   * Was every file read? Before that, files may hold entries of ours that no other replica knows.
   */
  readonly filesRead: boolean;
  /** Entries that cannot be opened yet. */
  readonly shut: number;
  /** Entries that wait because of a future date, and the latest date, in ms since the epoch. */
  readonly ahead: { readonly entries: number; readonly latest: number };
  /** Forged entries. */
  readonly refused: number;
}

export interface SyncState {
  now(): Facts;
  set(part: Partial<Facts>): void;
  /** Something else in the status may have changed. */
  changed(): void;
  /** Returns the handler of errors in this part. Null: it works again. */
  trouble(from: string): (error: unknown) => void;
  /** The first current error, as a sentence for people. */
  firstTrouble(): string | null;
  /** Resolves when `holds` returns true, or after `patience` ms. */
  until(holds: () => boolean, patience: number): Promise<void>;
}

export function createSyncState({
  timers,
  onChange,
  onTrouble,
  ...given
}: {
  readonly timers: Timers;
  readonly filesRead: boolean;
  readonly onChange: () => void;
  /** Something failed, and is tried again. */
  readonly onTrouble: (error: unknown) => void;
}): SyncState {
  let facts: Facts = {
    seen: new Map(),
    link: 'connecting',
    backlog: null,
    attachments: 0,
    sealing: null,
    filesRead: given.filesRead,
    shut: 0,
    ahead: { entries: 0, latest: 0 },
    refused: 0,
  };
  const troubles = new Map<string, string>();
  const watchers = createListeners();

  function changed() {
    watchers.tell();
    onChange();
  }

  return {
    now: () => facts,
    set(part) {
      facts = { ...facts, ...part };
      changed();
    },
    changed,
    trouble: (from) => (error) => {
      if (error === null) troubles.delete(from);
      else {
        onTrouble(error);
        troubles.set(from, errorMessage(error));
      }
      changed();
    },
    firstTrouble: () => [...troubles.values()][0] ?? null,
    until: (holds, patience) =>
      new Promise((resolve) => {
        const done = () => {
          stop();
          cancel();
          resolve();
        };
        const check = () => {
          if (holds()) done();
        };
        const cancel = timers.after(patience, done);
        const stop = watchers.subscribe(check);
        check();
      }),
  };
}

/**
 * For each key the newest item by epoch (where there is one) and time. Of two items of one moment,
 * the one that sorts last wins, so all devices agree.
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
 * `removed`: a rotation of the keys excluded it. `letInBy`: the device that states that it admitted
 * this one. Null: none does.
 */
export type KnownDevice = DeviceRecord & { readonly removed: boolean; readonly letInBy: string | null };

export interface Members {
  devices(): readonly KnownDevice[];
  tips(): readonly Tip[];
  /** Resolves when the records are durable. Records that are not genuine are ignored. */
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
  /**
   * Was the record made by the device that it names, and did that device have the household’s key?
   */
  readonly isGenuine: (record: DeviceRecord) => boolean;
  /** Is the device a member, by the newest epoch whose key it has proven to have? */
  readonly isOnRoll: (deviceId: DeviceId, epoch: number) => boolean;
  /** Is the statement from the device that signs with `signKey`? */
  readonly isLetIn: (deviceId: DeviceId, letIn: LetIn, signKey: string) => boolean;
  readonly onChange: () => void;
}): Members {
  // Verify records from every source: this profile, the welcome with the keys, or a mark outside
  // the profile.
  let devices: readonly DeviceRecord[] = held.devices.filter(isGenuine);
  let { tips } = held;
  /**
   * By signature: whether the statement is genuine, once the device that it names is known. That
   * device’s keys never change.
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

// Which device admitted which. A device carries the statement of the device that admitted it. The
// latter signs it, so nobody can make it in another's name. A device that hides its origin has no
// such statement. It is removed together with any device, unless the person decides otherwise.

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

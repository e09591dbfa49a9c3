/**
 * The households with connected devices: which devices are connected, what each was told, and one
 * replica for all sockets of a household. The last device that leaves closes the replica.
 */
import type { DeviceSeen, FromRelay } from '../../src/shared/protocol/sync/control.ts';
import { createReplica, type Link, type LinkEnd, type Replica } from '../../src/shared/replication/index.ts';
import type { EntryStore } from '../../src/shared/protocol/sync/page.ts';
import type { Logger } from '../platform/logger.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { HouseholdFull } from './entry-store.ts';
import type { HouseholdNow, Households } from './households.ts';

/** A device on a socket. */
export interface Member {
  readonly device: string;
  readonly browser: string;
  readonly link: Link;
  send(message: FromRelay): void;
  /** Sends a last message and closes. */
  end(message: FromRelay): void;
}

export interface HubDeps {
  readonly households: Households;
  readonly storeOf: (household: string) => EntryStore;
  readonly timers: { after(ms: number, run: () => void): () => void };
  /** No other process writes to this store, so the data here is always current. */
  readonly alone: boolean;
  /** These sign-ins have ended, and everything that depends on them must end too. */
  readonly onRevoked: (browsers: readonly string[]) => void;
  readonly logger: Logger;
}

export interface Hub {
  /**
   * Accepts and welcomes a device that has proved itself. Resolves with the receiver of its frames,
   * or null where the device has been removed.
   */
  join(household: string, member: Member): Promise<LinkEnd | null>;
  leave(household: string, member: Member): Promise<void>;
  /**
   * The household's devices or keys have changed. All devices are notified, and removed ones are
   * disconnected.
   */
  changed(household: string, revoked: readonly string[]): Promise<void>;
  /** Passes a signal to a connected device of the household. False where it is not connected. */
  signal(household: string, from: string, to: string, data: string): boolean;
  /** Records that the connected devices are here, and checks for changes by other processes. */
  refresh(): Promise<void>;
  /** How many sockets a household has. */
  count(household: string): number;
  close(): Promise<void>;
}

interface Presence {
  readonly member: Member;
  end: LinkEnd | null;
  /** The state that it was last notified of. Null: not welcomed yet. */
  announced: { readonly epoch: number; readonly devices: string } | null;
}
interface Room {
  readonly household: string;
  readonly present: Map<Member, Presence>;
  readonly turn: <Result>(work: () => Promise<Result>) => Promise<Result>;
  replica: Replica | null;
  trouble: string | null;
  /** Bytes of entries at the last check. */
  bytes: number | null;
}

const troubleOf = (error: unknown) =>
  error instanceof HouseholdFull
    ? error.message
    : 'The relay cannot store anything just now, and keeps trying. Its log says more.';

export function createHub({ households, storeOf, timers, alone, onRevoked, logger }: HubDeps): Hub {
  const rooms = new Map<string, Room>();

  function roomOf(household: string): Room {
    const room = rooms.get(household) ?? {
      household,
      present: new Map<Member, Presence>(),
      turn: createQueue(),
      replica: null,
      trouble: null,
      bytes: null,
    };
    rooms.set(household, room);
    return room;
  }

  function seenOf(room: Room, { devices }: HouseholdNow): readonly DeviceSeen[] {
    const online = new Set([...room.present.keys()].map(({ device }) => device));
    return devices
      .filter(({ removed_at }) => removed_at === null)
      .map(({ device, added_at, seen_at }) => ({
        device,
        addedAt: added_at,
        lastSeen: seen_at,
        online: online.has(device),
      }));
  }

  function onTrouble(room: Room, error: unknown): void {
    const trouble = error === null ? null : troubleOf(error);
    if (trouble === room.trouble) return;
    room.trouble = trouble;
    if (trouble === null)
      return logger.info('Entries of a household can be stored again.', { household: room.household });
    logger.warn('Entries of a household could not be stored. The relay tries again.', {
      household: room.household,
      error,
    });
    for (const { member } of room.present.values()) member.send({ kind: 'refused', what: 'entries', reason: trouble });
  }

  function replicaOf(room: Room): Replica {
    return (room.replica ??= createReplica({
      store: storeOf(room.household),
      timers,
      priority: () => 0,
      forwards: true,
      onTrouble: (error) => onTrouble(room, error),
    }));
  }

  function drop(room: Room, presence: Presence): void {
    room.present.delete(presence.member);
    presence.end?.gone();
    presence.end = null;
  }

  /** Notifies every device of what it does not know yet. */
  async function announce(room: Room): Promise<void> {
    const state = await households.now(room.household);
    // Another process may have stored entries too.
    if (!alone && state?.bytes !== room.bytes) await room.replica?.reread();
    room.bytes = state?.bytes ?? null;
    const row = new Map(state?.devices.map((each) => [each.device, each]));
    const out: string[] = [];
    for (const presence of [...room.present.values()]) {
      const last = row.get(presence.member.device);
      if (last && last.removed_at === null) continue;
      drop(room, presence);
      presence.member.end({ kind: last ? 'removed' : 'unknown' });
      out.push(presence.member.browser);
    }
    const ended = out.length > 0 ? await households.ended(out) : [];
    if (ended.length > 0) onRevoked(ended);
    if (state === null) return;
    const seen = seenOf(room, state);
    const devices = JSON.stringify(seen);
    for (const presence of room.present.values()) {
      const { member, announced } = presence;
      const box = state.boxes[member.device] ?? null;
      if (announced === null)
        member.send({ kind: 'welcome', epoch: state.epoch, box, recoveryId: state.recoveryId, devices: [...seen] });
      if (announced !== null && announced.epoch !== state.epoch)
        member.send({ kind: 'rotated', epoch: state.epoch, box });
      if (announced !== null && announced.devices !== devices) member.send({ kind: 'devices', devices: [...seen] });
      if (announced === null && room.trouble !== null)
        member.send({ kind: 'refused', what: 'entries', reason: room.trouble });
      presence.announced = { epoch: state.epoch, devices };
    }
  }

  return {
    async join(household, member) {
      const room = roomOf(household);
      const presence: Presence = { member, end: null, announced: null };
      room.present.set(member, presence);
      return await room.turn(async () => {
        await households.seen(household, member.device, member.browser);
        await announce(room);
        if (!room.present.has(member)) return null;
        const replica = replicaOf(room);
        await replica.ready;
        if (room.present.has(member)) presence.end = replica.connect(member.link);
        return presence.end;
      });
    },
    async leave(household, member) {
      const room = rooms.get(household);
      const presence = room?.present.get(member);
      if (room && presence) drop(room, presence);
      await room?.turn(async () => {
        if (presence) await households.seen(household, member.device, member.browser);
        if (room.present.size > 0) return await announce(room);
        const { replica } = room;
        room.replica = null;
        room.trouble = null;
        await replica?.close();
        if (room.present.size === 0 && rooms.get(household) === room) rooms.delete(household);
      });
    },
    async changed(household, revoked) {
      const room = rooms.get(household);
      if (room) await room.turn(() => announce(room));
      if (revoked.length > 0) onRevoked(revoked);
    },
    signal(household, from, to, data) {
      const member = [...(rooms.get(household)?.present.values() ?? [])]
        .filter(({ announced, member: { device } }) => announced !== null && device === to)
        .at(-1)?.member;
      member?.send({ kind: 'signal', from, data });
      return member !== undefined;
    },
    async refresh() {
      for (const room of [...rooms.values()])
        await room.turn(async () => {
          for (const { device, browser } of [...room.present.keys()])
            await households.seen(room.household, device, browser);
          await announce(room);
        });
    },
    count: (household) => rooms.get(household)?.present.size ?? 0,
    async close() {
      for (const room of [...rooms.values()]) await room.turn(async () => void (await room.replica?.close()));
    },
  };
}

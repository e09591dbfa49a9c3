/**
 * The owner's side of direct connections: with whom there are any, and that they lead to devices of
 * the household alone.
 *
 * A connection needs no proof within it. Each end says in its description by which certificate it
 * will be known (the DTLS fingerprint), and each description is sealed with the household's newest
 * key from one device to the other: an answer counts only for the connection that was just offered,
 * and an offer only for the nonce that was just asked with. So whoever passes the descriptions on
 * can put neither itself nor an old description in between, and who has no key of the household, or
 * one from before a device was removed, is not heard. Devices of one household share that key and
 * trust each other; since one of them could have come under another's name before it was removed, a
 * renewed key ends every connection, and those that stay are introduced anew under it.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Link, LinkEnd } from '../../../shared/replication/index.ts';
import type { DirectOrder, DirectReport } from '../../../shared/protocol/sync/page.ts';
import type { HouseholdKeys, RandomBytes } from '../contract.ts';
import { openSignal, sealSignal } from '../crypto/index.ts';
import { readIntroduction, writeIntroduction } from './introduction.ts';
import { createDirectConnections } from './connections.ts';
import { createMeetings } from './meetings.ts';
import { createTexts } from './texts.ts';

export interface DirectDeps {
  readonly deviceId: DeviceId;
  /** As they are now: a renewed key counts at once. */
  readonly keys: () => HouseholdKeys;
  /** Is this device known as one of the household, and was it not removed? */
  readonly isMember: (deviceId: DeviceId) => boolean;
  /** Through the relay, to another device's `hearSignal`. It may be lost, repeated or late. */
  readonly sendSignal: (to: string, data: string) => void;
  /** To the tab that carries. */
  readonly order: (order: DirectOrder) => void;
  /** Gives an open connection to the replica. */
  readonly connect: (link: Link) => LinkEnd;
  /** What `connections` answers has changed. */
  readonly onConnections: () => void;
  readonly timers: Timers;
  readonly random: RandomBytes;
  /** ms since the epoch */
  readonly now: () => number;
}

export interface Direct {
  hearSignal(from: string, data: string): void;
  report(report: DirectReport): void;
  /** The devices that the relay says are there; none while it is away. Open connections stay. */
  setOnline(deviceIds: readonly DeviceId[]): void;
  /**
   * These are out of the household. To be called whenever what is known of its devices changes;
   * saying it again is harmless.
   */
  removed(deviceIds: readonly DeviceId[]): void;
  /**
   * A text that introduces this device to another one of the household. Rejects with a sentence.
   */
  makeOffer(): Promise<string>;
  /**
   * Takes the text of another device. An offer is answered with the text to carry back; an answer
   * with null, when its connection is open. Rejects with a sentence that says what is wrong with
   * the text and what to do.
   */
  takeText(text: string): Promise<string | null>;
  /** Devices to which there is a direct connection. */
  connections(): readonly string[];
  /** Ends every connection, for good. */
  close(): void;
}

export function createDirect({
  deviceId,
  keys,
  isMember,
  sendSignal,
  order,
  connect,
  onConnections,
  timers,
  random,
  now,
}: DirectDeps): Direct {
  const out = new Set<string>();
  const connections = createDirectConnections({
    deviceId,
    order,
    connect,
    timers,
    onReady: () => meetings.afresh(),
    onOpen: onConnections,
  });
  const meetings = createMeetings({
    deviceId,
    connections,
    isMember,
    send: (to, introduction) =>
      sendSignal(to, sealSignal(keys(), deviceId, to, writeIntroduction(introduction), random)),
    timers,
    random,
  });
  const texts = createTexts({
    deviceId,
    keys,
    connections,
    isRemoved: (device) => out.has(device),
    onEnded: (device) => meetings.again(device),
    random,
    now,
  });

  const newest = () => keys().keyring.at(-1)?.epoch ?? 0;
  let epoch = newest();
  /** Looks whether the key was renewed meanwhile. */
  function lookAtKeys() {
    if (newest() === epoch) return;
    epoch = newest();
    connections.endAll();
  }

  let closed = false;
  return {
    hearSignal(from, data) {
      lookAtKeys();
      if (closed || from === deviceId || !isMember(from)) return;
      const opened = openSignal(keys(), from, deviceId, data);
      const introduction = opened === null ? null : readIntroduction(opened);
      // Not from there, not for here, not of this key, or of a newer Roost: the connection is tried
      // again from where it failed.
      if (introduction) meetings.hear(from, introduction);
    },
    report(report) {
      lookAtKeys();
      if (!closed) connections.report(report);
    },
    setOnline(deviceIds) {
      lookAtKeys();
      if (!closed) meetings.setOnline(deviceIds);
    },
    removed(deviceIds) {
      lookAtKeys();
      for (const device of deviceIds) {
        if (out.has(device)) continue;
        out.add(device);
        connections.endTo(device);
        meetings.forget(device);
      }
      meetings.look();
    },
    makeOffer: () => texts.makeOffer(),
    takeText: (text) => texts.takeText(text),
    connections: () => connections.open(),
    close() {
      closed = true;
      meetings.close();
      connections.close();
    },
  };
}

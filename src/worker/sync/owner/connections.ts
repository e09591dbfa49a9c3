/**
 * The ways out of this device: its connection to the relay, direct connections to other browsers,
 * and the rotation of keys, which is settled over the first.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { DirectOrder } from '../../../shared/protocol/sync/page.ts';
import type { RandomBytes } from '../contract.ts';
import { createDirect, type Direct } from '../direct/index.ts';
import type { DeviceEvents } from './events.ts';
import type { Exchange } from './exchange.ts';
import { createKeyRotation, type KeyRotation } from './key-rotation.ts';
import type { Keys } from './keys.ts';
import { createRelayConnection, type RelayConnection } from './relay-connection.ts';
import type { Members } from './members.ts';
import type { Payload } from './payload.ts';
import type { OpenSocket, SyncRelay } from './ports.ts';
import type { Standing } from './standing.ts';
import type { Unacknowledged } from './unacknowledged.ts';

export interface ConnectionsDeps {
  readonly keys: Keys;
  readonly members: Members;
  readonly exchange: Exchange;
  readonly unacknowledged: Unacknowledged;
  readonly standing: Standing;
  readonly events: DeviceEvents;
  readonly relay: Pick<SyncRelay, 'register'>;
  readonly openSocket: OpenSocket;
  readonly timers: Timers;
  readonly backoff: (failures: number) => number;
  readonly random: RandomBytes;
  readonly now: () => number;
  readonly order: (order: DirectOrder) => void;
  readonly say: (payload: Payload) => Promise<void>;
  /** There are more keys than before. */
  readonly openShut: () => Promise<void>;
  readonly onRemoved: () => void;
}

export interface Connections {
  readonly relayConnection: RelayConnection;
  readonly direct: Direct;
  readonly keyRotation: KeyRotation;
  /** The first try to reach the relay. */
  begin(): void;
  close(): void;
}

export function createConnections(deps: ConnectionsDeps): Connections {
  const { keys, members, exchange, unacknowledged, standing, events, timers, now, random } = deps;
  const { household, deviceId } = keys.membership();
  const register = () => deps.relay.register({ household, body: keys.registration() });
  const registerTrouble = standing.trouble('register');

  const relayConnection = createRelayConnection({
    household,
    deviceId,
    device: keys.device,
    openSocket: deps.openSocket,
    timers,
    backoff: deps.backoff,
    isOn: () => keys.membership().relay,
  });
  const direct = createDirect({
    deviceId,
    keys: keys.household,
    isMember: (device) => members.devices().some((one) => one.deviceId === device && !one.removed),
    sendSignal: (to, data) => void relayConnection.say({ kind: 'signal', to, data }),
    order: deps.order,
    connect: exchange.connect,
    timers,
    random,
    now,
    onConnections: standing.changed,
  });
  events.on('members', () =>
    direct.removed(members.devices().flatMap(({ deviceId: device, removed }) => (removed ? [device] : []))),
  );
  const keyRotation = createKeyRotation({
    keys,
    members,
    timers,
    now,
    relayConnection,
    register,
    say: deps.say,
    onKeys() {
      events.tell('members');
      return deps.openShut();
    },
    onTrouble: standing.trouble('keys'),
    onFull: standing.trouble('full'),
  });

  const begin = () =>
    relayConnection.begin({
      async register() {
        const answer = await register();
        if (answer.ok) registerTrouble(null);
        else if (answer.type === 'device-removed') deps.onRemoved();
        // Renewed while this device was away: with the newer keys it is let in.
        else if (answer.type === 'old-key' && (await keyRotation.adopt(answer.box))) return true;
        else if (answer.status !== null && answer.status !== 401) registerTrouble(new Error(answer.reason));
        return answer.ok;
      },
      onWelcome: keyRotation.hearWelcome,
      connect(relay) {
        unacknowledged.begin();
        return exchange.connect(relay);
      },
      onDevices(list) {
        standing.set({ seen: new Map(list.map((one) => [one.device, one])) });
        direct.setOnline(list.flatMap((one) => (one.online ? [one.device] : [])));
      },
      onRotated: (rotated) => void keyRotation.hearRotated(rotated).catch(standing.trouble('keys')),
      onSignal: direct.hearSignal,
      onAnswer: keyRotation.hearAnswer,
      onRemoved: deps.onRemoved,
      onState(link) {
        standing.set({ link });
        if (link === 'lost' || link === 'off') direct.setOnline([]);
        events.tell('link');
      },
    });

  return {
    relayConnection,
    direct,
    keyRotation,
    begin,
    close() {
      relayConnection.close();
      direct.close();
    },
  };
}

/** Devices whose owners have direct connections, and tabs that carry them, joined in memory. */
import type { Link } from '../../../../../src/shared/replication/index.ts';
import type { DirectOrder, DirectReport } from '../../../../../src/shared/protocol/sync/page.ts';
import type { HouseholdKeys } from '../../../../../src/worker/sync/contract.ts';
import { newHousehold } from '../../../../../src/worker/sync/crypto/index.ts';
import { createDirect, type Direct } from '../../../../../src/worker/sync/direct/index.ts';
import { createManualTimers, type ManualTimers } from '../../../../support/manual-timers.ts';
import { random } from '../support.ts';

export interface Signal {
  readonly from: string;
  readonly to: string;
  readonly data: string;
}

export interface TestDevice {
  readonly id: string;
  readonly direct: Direct;
  /** Links that the replica has now. */
  readonly links: Link[];
  readonly frames: Uint8Array[];
  drained: number;
  changes: number;
  keys: HouseholdKeys;
  readonly members: Set<string>;
  /** ms that its clock is ahead. */
  ahead: number;
  /** Every order that its tabs were given. */
  readonly orders: DirectOrder[];
  /** A tab that carries from now on; the one before is closed. */
  newTab(): void;
  /** The tab that carries is gone, and nobody hears of it. */
  loseTab(): void;
}

/** One end of a connection, as a tab has it. */
interface End {
  readonly device: string;
  readonly connection: string;
  /** By which the other side knows it. */
  readonly name: string;
  other: End | null;
  heard: string | null;
  open: boolean;
  report: ((report: DirectReport) => void) | null;
}

export interface World {
  readonly timers: ManualTimers;
  /** Everything that was ever sent. */
  readonly history: Signal[];
  /** What becomes of the signals that are on their way. */
  relay: (waiting: Signal[]) => readonly Signal[];
  /** Can these two reach each other? */
  reach: (one: string, two: string) => boolean;
  /** Are the devices on a network? */
  hasAddress: boolean;
  /** Frames stay in the tab until this is true again. */
  flowing: boolean;
  device(id: string, keys?: HouseholdKeys): TestDevice;
  /** Until nobody has anything to do. */
  settle(): void;
  /** Lets time pass, a second at a time. */
  pass(ms: number): void;
  /** Everybody hears from the relay who is there. */
  online(...ids: string[]): void;
  /** Connections that are open at both ends. */
  connections(): number;
}

/** ms after which a tab notices that the other end is gone. */
const SILENCE = 15_000;

/** 16 bytes as base64url; the lower the letter, the lower the id. */
export const idOf = (letter: string) => `${letter.repeat(21)}A`;
export const household = newHousehold(random);

export function createWorld(): World {
  const timers = createManualTimers();
  const devices = new Map<string, TestDevice>();
  const ends = new Map<string, End>();
  const tasks: (() => void)[] = [];
  const waiting: Signal[] = [];
  let clock = 1_000_000_000_000;
  let names = 0;

  const later = (task: () => void) => void tasks.push(task);

  function join(one: End, two: End) {
    if (one.heard !== two.name || two.heard !== one.name || one.open || !world.reach(one.device, two.device)) return;
    for (const [end, other] of [
      [one, two],
      [two, one],
    ] as const) {
      end.other = other;
      end.open = true;
      end.report?.({ kind: 'opened', connection: end.connection });
    }
  }

  function hang(end: End) {
    ends.delete(end.name);
    end.report = null;
    const { other } = end;
    end.other = null;
    if (!other) return;
    later(() => {
      if (!other.open || !other.report) return;
      other.report({ kind: 'closed', connection: other.connection });
      other.report = null;
      other.other = null;
      ends.delete(other.name);
    });
  }

  /** A tab of a device: follows orders, and says what becomes of them. */
  function openTab(device: string, report: (report: DirectReport) => void) {
    const mine = new Map<string, { readonly end: End; sent: number; readonly held: Uint8Array[] }>();
    let gone = false;
    const say = (said: DirectReport) =>
      later(() => {
        if (!gone) report(said);
      });
    const describe = (end: End) => say({ kind: 'signal', connection: end.connection, data: end.name });
    say({ kind: 'ready' });
    return {
      take(order: DirectOrder) {
        const carried = mine.get(order.connection);
        switch (order.kind) {
          case 'open': {
            const end: End = {
              device,
              connection: order.connection,
              name: `end ${names++}\r\n${world.hasAddress ? 'a=candidate:1' : ''}`,
              other: null,
              heard: null,
              open: false,
              report: say,
            };
            mine.set(order.connection, { end, sent: 0, held: [] });
            ends.set(end.name, end);
            if (order.offer) describe(end);
            return;
          }
          case 'signal': {
            if (!carried) return;
            const { end } = carried;
            const other = ends.get(order.data);
            const answers = end.heard === null && other?.heard !== end.name;
            end.heard = order.data;
            if (answers) describe(end);
            if (other) join(end, other);
            return;
          }
          case 'frame': {
            carried?.held.push(order.frame);
            const flow = () => {
              if (!carried) return;
              if (!world.flowing) return later(() => undefined);
              for (const frame of carried.held.splice(0)) {
                carried.sent += frame.length;
                const { other } = carried.end;
                if (other) other.report?.({ kind: 'frame', connection: other.connection, frame });
              }
              say({ kind: 'sent', connection: order.connection, bytes: carried.sent });
            };
            later(flow);
            return;
          }
          case 'close':
            if (carried) hang(carried.end);
            mine.delete(order.connection);
        }
      },
      close() {
        gone = true;
        for (const { end } of mine.values()) hang(end);
      },
      vanish() {
        gone = true;
        for (const { end } of mine.values()) {
          end.report = null;
          timers.after(SILENCE, () => hang(end));
        }
      },
    };
  }

  const world: World = {
    timers,
    history: [],
    relay: (signals) => signals.splice(0),
    reach: () => true,
    hasAddress: true,
    flowing: true,
    device(id, keys = household) {
      let tab: ReturnType<typeof openTab> | null = null;
      const links: Link[] = [];
      const state: Omit<TestDevice, 'direct' | 'newTab' | 'loseTab'> = {
        id,
        links,
        frames: [],
        drained: 0,
        changes: 0,
        keys,
        members: new Set(),
        ahead: 0,
        orders: [],
      };
      const made: TestDevice = Object.assign(state, {
        direct: createDirect({
          deviceId: id,
          keys: () => state.keys,
          isMember: (device) => state.members.has(device),
          sendSignal(to, data) {
            waiting.push({ from: id, to, data });
            world.history.push({ from: id, to, data });
          },
          order(order) {
            state.orders.push(order);
            later(() => tab?.take(order));
          },
          connect(link) {
            links.push(link);
            return {
              take: (frame) => void state.frames.push(frame),
              gone: () => void links.splice(links.indexOf(link), 1),
              drained: () => void state.drained++,
            };
          },
          onConnections: () => void state.changes++,
          timers,
          random,
          now: () => clock + state.ahead,
        }),
        newTab() {
          tab?.close();
          tab = openTab(id, (report) => made.direct.report(report));
        },
        loseTab() {
          tab?.vanish();
          tab = null;
        },
      });
      for (const other of devices.values()) {
        other.members.add(id);
        made.members.add(other.id);
      }
      devices.set(id, made);
      made.newTab();
      return made;
    },
    settle() {
      for (let rounds = 0; tasks.length > 0 || waiting.length > 0; rounds++) {
        if (rounds > 10_000) throw new Error('The devices do not come to rest.');
        const task = tasks.shift();
        if (task) task();
        else {
          const signals = world.relay(waiting);
          if (signals.length === 0) break;
          for (const { from, to, data } of signals) devices.get(to)?.direct.hearSignal(from, data);
        }
      }
    },
    pass(ms) {
      for (let passed = 0; passed < ms; passed += 1_000) {
        timers.advance(1_000);
        clock += 1_000;
        world.settle();
      }
    },
    online(...ids) {
      for (const id of ids) devices.get(id)?.direct.setOnline(ids);
      world.settle();
    },
    connections: () => [...ends.values()].filter(({ open, other }) => open && other !== null).length / 2,
  };
  return world;
}

/**
 * The direct connections that a tab carries for the data worker: opens, times and closes them, and
 * gives them to the replica as links.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Link, LinkEnd } from '../../../shared/replication/index.ts';
import type { DirectOrder, DirectReport } from '../../../shared/protocol/sync/page.ts';
import { DIRECT } from './settings.ts';

/** Adds an item to a bounded set. Removes the oldest where there are more than `most`. */
export function keepFew<Item>(kept: Set<Item>, item: Item, most: number): void {
  kept.add(item);
  const [oldest] = kept;
  if (kept.size > most && oldest !== undefined) kept.delete(oldest);
}

interface ConnectionPlan {
  readonly id: string;
  /** Null: any device that answers. */
  readonly device: string | null;
  /** The other side's offer. Null: this side makes the offer. */
  readonly offered: string | null;
  /** ms until the other side's answer must be taken, or the connection must be open. */
  readonly patience: number;
  /** Our description, for the other side. */
  readonly described: (description: string) => void;
  readonly opened: (device: string) => void;
  /** The connection is over. `proven`: it lived long enough, or its end is not its own fault. */
  readonly ended: (proven: boolean) => void;
}

interface ConnectionsDeps {
  readonly deviceId: DeviceId;
  readonly order: (order: DirectOrder) => void;
  readonly connect: (link: Link) => LinkEnd;
  readonly timers: Timers;
  /** A tab is ready to carry, and has no connections yet. */
  readonly onReady: () => void;
  /** The result of `open` has changed. */
  readonly onOpen: () => void;
}

export interface Connections {
  /** Is there a carrying tab, with room for one more connection? */
  room(): 'free' | 'no-tab' | 'full';
  /** Call it only where there is room. */
  begin(plan: ConnectionPlan): void;
  /**
   * Takes the other side's answer to an offered connection. False: no such connection waits for an
   * answer.
   */
  answer(id: string, device: string, description: string): boolean;
  has(id: string): boolean;
  /** Ids of the open connections to a device. */
  openTo(device: string): readonly string[];
  /** Closes a connection. Its plan is not notified. */
  drop(id: string): void;
  /** Ends a connection and notifies its plan. */
  end(id: string): void;
  endTo(device: string): void;
  endAll(): void;
  /** Ends every connection, and begins no more. */
  close(): void;
  report(report: DirectReport): void;
  /** Devices at the other end of the open connections. */
  open(): readonly string[];
}

interface Connection {
  readonly plan: ConnectionPlan;
  device: string | null;
  stage: 'described' | 'connecting' | 'open';
  end: LinkEnd | null;
  proven: boolean;
  given: number;
  sent: number;
  cancel: () => void;
}

/** Copies a view, because posting it to another thread would copy its whole buffer. */
const alone = (frame: Uint8Array) => (frame.byteLength === frame.buffer.byteLength ? frame : frame.slice());

export function createDirectConnections({
  deviceId,
  order,
  connect,
  timers,
  onReady,
  onOpen,
}: ConnectionsDeps): Connections {
  const connections = new Map<string, Connection>();
  let ready = false;

  /** Removes the connection from the list and from the replica. The caller notifies the plan. */
  function remove(connection: Connection) {
    connections.delete(connection.plan.id);
    connection.cancel();
    connection.end?.gone();
    if (connection.end) onOpen();
  }

  function drop(connection: Connection) {
    remove(connection);
    order({ kind: 'close', connection: connection.plan.id });
  }

  function end(some: readonly Connection[]) {
    for (const connection of some) drop(connection);
    for (const connection of some) connection.plan.ended(true);
  }

  function giveUp(connection: Connection) {
    drop(connection);
    connection.plan.ended(false);
  }

  function wait(connection: Connection, ms: number) {
    connection.cancel();
    connection.cancel = timers.after(ms, () => giveUp(connection));
  }

  function opened(connection: Connection) {
    const { device } = connection;
    if (connection.stage === 'open' || device === null) return;
    connection.stage = 'open';
    connection.cancel();
    connection.cancel = timers.after(DIRECT.provenMs, () => {
      connection.proven = true;
    });
    connection.end = connect({
      kind: 'device',
      name: device,
      send(frame) {
        if (connections.get(connection.plan.id) !== connection) return;
        connection.given += frame.length;
        order({ kind: 'frame', connection: connection.plan.id, frame: alone(frame) });
      },
      buffered: () => connection.given - connection.sent,
      close() {
        if (connections.get(connection.plan.id) === connection) giveUp(connection);
      },
    });
    // Between two devices one connection is enough. Only one side decides which, or both might
    // close the other's.
    if (deviceId < device) {
      for (const other of [...connections.values()])
        if (other !== connection && other.device === device && other.stage === 'open') drop(other);
    }
    connection.plan.opened(device);
    onOpen();
  }

  function begun() {
    const before = [...connections.values()];
    for (const connection of before) remove(connection);
    ready = true;
    for (const connection of before) connection.plan.ended(true);
    onReady();
  }

  return {
    room: () => (!ready ? 'no-tab' : connections.size < DIRECT.connectionsMost ? 'free' : 'full'),
    begin(plan) {
      const { id, device, offered } = plan;
      const connection: Connection = {
        plan,
        device,
        stage: offered === null ? 'described' : 'connecting',
        end: null,
        proven: false,
        given: 0,
        sent: 0,
        cancel: () => undefined,
      };
      connections.set(id, connection);
      wait(connection, plan.patience);
      order({ kind: 'open', connection: id, offer: offered === null });
      if (offered !== null) order({ kind: 'signal', connection: id, data: offered });
    },
    answer(id, device, description) {
      const connection = connections.get(id);
      if (connection?.stage !== 'described' || (connection.device !== null && connection.device !== device))
        return false;
      connection.device = device;
      connection.stage = 'connecting';
      wait(connection, DIRECT.introduceMs);
      order({ kind: 'signal', connection: id, data: description });
      return true;
    },
    has: (id) => connections.has(id),
    openTo: (device) =>
      [...connections.values()].flatMap((connection) =>
        connection.device === device && connection.stage === 'open' ? [connection.plan.id] : [],
      ),
    drop(id) {
      const connection = connections.get(id);
      if (connection) drop(connection);
    },
    end(id) {
      const connection = connections.get(id);
      if (connection) end([connection]);
    },
    endTo: (device) => end([...connections.values()].filter((connection) => connection.device === device)),
    endAll: () => end([...connections.values()]),
    close() {
      ready = false;
      end([...connections.values()]);
    },
    report(report) {
      if (report.kind === 'ready') return begun();
      const connection = connections.get(report.connection);
      if (!connection) {
        // The connection was given up meanwhile, or an earlier worker ordered it.
        if (report.kind !== 'closed') order({ kind: 'close', connection: report.connection });
        return;
      }
      switch (report.kind) {
        case 'signal':
          return connection.plan.described(report.data);
        case 'opened':
          return opened(connection);
        case 'frame':
          return connection.end?.take(report.frame);
        case 'sent':
          if (report.bytes <= connection.sent || report.bytes > connection.given) return;
          connection.sent = report.bytes;
          return connection.end?.drained();
        case 'closed':
          remove(connection);
          return connection.plan.ended(connection.proven);
      }
    },
    open: () => [
      ...new Set(
        [...connections.values()].flatMap(({ stage, device }) => (stage === 'open' && device !== null ? [device] : [])),
      ),
    ],
  };
}

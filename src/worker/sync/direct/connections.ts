/**
 * The connections that the tab carries for the owner: opened, timed, given to the replica as links,
 * and closed.
 */
import type { DeviceId } from '../../../shared/domain/ids.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Link, LinkEnd } from '../../../shared/replication/index.ts';
import type { DirectOrder, DirectReport } from '../../../shared/protocol/sync/page.ts';
import { DIRECT } from './settings.ts';

interface ConnectionPlan {
  readonly id: string;
  /** null: whoever answers. */
  readonly device: string | null;
  /** Do we begin? Otherwise `offered` is what the other side began with. */
  readonly offered: string | null;
  /**
   * ms for all there is to do until the other side's answer is taken, or the connection is open.
   */
  readonly patience: number;
  /** Our description, for the other side. */
  readonly described: (description: string) => void;
  readonly opened: (device: string) => void;
  /** It is over. `proven`: it was good for something, or the end is not its fault. */
  readonly ended: (proven: boolean) => void;
}

export interface ConnectionsDeps {
  readonly deviceId: DeviceId;
  readonly order: (order: DirectOrder) => void;
  readonly connect: (link: Link) => LinkEnd;
  readonly timers: Timers;
  /** There is a tab that carries, and no connection on it yet. */
  readonly onReady: () => void;
  /** What `open` answers has changed. */
  readonly onOpen: () => void;
}

export interface Connections {
  /** Is there a tab that carries, and room for one more connection? */
  room(): 'free' | 'no-tab' | 'full';
  /** Call where there is room. */
  begin(plan: ConnectionPlan): void;
  /**
   * The other side's answer to a connection that we offered to it, or to anybody. false: no such
   * connection waits for it.
   */
  answer(id: string, device: string, description: string): boolean;
  has(id: string): boolean;
  /** Ids of the open connections to a device. */
  openTo(device: string): readonly string[];
  /** Lets it go: its plan hears no more of it. */
  drop(id: string): void;
  /** Ends it; its plan hears of it. */
  end(id: string): void;
  endTo(device: string): void;
  endAll(): void;
  /** Ends every connection; there will be none. */
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

/** A view of a larger buffer crosses to another thread with all of that buffer. */
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

  /** Takes it off the list and from the replica; who planned it is told by whoever calls. */
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
    // Of two connections between two devices one is enough. One side alone says which, or both
    // might close the other's.
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
        // Given up meanwhile, or ordered by an owner before this one.
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

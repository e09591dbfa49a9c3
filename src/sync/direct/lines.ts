/** The lines that the tab carries for the owner: opened, timed, given to the replica as links, and closed. */
import type { Timers } from '../../domain/platform/timers.ts';
import type { Link, LinkEnd } from '../../protocol/replication/index.ts';
import type { DirectOrder, DirectReport } from '../../protocol/sync/page.ts';
import { DIRECT } from './settings.ts';

interface LinePlan {
  readonly id: string;
  /** null: whoever answers. */
  readonly device: string | null;
  /** Do we begin? Otherwise `offered` is what the other side began with. */
  readonly offered: string | null;
  /** ms for all there is to do until the other side's answer is taken, or the line is open. */
  readonly patience: number;
  /** Our description, for the other side. */
  readonly described: (description: string) => void;
  readonly opened: (device: string) => void;
  /** It is over. `proven`: it was good for something, or the end is not its fault. */
  readonly ended: (proven: boolean) => void;
}

export interface LinesDeps {
  readonly deviceId: string;
  readonly order: (order: DirectOrder) => void;
  readonly connect: (link: Link) => LinkEnd;
  readonly timers: Timers;
  /** There is a tab that carries, and no line on it yet. */
  readonly onReady: () => void;
  /** What `open` answers has changed. */
  readonly onOpen: () => void;
}

export interface Lines {
  /** Is there a tab that carries, and room for one more line? */
  room(): 'free' | 'no-tab' | 'full';
  /** Call where there is room. */
  begin(plan: LinePlan): void;
  /** The other side's answer to a line that we offered to it, or to anybody. false: no such line waits for it. */
  answer(id: string, device: string, description: string): boolean;
  has(id: string): boolean;
  /** Ids of the open lines to a device. */
  openTo(device: string): readonly string[];
  /** Lets it go: its plan hears no more of it. */
  drop(id: string): void;
  /** Ends it; its plan hears of it. */
  end(id: string): void;
  endTo(device: string): void;
  endAll(): void;
  /** Ends every line; there will be none. */
  close(): void;
  report(report: DirectReport): void;
  /** Devices at the other end of the open lines. */
  open(): readonly string[];
}

interface Line {
  readonly plan: LinePlan;
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

// In one piece: one line’s life, by its id: opened, timed, linked, closed.
export function createLines({ deviceId, order, connect, timers, onReady, onOpen }: LinesDeps): Lines {
  const lines = new Map<string, Line>();
  let ready = false;

  /** Takes it off the list and from the replica; who planned it is told by whoever calls. */
  function remove(line: Line) {
    lines.delete(line.plan.id);
    line.cancel();
    line.end?.gone();
    if (line.end) onOpen();
  }

  function drop(line: Line) {
    remove(line);
    order({ kind: 'close', line: line.plan.id });
  }

  function end(some: readonly Line[]) {
    for (const line of some) drop(line);
    for (const line of some) line.plan.ended(true);
  }

  function giveUp(line: Line) {
    drop(line);
    line.plan.ended(false);
  }

  function wait(line: Line, ms: number) {
    line.cancel();
    line.cancel = timers.after(ms, () => giveUp(line));
  }

  function opened(line: Line) {
    const { device } = line;
    if (line.stage === 'open' || device === null) return;
    line.stage = 'open';
    line.cancel();
    line.cancel = timers.after(DIRECT.provenMs, () => {
      line.proven = true;
    });
    line.end = connect({
      kind: 'device',
      name: device,
      send(frame) {
        if (lines.get(line.plan.id) !== line) return;
        line.given += frame.length;
        order({ kind: 'frame', line: line.plan.id, frame: alone(frame) });
      },
      buffered: () => line.given - line.sent,
      close() {
        if (lines.get(line.plan.id) === line) giveUp(line);
      },
    });
    // Of two lines between two devices one is enough. One side alone says which, or both might close the other's.
    if (deviceId < device) {
      for (const other of [...lines.values()])
        if (other !== line && other.device === device && other.stage === 'open') drop(other);
    }
    line.plan.opened(device);
    onOpen();
  }

  function begun() {
    const before = [...lines.values()];
    for (const line of before) remove(line);
    ready = true;
    for (const line of before) line.plan.ended(true);
    onReady();
  }

  return {
    room: () => (!ready ? 'no-tab' : lines.size < DIRECT.linesMost ? 'free' : 'full'),
    begin(plan) {
      const { id, device, offered } = plan;
      const line: Line = {
        plan,
        device,
        stage: offered === null ? 'described' : 'connecting',
        end: null,
        proven: false,
        given: 0,
        sent: 0,
        cancel: () => undefined,
      };
      lines.set(id, line);
      wait(line, plan.patience);
      order({ kind: 'open', line: id, offer: offered === null });
      if (offered !== null) order({ kind: 'signal', line: id, data: offered });
    },
    answer(id, device, description) {
      const line = lines.get(id);
      if (line?.stage !== 'described' || (line.device !== null && line.device !== device)) return false;
      line.device = device;
      line.stage = 'connecting';
      wait(line, DIRECT.introduceMs);
      order({ kind: 'signal', line: id, data: description });
      return true;
    },
    has: (id) => lines.has(id),
    openTo: (device) =>
      [...lines.values()].flatMap((line) => (line.device === device && line.stage === 'open' ? [line.plan.id] : [])),
    drop(id) {
      const line = lines.get(id);
      if (line) drop(line);
    },
    end(id) {
      const line = lines.get(id);
      if (line) end([line]);
    },
    endTo: (device) => end([...lines.values()].filter((line) => line.device === device)),
    endAll: () => end([...lines.values()]),
    close() {
      ready = false;
      end([...lines.values()]);
    },
    report(report) {
      if (report.kind === 'ready') return begun();
      const line = lines.get(report.line);
      if (!line) {
        // Given up meanwhile, or ordered by an owner before this one.
        if (report.kind !== 'closed') order({ kind: 'close', line: report.line });
        return;
      }
      switch (report.kind) {
        case 'signal':
          return line.plan.described(report.data);
        case 'opened':
          return opened(line);
        case 'frame':
          return line.end?.take(report.frame);
        case 'sent':
          if (report.bytes <= line.sent || report.bytes > line.given) return;
          line.sent = report.bytes;
          return line.end?.drained();
        case 'closed':
          remove(line);
          return line.plan.ended(line.proven);
      }
    },
    open: () => [
      ...new Set(
        [...lines.values()].flatMap(({ stage, device }) => (stage === 'open' && device !== null ? [device] : [])),
      ),
    ],
  };
}

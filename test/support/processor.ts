/** What processes have taken of the processor. Linux only: elsewhere it is nothing. */
import { readdirSync, readFileSync } from 'node:fs';

/** ms of one tick in proc_pid_stat(5). */
const TICK_MS = 10;

interface Taken {
  readonly parent: number;
  /** ms of it, and of its children that have ended. */
  readonly own: number;
  readonly ended: number;
}

function allTaken(): ReadonlyMap<number, Taken> {
  const all = new Map<number, Taken>();
  if (process.platform !== 'linux') return all;
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each)))
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
      const ms = (ticks: number) => ticks * TICK_MS;
      all.set(Number(name), { parent: fields[1] ?? 0, own: ms(user + system), ended: ms(endedUser + endedSystem) });
    } catch {
      // It has ended.
    }
  return all;
}

/** ms that a process has taken, and all that it has started. */
export function takenBy(pid: number): { readonly own: number; readonly started: number } {
  const all = allTaken();
  const below = (parent: number): number =>
    [...all].reduce(
      (sum, [child, each]) => (each.parent === parent ? sum + each.own + each.ended + below(child) : sum),
      0,
    );
  const { own = 0, ended = 0 } = all.get(pid) ?? {};
  return { own, started: ended + below(pid) };
}

/** What a process and all below it hold in memory. */
import { allProcesses } from '../processes/proc.ts';

/** Bytes that are resident, of `root` and everything that it has started. */
export async function memoryOf(root: number): Promise<number> {
  const below = new Map<number, number[]>();
  const held = new Map<number, number>();
  for (const { pid, parent, memory } of await allProcesses()) {
    below.set(parent, [...(below.get(parent) ?? []), pid]);
    held.set(pid, memory);
  }
  const sum = (pid: number): number =>
    (held.get(pid) ?? 0) + (below.get(pid) ?? []).reduce((all, child) => all + sum(child), 0);
  return sum(root);
}

/** What a process and all below it hold in memory, by `/proc`. */
import { readdir, readFile } from 'node:fs/promises';

const PAGE = 4_096;

/** Bytes that are resident, of `root` and everything that it has started. */
export async function memoryOf(root: number): Promise<number> {
  const below = new Map<number, number[]>();
  const held = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => null);
    if (stat === null) continue;
    // Behind the program's name, which may hold anything: the state, the parent, …, and the 22nd: resident pages (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const parent = Number(fields[1]);
    below.set(parent, [...(below.get(parent) ?? []), Number(name)]);
    held.set(Number(name), Number(fields[21]) * PAGE);
  }
  const sum = (pid: number): number =>
    (held.get(pid) ?? 0) + (below.get(pid) ?? []).reduce((all, child) => all + sum(child), 0);
  return sum(root);
}

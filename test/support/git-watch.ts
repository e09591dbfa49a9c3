/** Watches the gits that a relay within this process runs: their memory, and how many there are. */
import { readdirSync, readFileSync } from 'node:fs';

export interface GitPeaks {
  /** Bytes of memory of the largest git. Files that it maps do not count. */
  readonly bytes: number;
  /** Gits at once. */
  readonly atOnce: number;
  /** Bytes by which this process has grown. */
  readonly grown: number;
}

const EVERY_MS = 10;
/** What runs below these is an agent's, and has its own bounds. */
const SANDBOXES = ['bwrap'];

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly bytes: number;
}
function processes(): ReadonlyMap<number, Running> {
  const found = new Map<number, Running>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const status = readFileSync(`/proc/${entry}/status`, 'utf8');
      const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? '0';
      found.set(Number(entry), {
        pid: Number(entry),
        parent: Number(field('PPid')),
        name: field('Name'),
        bytes: Number(field('RssAnon')) * 1_024,
      });
    } catch {
      // It has ended.
    }
  }
  return found;
}
/** Gits of this process, and what they have started. */
function gits(): readonly Running[] {
  const all = processes();
  const isOurs = ({ parent, name }: Running): boolean => {
    if (SANDBOXES.includes(name)) return false;
    const above = all.get(parent);
    return parent === process.pid || (above !== undefined && isOurs(above));
  };
  return [...all.values()].filter((each) => each.name.startsWith('git') && isOurs(each));
}

/** Watches until it is stopped. */
export function watchGits(): { stop(): GitPeaks } {
  const before = process.memoryUsage.rss();
  let [bytes, atOnce, most] = [0, 0, before];
  const look = () => {
    const now = gits();
    bytes = Math.max(bytes, ...now.map((each) => each.bytes));
    // A git that git has started does not count.
    const pids = new Set(now.map(({ pid }) => pid));
    atOnce = Math.max(atOnce, now.filter(({ parent }) => !pids.has(parent)).length);
    most = Math.max(most, process.memoryUsage.rss());
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return { bytes, atOnce, grown: most - before };
    },
  };
}

/**
 * A control group for each run, where the relay may make one: it alone bounds processes and memory of all together. As root it
 * is needed, since the kernel counts no processes of root; for other users `ulimit -u` bounds them within their namespace, and
 * the relay itself looks at their memory.
 */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxLimits } from './settings.ts';

export interface Cgroup {
  /** Folders into which a process writes its id to be bounded, before it does anything else. */
  readonly folders: readonly string[];
  remove(): Promise<void>;
}

const ROOT = '/sys/fs/cgroup';
const REMOVE_TRIES = 20;
const REMOVE_MS = 50;

async function made(folder: string, bounds: Readonly<Record<string, number>>): Promise<string> {
  await mkdir(folder);
  try {
    for (const [file, value] of Object.entries(bounds)) await writeFile(join(folder, file), String(value));
    return folder;
  } catch (error) {
    await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

/** Null: none can be made here. */
export async function createCgroup(name: string, { memory, processes }: SandboxLimits): Promise<Cgroup | null> {
  const folders: string[] = [];
  // Some processes of `bwrap` itself stand in it.
  const pids = processes + 4;
  try {
    const controllers = await readFile(join(ROOT, 'cgroup.subtree_control'), 'utf8').catch(() => null);
    if (controllers !== null) {
      if (!/\bpids\b/.test(controllers) || !/\bmemory\b/.test(controllers)) return null;
      folders.push(await made(join(ROOT, name), { 'pids.max': pids, 'memory.max': memory }));
    } else {
      folders.push(await made(join(ROOT, 'pids', name), { 'pids.max': pids }));
      folders.push(await made(join(ROOT, 'memory', name), { 'memory.limit_in_bytes': memory }));
    }
  } catch {
    for (const folder of folders) await rmdir(folder).catch(() => undefined);
    return null;
  }
  return {
    folders,
    async remove() {
      for (const folder of folders)
        for (let tries = 0; tries < REMOVE_TRIES; tries++) {
          const gone = await rmdir(folder).then(
            () => true,
            () => false,
          );
          if (gone) break;
          // What was in it is still on its way out.
          await sleep(REMOVE_MS);
        }
    },
  };
}

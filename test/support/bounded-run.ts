/**
 * Commands in a sandbox, as its own process: each in the folder of an agent of its own, under
 * bounds that are small enough to be passed in a moment. Reads what is to be run as JSON, and
 * writes what became of it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createSandbox } from '../../server/execution/sandbox/index.ts';
import { SANDBOX_LIMITS } from '../../server/execution/sandbox/settings.ts';
import { createWorkspaces } from '../../server/files/workspaces/index.ts';
import { WORKSPACE_LIMITS } from '../../server/files/workspaces/settings.ts';

export interface BoundedRuns {
  /** Whether a control group may be used, where one can be had. */
  readonly cgroups: boolean;
  readonly timeoutMs: number;
  readonly memory: number;
  /** Of a folder: bytes, files and folders. */
  readonly bytes: number;
  readonly entries: number;
  /** By name, in turns of so many at once; each for `bash`. */
  readonly atOnce: number;
  readonly commands: Readonly<Record<string, string>>;
}
export interface BoundedEnds {
  readonly watched: boolean;
  readonly ends: Readonly<Record<string, { code: number | null; cut: string | null; said: string; isGone: boolean }>>;
}

const given = JSON.parse(readFileSync(0, 'utf8')) as BoundedRuns;
/** Other tests free more memory meanwhile than the limit is here, so fewer checks must agree. */
const checks = { memoryChecks: 3, restTimes: 2 };
const limits = { ...SANDBOX_LIMITS, ...checks, memory: given.memory, probeMs: given.timeoutMs };
const sandbox = createSandbox({ limits, ...(given.cgroups ? {} : { cgroups: () => Promise.resolve(null) }) });
const workspaces = createWorkspaces({
  folder: `${process.cwd()}/workspaces`,
  elapsed: () => performance.now(),
  most: () => Promise.resolve(given.bytes),
  limits: { ...WORKSPACE_LIMITS, entries: given.entries },
});
const { watched, why } = await sandbox.status();
if (why !== null) throw new Error(why);
const ends: Record<string, BoundedEnds['ends'][string]> = {};
const waiting = Object.entries(given.commands);

async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, command] = next;
    const workspace = workspaces.of(name);
    const run = await sandbox.run({
      folder: workspaces.folderOf(name),
      bash: ['-c', command],
      timeoutMs: given.timeoutMs,
      space: { left: await workspace.room(), count: () => workspace.room() },
    });
    const { code, cut } = await run.ended;
    await workspaces.forget(name);
    const isGone = !existsSync(workspaces.folderOf(name));
    ends[name] = { code, cut, said: run.output(0, 2_000).text, isGone };
  }
}
await Promise.all(Array.from({ length: given.atOnce }, work));
await sandbox.close();
process.stdout.write(JSON.stringify({ watched: watched !== undefined, ends } satisfies BoundedEnds));

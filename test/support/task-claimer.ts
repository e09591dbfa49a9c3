/**
 * A relay's projects as a process of their own, with agents that claim tasks without end. The
 * arguments are one JSON object, `Claiming`. A line on standard output is the id of a run that ends
 * by itself now.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createDirectory } from '../../server/team/directory/index.ts';
import { createProjects } from '../../server/projects/board/index.ts';
import { PROJECT_SETTINGS } from '../../server/projects/board/settings.ts';
import { openStore } from '../../server/store/index.ts';
import { createListeners } from '../../src/shared/domain/platform/events.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import type { StoredEvent } from '../../src/shared/protocol/events.ts';

export interface Claiming {
  readonly databaseUrl: string;
  readonly home: string;
  readonly agents: readonly { readonly agentId: string; readonly projectId: string }[];
  /** Names the runs of this process. */
  readonly name: string;
  readonly leaseMs: number;
  /** Most ms that an agent works on a task. */
  readonly workMs: number;
}

const { databaseUrl, home, agents, name, leaseMs, workMs } = JSON.parse(process.argv[2] ?? '') as Claiming;
const { db } = await openStore({ folder: '', databaseUrl });
const events = createListeners<[StoredEvent]>();
const shared = { db, home, now: Date.now, tell: () => undefined };
const projects = createProjects({
  ...{ ...shared, directory: createDirectory(shared), timers: realTimers, newId: () => crypto.randomUUID() },
  log: { subscribe: (listener) => events.subscribe(listener) },
  refuseForRoom: () => Promise.resolve(null),
  logger: { error: (what, more) => console.error(what, more) },
  settings: { ...PROJECT_SETTINGS, leaseMs, renewMs: Math.floor(leaseMs / 3) } as unknown as typeof PROJECT_SETTINGS,
});
await projects.recover();

async function claimWithoutEnd({ agentId, projectId }: Claiming['agents'][number]): Promise<never> {
  for (let count = 1; ; count += 1) {
    const ready = await projects.ready(agentId, projectId);
    const tasks = ready.ok ? ready.value : [];
    const task = tasks[Math.floor(Math.random() * tasks.length)];
    if (!task) {
      await sleep(100);
      continue;
    }
    const runId = `${name} ${agentId} ${count}`;
    const claimed = await projects.claim({ agentId, runId }, projectId, task.taskId);
    if (!claimed.ok) continue;
    await sleep(Math.random() * workMs);
    const how = Math.random();
    console.log(runId);
    if (how < 0.5) await projects.move(agentId, projectId, task.taskId, { columnId: 'review', note: runId });
    else if (how < 0.75) await projects.release(agentId, projectId, task.taskId, runId);
    events.tell({
      id: 1,
      event: {
        ...{ kind: 'run-ended', time: Date.now(), runId, agentId, sessionId: null, outcome: 'done' },
        ...{ detail: null, usage: null, words: null },
      } as unknown as StoredEvent['event'],
    });
  }
}
await Promise.all(agents.map(claimWithoutEnd));

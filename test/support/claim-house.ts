/** Relays on one home, of which each has the projects and comments alone, in this process. */
import { createDirectory } from '../../server/team/directory/index.ts';
import type { Directory } from '../../server/team/directory/index.ts';
import { type Comments, createComments, createProjects, type Projects } from '../../server/projects/board/index.ts';
import { createThreads } from '../../server/team/threads/index.ts';
import type { Store } from '../../server/store/index.ts';
import type { AgentId, RunId } from '../../src/shared/domain/ids.ts';
import { createListeners } from '../../src/shared/domain/platform/events.ts';
import type { StoredEvent } from '../../src/shared/protocol/events.ts';
import type { Task } from '../../src/shared/protocol/projects.ts';
import { newRelay, type TestClock } from './gate.ts';
import { createManualTimers, type ManualTimers } from './manual-timers.ts';

export const CLAIMERS = Array.from({ length: 8 }, (_none, i) => `a${i}`);

export interface ClaimRelay {
  readonly projects: Projects;
  readonly comments: Comments;
  readonly timers: ManualTimers;
  /** Agents that a comment has mentioned, with its author. */
  readonly mentioned: readonly { readonly agentId: AgentId; readonly by: string }[];
  end(runId: RunId): void;
}

/** `of`: a home that has its agents already. */
export async function openClaimHouse(
  stores: readonly Store[],
  { now }: TestClock,
  of?: { readonly home: string; readonly directory: Directory },
): Promise<readonly ClaimRelay[]> {
  const home = of?.home ?? newRelay();
  const relays: ClaimRelay[] = [];
  for (const { db } of stores) {
    const directory = of?.directory ?? createDirectory({ db, home, tell: () => undefined, now });
    if (relays.length === 0 && !of)
      await directory.set({
        agents: CLAIMERS.map((agentId, position) => ({ agentId, name: agentId, position, retired: false })),
      });
    const timers = createManualTimers();
    const events = createListeners<[StoredEvent]>();
    const usual = { db, home, directory, now, timers, tell: () => undefined, newId: () => crypto.randomUUID() };
    const projects = createProjects({
      ...usual,
      log: { subscribe: (listener) => events.subscribe(listener) },
      refuseForRoom: () => Promise.resolve(null),
      logger: {
        error(what) {
          throw new Error(what);
        },
      },
    });
    const mentioned: { agentId: AgentId; by: string }[] = [];
    const threads = createThreads({
      ...usual,
      hooks: {
        added: () => Promise.reject(new Error('agents are added to comments silently')),
        mentioned({ agentId, by }) {
          mentioned.push({ agentId, by });
          return Promise.resolve(null);
        },
        mentionsRead: () => Promise.resolve(),
        leftLast: () => Promise.resolve(),
      },
    });
    relays.push({
      ...{ projects, comments: createComments({ projects, threads, directory }), timers, mentioned },
      end: (runId) =>
        events.tell({
          id: 1,
          event: {
            ...{ kind: 'run-ended', time: now(), runId, agentId: 'a0', sessionId: null, outcome: 'done' },
            ...{ detail: null, usage: null, words: null },
          } as unknown as StoredEvent['event'],
        }),
    });
  }
  return relays;
}

export const EVERYTHING = { column: null, assignee: null, label: null, after: 0, limit: 1_000 };
/** A new task without anything but a title. */
export const newTask = (title: string, columnId?: string) => ({
  ...{ title, description: '', criteria: [], labels: [], blockedBy: [], assignee: null, columnId },
  priority: 'normal' as const,
});
export const good = <Value>(outcome: { readonly ok: true; readonly value: Value } | { readonly ok: false }): Value => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return outcome.value;
};
export async function tasksOf({ projects }: ClaimRelay, projectId: string): Promise<readonly Task[]> {
  return good(await projects.tasks(projectId, EVERYTHING)).tasks;
}

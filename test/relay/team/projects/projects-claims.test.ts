/** Claims of tasks by many agents through two relays on one store. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDirectory } from '../../../../server/team/directory/index.ts';
import { createProjects, type Projects } from '../../../../server/team/projects/index.ts';
import type { Store } from '../../../../server/store/index.ts';
import { COLUMN_KINDS, kindOfColumn, openBlockers } from '../../../../src/shared/domain/projects.ts';
import { createListeners } from '../../../../src/shared/domain/platform/events.ts';
import type { RunId } from '../../../../src/shared/domain/ids.ts';
import type { StoredEvent } from '../../../../src/shared/protocol/events.ts';
import type { Project, Task } from '../../../../src/shared/protocol/projects.ts';
import { createTestClock, newRelay, type TestClock } from '../../../support/gate.ts';
import { createManualTimers, type ManualTimers } from '../../../support/manual-timers.ts';
import { createRandom } from '../../../support/random.ts';
import { createStorePlace, STORES, type StorePlace } from '../../../support/stores.ts';

const AGENTS = Array.from({ length: 8 }, (_none, i) => `a${i}`);
const EVERYTHING = { column: null, assignee: null, label: null, after: 0, limit: 1_000 };

interface Relay {
  readonly projects: Projects;
  readonly timers: ManualTimers;
  end(runId: RunId): void;
}

describe.each(STORES)('claims on %s', (kind) => {
  let place: StorePlace;
  const stores: Store[] = [];
  beforeAll(async () => {
    place = await createStorePlace(kind);
    stores.push(await place.open());
    // The embedded store has one process.
    stores.push(kind === 'postgres' ? await place.open() : (stores[0] as Store));
  });
  afterAll(async () => {
    for (const store of new Set(stores)) await store.close();
    await place.remove();
  });

  async function house(clock: TestClock): Promise<readonly Relay[]> {
    const home = newRelay();
    const { now } = clock;
    return await Promise.all(
      stores.map(async ({ db }, i): Promise<Relay> => {
        const directory = createDirectory({ db, home, tell: () => undefined, now });
        if (i === 0)
          await directory.set({
            agents: AGENTS.map((agentId, position) => ({ agentId, name: agentId, position, retired: false })),
          });
        const timers = createManualTimers();
        const events = createListeners<[StoredEvent]>();
        const projects = createProjects({
          ...{ db, home, directory, now, timers },
          log: { subscribe: (listener) => events.subscribe(listener) },
          tell: () => undefined,
          newId: () => crypto.randomUUID(),
          refuseForRoom: () => Promise.resolve(null),
          logger: {
            error(what) {
              throw new Error(what);
            },
          },
        });
        return {
          projects,
          timers,
          end: (runId) =>
            events.tell({
              id: 1,
              event: {
                ...{ kind: 'run-ended', time: now(), runId, agentId: 'a0', sessionId: null, outcome: 'done' },
                ...{ detail: null, usage: null, words: null },
              } as unknown as StoredEvent['event'],
            }),
        };
      }),
    );
  }
  async function all({ projects }: Relay, { projectId }: Project): Promise<readonly Task[]> {
    const listed = await projects.tasks(projectId, EVERYTHING);
    if (!listed.ok) throw new Error(listed.detail);
    return listed.value.tasks;
  }
  const good = <Value>(outcome: { readonly ok: true; readonly value: Value } | { readonly ok: false }): Value => {
    if (!outcome.ok) throw new Error(JSON.stringify(outcome));
    return outcome.value;
  };
  const NEW = { description: '', criteria: [], priority: 'normal', labels: [], blockedBy: [], assignee: null } as const;

  it('are held by one agent each, however many ask at once', async () => {
    const relays = await house(createTestClock(1_000_000));
    const [first] = relays as [Relay, Relay];
    const project = good(await first.projects.create({ name: 'Race', instructions: '', agents: [...AGENTS] }));
    const tasks = await Promise.all(
      Array.from({ length: 20 }, async (_none, i) =>
        good(
          await first.projects.createTask('human', project.projectId, {
            ...NEW,
            criteria: [],
            labels: [],
            blockedBy: [],
            title: `T${i}`,
            columnId: 'ready',
          }),
        ),
      ),
    );
    expect(new Set(tasks.map(({ number }) => number)).size).toBe(20);
    const wins = await Promise.all(
      tasks.flatMap(({ taskId }) =>
        AGENTS.map(async (agentId, i) => {
          const relay = relays[i % 2] as Relay;
          const claimed = await relay.projects.claim({ agentId, runId: `run-${agentId}` }, project.projectId, taskId);
          return claimed.ok ? [`${taskId} ${claimed.value.claim?.agentId ?? ''}`] : [];
        }),
      ),
    );
    const held = (await all(first, project)).map(({ taskId, claim }) => `${taskId} ${claim?.agentId ?? ''}`);
    expect(wins.flat().sort()).toEqual(held.sort());
  });

  it('end with their run or their lease, and an old run ends no newer claim', async () => {
    const clock = createTestClock(1_000_000);
    const [one, two] = (await house(clock)) as [Relay, Relay];
    const { projectId } = good(await one.projects.create({ name: 'Ends', instructions: '', agents: ['a0', 'a1'] }));
    const { taskId } = good(
      await one.projects.createTask('human', projectId, {
        ...NEW,
        criteria: [],
        labels: [],
        blockedBy: [],
        title: 'T',
        columnId: 'ready',
      }),
    );
    const claim = (relay: Relay, agentId: string, runId: RunId) =>
      relay.projects.claim({ agentId, runId }, projectId, taskId);
    const read = async () => good(await two.projects.task(projectId, taskId));
    const settled = () => new Promise((resolve) => setTimeout(resolve, 100));
    good(await claim(one, 'a0', 'r1'));
    // Renewed while the run lasts.
    for (let i = 0; i < 10; i += 1) {
      clock.pass(10_000);
      one.timers.advance(10_000);
      await settled();
    }
    expect((await read()).claim).toMatchObject({ agentId: 'a0' });
    one.end('r1');
    await expect.poll(async () => (await read()).columnId).toBe('ready');
    // The first relay dies: nothing renews, and the lease is over after 30 s.
    good(await claim(one, 'a0', 'r2'));
    one.projects.close();
    clock.pass(31_000);
    good(await claim(two, 'a1', 'r3'));
    expect(await read()).toMatchObject({ columnId: 'in_progress', claim: { agentId: 'a1' } });
    two.end('r2');
    await settled();
    expect((await read()).claim).toMatchObject({ agentId: 'a1' });
    expect((await read()).history.map(({ what }) => what)).toEqual([
      ...['created', 'claimed', 'released', 'claimed', 'released', 'claimed'],
    ]);
    two.end('r3');
    await expect.poll(async () => (await read()).claim).toBeNull();
  });

  it('hold every rule after each of many random operations', async () => {
    const clock = createTestClock(1_000_000);
    const relays = await house(clock);
    const random = createRandom(kind === 'postgres' ? 11 : 7);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
    const { projectId } = good(
      await (relays[0] as Relay).projects.create({ name: 'Random', instructions: '', agents: [...AGENTS] }),
    );
    const project = good(await (relays[0] as Relay).projects.read(projectId));
    const run = (agentId: string) => `run-${agentId}-${Math.floor(clock.now() / 60_000)}`;
    const done: Record<string, number> = {};
    for (let step = 0; step < 150; step += 1) {
      const { projects, end } = pick(relays);
      const before = await all(relays[0] as Relay, project);
      const task = before.length === 0 ? undefined : pick(before);
      const agentId = pick(AGENTS);
      const by = random() < 0.3 ? 'human' : agentId;
      const columnId = pick(project.columns).columnId;
      const what =
        task === undefined
          ? 'create'
          : pick(['create', 'claim', 'claim', 'claim', 'move', 'move', 'edit', 'release', 'end', 'wait', 'delete']);
      const id = task?.taskId ?? '';
      const outcome =
        what === 'create'
          ? await projects.createTask(by, projectId, {
              ...NEW,
              criteria: [],
              labels: [],
              blockedBy: [],
              title: `T${step}`,
              columnId: by === 'human' ? 'ready' : undefined,
            })
          : what === 'claim'
            ? await projects.claim({ agentId, runId: run(agentId) }, projectId, id)
            : what === 'move'
              ? await projects.move(by, projectId, id, { columnId, note: '' })
              : what === 'edit'
                ? await projects.changeTask('human', projectId, id, {
                    blockedBy: [pick(before).taskId],
                    assignee: random() < 0.5 ? agentId : null,
                  })
                : what === 'release'
                  ? await projects.release(by, projectId, id, 'Later.')
                  : what === 'delete'
                    ? await projects.removeTask(projectId, id)
                    : null;
      if (what === 'end') end(run(agentId));
      if (what === 'wait') clock.pass(Math.floor(random() * 40_000));
      if (outcome?.ok) done[what] = (done[what] ?? 0) + 1;
      const after = await all(relays[1] as Relay, project);
      expect(new Set(after.map(({ number }) => number)).size).toBe(after.length);
      for (const each of after) {
        const columnKind = kindOfColumn(project, each.columnId);
        const where = `step ${step}, ${what} #${each.number}`;
        expect(columnKind, where).not.toBeNull();
        if (each.claim) expect(columnKind, where).toBe('in_progress');
        const was = before.find(({ taskId }) => taskId === each.taskId);
        if (each.claim && !was?.claim) {
          expect(what, where).toBe('claim');
          expect(was && kindOfColumn(project, was.columnId), where).toBe('ready');
          expect(was && openBlockers(project, was, before), where).toEqual([]);
          expect([null, each.claim.agentId], where).toContain(each.assignee);
        }
        if (each.claim && was?.claim) expect(each.claim.agentId, where).toBe(was.claim.agentId);
        // Agents finish nothing by themselves.
        if (columnKind === 'done' && was && kindOfColumn(project, was.columnId) !== 'done')
          expect(each.history.at(-1)?.by, where).toBe('human');
      }
    }
    expect(COLUMN_KINDS).toHaveLength(project.columns.length);
    expect(Object.keys(done).sort()).toEqual(['claim', 'create', 'delete', 'edit', 'move', 'release']);
  });
});

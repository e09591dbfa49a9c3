/** Claims of tasks by many agents through two relays on one store. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../../../server/store/index.ts';
import type { RunId } from '../../../../src/shared/domain/ids.ts';
import { operateAtRandom } from '../../../faults/projects-board.ts';
import { type ClaimRelay, CLAIMERS, good, newTask, openClaimHouse, tasksOf } from '../../../support/claim-house.ts';
import { createTestClock, type TestClock } from '../../../support/gate.ts';
import { createStorePlace, STORES, type StorePlace } from '../../../support/stores.ts';

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

  const house = (clock: TestClock) => openClaimHouse(stores, clock);

  it('gives a task to one agent, however many ask at once', async () => {
    const relays = await house(createTestClock(1_000_000));
    const [first] = relays as [ClaimRelay, ClaimRelay];
    const project = good(await first.projects.create({ name: 'Race', instructions: '', agents: [...CLAIMERS] }));
    const tasks = await Promise.all(
      Array.from({ length: 20 }, async (_none, i) =>
        good(await first.projects.createTask('human', project.projectId, newTask(`T${i}`, 'ready'))),
      ),
    );
    expect(new Set(tasks.map(({ number }) => number)).size).toBe(20);
    const wins = await Promise.all(
      tasks.flatMap(({ taskId }) =>
        CLAIMERS.map(async (agentId, i) => {
          const relay = relays[i % 2] as ClaimRelay;
          const claimed = await relay.projects.claim({ agentId, runId: `run-${agentId}` }, project.projectId, taskId);
          return claimed.ok ? [`${taskId} ${claimed.value.claim?.agentId ?? ''}`] : [];
        }),
      ),
    );
    const held = (await tasksOf(first, project.projectId)).map(
      ({ taskId, claim }) => `${taskId} ${claim?.agentId ?? ''}`,
    );
    expect(wins.flat().sort()).toEqual(held.sort());
  });

  it('end with their run or their lease, and an old run ends no newer claim', async () => {
    const clock = createTestClock(1_000_000);
    const [one, two] = (await house(clock)) as [ClaimRelay, ClaimRelay];
    const { projectId } = good(await one.projects.create({ name: 'Ends', instructions: '', agents: ['a0', 'a1'] }));
    const { taskId } = good(await one.projects.createTask('human', projectId, newTask('T', 'ready')));
    const claim = (relay: ClaimRelay, agentId: string, runId: RunId) =>
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

  it('hold every rule after each of many random operations', { timeout: 120_000 }, async () => {
    // With these seeds each operation comes.
    const done = await operateAtRandom(stores, { seed: kind === 'postgres' ? 3 : 5, steps: 60 });
    expect(Object.keys(done)).toEqual(
      expect.arrayContaining(['claim', 'comment', 'create', 'delete', 'edit', 'move', 'release']),
    );
  });
});

/** The pulse of an agent and the tasks of its projects, where no routine was given a project. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultRoutineIdOf } from '../../../server/schedules/index.ts';
import { SCHEDULE_LIMITS } from '../../../server/schedules/settings.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import { SNAPSHOT, createHandClock, routine } from '../../support/schedules.ts';
import type { Reply, ScriptedRequest } from '../../support/scripted-model.ts';
import { type Bench, type Household, openSessionBench } from '../../support/session.ts';
import { USUAL_STORES } from '../../support/stores.ts';

const MINUTE = 60_000;
/** A Monday, on the hour in every zone that counts in hours. */
const START = Date.UTC(2026, 10, 23, 6, 0);
const TIMING = { kind: 'every', minutes: 30, offset: 0 } as const;
const good = <Value>(outcome: { readonly ok: true; readonly value: Value } | { readonly ok: false }): Value => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return outcome.value;
};

describe.each(USUAL_STORES)('the pulse of an agent, on %s', (kind) => {
  let bench: Bench;
  let house: Household;
  let clock: ReturnType<typeof createHandClock>;
  let script: (request: ScriptedRequest) => Reply;
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    clock = createHandClock(START);
    script = () => [{ say: 'Done.' }];
    house = await bench.open({ script: (request) => script(request), now: clock.now });
    const { team } = house;
    await team.directory.set({
      agents: ['a1', 'a2'].map((agentId, position) => ({ agentId, name: agentId, position, retired: false })),
    });
    const wake_guardrails = { max_daily_session_minutes: 1_440, max_wakes_per_day: 1_000, cooldown_seconds: 0 };
    await team.configs.setHousehold({
      ...{ coordination: { wake_guardrails, max_concurrent_pulse_sessions: 10 }, time_zone: 'UTC' },
    });
    await team.snapshots.leave('a1', { ...SNAPSHOT, name: 'a1' }, 'v1');
    await team.schedules.clock.start();
  });
  afterEach(() => house.close());

  const project = async (agents = ['a1']): Promise<Project> =>
    good(await house.team.projects.create({ name: 'Trip', instructions: '', agents }));
  const task = async ({ projectId }: Project, columnId = 'ready'): Promise<Task> =>
    good(
      await house.team.projects.createTask('human', projectId, {
        ...{ title: 'Find a ferry', description: '', criteria: [], priority: 'normal', labels: [], blockedBy: [] },
        ...{ assignee: null, columnId },
      }),
    );
  /** `scheduleId` left out: the default routine. */
  async function pulse(
    fields: Parameters<typeof routine>[0] = {},
    scheduleId = defaultRoutineIdOf('a1'),
  ): Promise<void> {
    const made = routine({ agentId: 'a1', timing: TIMING, when: 'something_waits', ...fields });
    const written = await house.team.schedules.put(scheduleId, made);
    if (!written.ok) throw new Error(written.reason);
  }
  /** Lets time pass, and what is due then come to its end. Resolves with the new requests. */
  async function pass(ms = 30 * MINUTE): Promise<readonly ScriptedRequest[]> {
    const before = house.model.requests.length;
    clock.pass(ms);
    house.team.schedules.clock.wake();
    await house.team.schedules.clock.whenQuiet();
    return house.model.requests.slice(before);
  }
  const claiming = ({ projectId, taskId }: Task) => {
    const answers: string[] = [];
    script = ({ body, results }) => {
      answers.push(...results);
      return body.messages.length === 1 ? [{ call: 'claim_task', input: { projectId, taskId } }] : [{ say: 'Done.' }];
    };
    return () => answers.at(-1) ?? '';
  };

  it('begins for a ready task, is told of it, and takes it', async () => {
    await pulse();
    expect(await pass()).toEqual([]);
    const [mine, other] = [await project(), await project(['a2'])];
    await task(other);
    await task(mine, 'backlog');
    expect(await pass()).toEqual([]);
    const answer = claiming(await task(mine));
    const [request] = await pass();
    expect(request?.first).toContain(`id ${mine.projectId}. Columns: “Ready”, id ready (ready), ready: 1`);
    expect(request?.first).toContain('claim_task');
    expect(request?.first).not.toContain(other.projectId);
    expect(answer()).toContain('The task is yours');
  });

  it('looks in the columns that are set for its agent, and takes from no others', async () => {
    await house.team.configs.setAgent('a1', { pulse_columns: [' backlog ', 'done'] });
    await pulse();
    const of = await project();
    const ready = await task(of);
    await task(of, 'done');
    expect(await pass()).toEqual([]);
    const waits = await task(of, 'backlog');
    let answer = claiming(ready);
    expect((await pass())[0]?.first).toContain('“Backlog”, id backlog (backlog), ready: 1');
    expect(answer()).toContain('in none of the columns');
    answer = claiming(waits);
    await pass();
    expect(answer()).toContain('The task is yours');
  });

  it('treats a routine with its own columns like the default one, and no other', async () => {
    const of = await project();
    await task(of);
    await pulse({ name: 'News' }, 'news');
    expect(await pass()).toEqual([]);
    await pulse({ name: 'News', pulse_columns: ['ready'] }, 'news');
    expect(await pass()).toHaveLength(1);
    await pulse({ name: 'News', pulse_columns: [] }, 'news');
    expect(await pass()).toEqual([]);
  });

  it('begins for no task where its agent has no tool for one', async () => {
    await pulse();
    await task(await project());
    await house.team.configs.setAgent('a1', { coordination: { toolsets: { projects: 'off' } } });
    expect(await pass()).toEqual([]);
    await house.team.configs.setAgent('a1', {});
    expect(await pass()).toHaveLength(1);
  });

  it('stops paying for a task that its agent never takes', async () => {
    await pulse();
    const of = await project();
    const { projectId, taskId } = await task(of);
    for (let i = 0; i < SCHEDULE_LIMITS.leftMost; i++) expect(await pass()).toHaveLength(1);
    for (let i = 0; i < 3; i++) expect(await pass()).toEqual([]);
    const newest = async () => (await house.team.schedules.history(0, clock.now() + 1, { most: 1 }))[0];
    expect(await newest()).toMatchObject({
      ...{ state: 'skipped', reason: 'nothing-waits' },
      detail: expect.stringContaining('left the tasks that are ready') as string,
    });
    // Mail is read all the same.
    const message = { messageId: 'm1', to: 'a1', from: 'a2', text: 'Hi.', priority: 'normal', threadId: null } as const;
    await house.team.inbox.put({ ...message, time: clock.now() });
    expect(await pass()).toHaveLength(1);
    expect(await pass()).toEqual([]);
    // The person has looked at it.
    good(await house.team.projects.changeTask('human', projectId, taskId, { description: 'At noon.' }));
    expect(await pass()).toHaveLength(1);
    // One that is taken shows that the agent works, and the others count on.
    const answer = claiming(await task(of));
    await pass();
    expect(answer()).toContain('The task is yours');
    script = () => [{ say: 'Done.' }];
    for (let i = 0; i < SCHEDULE_LIMITS.leftMost; i++) expect(await pass()).toHaveLength(1);
    expect(await pass()).toEqual([]);
    // A clock that was a year ahead does not hold it back.
    clock.pass(-3_600_000);
    let requests = 0;
    for (let i = 0; i < 49; i++) requests += (await pass()).length;
    expect(requests).toBeGreaterThan(0);
    expect(requests).toBeLessThanOrEqual(SCHEDULE_LIMITS.leftMost);
  });
});

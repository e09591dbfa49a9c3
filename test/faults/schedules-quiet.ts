/**
 * Nights in which nothing is there to be done, hours in which the relay is away, and a relay that
 * hangs.
 */
import { randomUUID } from 'node:crypto';
import { createAnthropicMind } from '../../server/agents/minds/index.ts';
import { defaultRoutineIdOf } from '../../server/schedules/index.ts';
import { createScheduleRows } from '../../server/schedules/rows.ts';
import { SCHEDULE_LIMITS } from '../../server/schedules/settings.ts';
import { openMortalRelay } from '../support/mortal-relay.ts';
import { SNAPSHOT, createHandClock, routine } from '../support/schedules.ts';
import { startScriptedModel, type Script } from '../support/scripted-model.ts';
import type { Store } from '../../server/store/index.ts';
import { createStorePlace } from '../support/stores.ts';
import { AGENTS, DAY, openScheduleHouse } from './schedules.ts';
import type { Team } from '../../server/households/team.ts';
import type { ProjectId } from '../../src/shared/domain/ids.ts';
import { PERSON } from '../../src/shared/domain/threads.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const EVENING = Date.UTC(2027, 2, 27, 21);
const NIGHT_MS = 9 * HOUR;

/** Three projects with a task in each column from which nobody takes any. */
async function idleProjects({ projects, directory }: Team): Promise<ProjectId[]> {
  const there = new Set((await directory.all()).map(({ agentId }) => agentId));
  const agents = AGENTS.filter((agentId) => there.has(agentId));
  const made: ProjectId[] = [];
  for (const name of ['House', 'Garden', 'Trip']) {
    const project = await projects.create({ name, instructions: '', agents });
    if (!project.ok) throw new Error(project.detail);
    const { projectId, columns } = project.value;
    for (const { columnId, kind } of columns) {
      if (kind === 'ready') continue;
      const task = { title: `In ${columnId}`, description: '', criteria: [], labels: [], blockedBy: [], columnId };
      const added = await projects.createTask(PERSON, projectId, { ...task, priority: 'normal', assignee: null });
      if (!added.ok) throw new Error(added.detail);
    }
    made.push(projectId);
  }
  return made;
}

/**
 * Eight agents with the default pulse on three projects, and nothing for them. Throws where a model
 * was asked, or a run began. Answers with the moments that passed.
 */
export async function idleNights(answerSchedules: number, nightMs = NIGHT_MS, shared?: Store): Promise<number> {
  const house = await openScheduleHouse({ start: EVENING, ...(shared ? { shared } : {}) });
  try {
    const { schedules, mappings } = house.relay().team;
    const projects = await idleProjects(house.relay().team);
    for (const [i, agentId] of AGENTS.entries()) {
      const pulse = routine({ agentId, name: 'Pulse', timing: { kind: 'every', minutes: 30, offset: null } });
      const scheduleId = i % 2 === 0 ? defaultRoutineIdOf(agentId) : `pulse-${agentId}`;
      const written = await schedules.put(scheduleId, { ...pulse, when: 'something_waits' });
      if (!written.ok) throw new Error(written.reason);
      // A default routine looks in the projects of its agent without being given any.
      if (i % 2 === 0) continue;
      for (const [n, projectId] of projects.entries()) {
        const routineId = written.scheduled.scheduleId;
        const set = { routineId, columnIds: null, toolOverrides: null, separate: n === 0 };
        const mapped = await mappings.add([projectId, agentId], set);
        if (!mapped.ok) throw new Error(mapped.detail);
      }
    }
    for (let night = 0; night < answerSchedules; night++) {
      await house.liveTo(EVENING + night * DAY + nightMs);
      // By day the machine is off.
      await house.relay().stop();
      house.clock.pass(EVENING + (night + 1) * DAY - house.clock.now());
      await house.restart();
    }
    const rows = await house.eyes.between(0, house.clock.now(), { most: 1_000_000 });
    const passed = rows.filter(({ reason }) => reason === 'nothing-waits');
    const others = rows.filter(({ state, reason }) => state !== 'missed' && reason === null);
    const runs = house.relay().events.filter(({ kind }) => kind === 'run-started');
    if (house.model.requests.length > 0 || others.length > 0 || runs.length > 0)
      throw new Error(`${house.model.requests.length} requests, ${others.length} moments that did not pass by`);
    // Each has two an hour; dark from 3:30 to 4:30.
    if (passed.length < answerSchedules * AGENTS.length * ((2 * nightMs) / HOUR - 3))
      throw new Error(`only ${passed.length} moments came`);
    return passed.length;
  } finally {
    await house.close();
  }
}

/**
 * So many schedules of eight agents are due while the relay is dead for eight hours. Answers with
 * what became of the moments.
 */
export async function awayForHours(
  many = 40,
  shared?: Store,
): Promise<{
  readonly madeUp: number;
  readonly missed: number;
  readonly atOnce: number;
}> {
  const start = Date.UTC(2027, 5, 1, 12, 1);
  // Long enough for the next one to begin meanwhile, also on a busy machine.
  const script: Script = () => [{ wait: 60 }, { say: 'I am late.' }];
  const house = await openScheduleHouse({ start, script, ...(shared ? { shared } : {}) });
  try {
    for (let i = 0; i < many; i++) {
      const written = await house.relay().team.schedules.add(
        routine({
          agentId: AGENTS[i % AGENTS.length] ?? '',
          name: `Routine ${i}`,
          timing: { kind: 'every', minutes: 10, offset: 3 + (i % 5) },
          catch_up: 'once',
        }),
      );
      if (!written.ok) throw new Error(written.reason);
    }
    house.relay().die();
    house.clock.pass(8 * HOUR);
    const back = house.clock.now();
    await house.restart();
    await house.liveTo(back + MINUTE);
    const rows = await house.eyes.between(start, back - SCHEDULE_LIMITS.catchUp.onTimeMs - 1, { most: 10_000 });
    const late = rows.filter((row) => row.late);
    const perSchedule = new Map<string, number>();
    for (const { scheduleId } of late) perSchedule.set(scheduleId, (perSchedule.get(scheduleId) ?? 0) + 1);
    const atOnce = Math.max(...house.model.requests.map(({ open }) => open));
    const faults = [
      ...[...perSchedule].filter(([, count]) => count > 1).map(([id, count]) => `${id} was made up for ${count} times`),
      ...late
        .filter(({ state }) => state !== 'done')
        .map(({ name, state, reason }) => `${name} was made up for, and is ${state}, ${reason}`),
      ...rows.filter((row) => !row.late && row.state !== 'missed').map(({ name, state }) => `${name} is ${state}`),
      ...(atOnce > SCHEDULE_LIMITS.lateAtOnce ? [`${atOnce} ran at once`] : []),
      ...(late.length < many ? [`only ${late.length} were made up for`] : []),
    ];
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return { madeUp: late.length, missed: rows.length - late.length, atOnce };
  } finally {
    await house.close();
  }
}

/**
 * So many routines of eight agents are due at one moment. Throws where one has another number of
 * ends than one, or where more ran at once than may. Answers with what became of them, and how long
 * somebody waited for the list meanwhile, in ms.
 */
export async function crowdAtOnce(
  many = 400,
  shared?: Store,
): Promise<{ readonly ends: Readonly<Record<string, number>>; readonly atOnce: number; readonly slowest: number }> {
  const start = Date.UTC(2027, 5, 1, 12, 1);
  const house = await openScheduleHouse({
    start,
    script: () => [{ wait: 60 }, { say: 'One of many.' }],
    ...(shared ? { shared } : {}),
  });
  try {
    const { schedules } = house.relay().team;
    for (let i = 0; i < many; i++) {
      const timing = { kind: 'once', at: start + HOUR } as const;
      const written = await schedules.add(
        routine({ agentId: AGENTS[i % AGENTS.length] ?? '', name: `Routine ${i}`, timing }),
      );
      if (!written.ok) throw new Error(written.reason);
    }
    house.clock.pass(HOUR);
    let slowest = 0;
    let over = false;
    const asking = (async () => {
      while (!over) {
        const at = performance.now();
        await schedules.list();
        slowest = Math.max(slowest, performance.now() - at);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    })();
    await house.liveTo(start + HOUR + MINUTE);
    over = true;
    await asking;
    const rows = await house.eyes.between(0, house.clock.now(), { most: 10 * many });
    const ends: Record<string, number> = {};
    for (const { state, reason } of rows) ends[reason ?? state] = (ends[reason ?? state] ?? 0) + 1;
    const atOnce = Math.max(...house.model.requests.map(({ open }) => open));
    const faults = [
      ...(rows.length === many ? [] : [`${rows.length} moments of ${many} routines`]),
      ...(rows.every(({ endedAt }) => endedAt !== null) ? [] : ['some have no end']),
      ...(house.model.requests.length === (ends['done'] ?? 0) ? [] : [`${house.model.requests.length} requests`]),
      ...(atOnce > SCHEDULE_LIMITS.atOnce ? [`${atOnce} ran at once`] : []),
    ];
    if (faults.length > 0) throw new Error(`${faults.join(', ')}: ${JSON.stringify(ends)}`);
    return { ends, atOnce, slowest: Math.round(slowest) };
  } finally {
    await house.close();
  }
}

/**
 * Two relays on one store. The first hangs, after its claim or in its run, for longer than its
 * lease; the second takes over; then the first comes back. Throws where one moment asked a model
 * twice for the same work, or its end changed.
 */
export async function hungRelay(where: 'claimed' | 'in a run', shared?: Store): Promise<string> {
  const place = shared ? null : await createStorePlace('sqlite');
  const store = shared ?? (await place?.open());
  if (!store) throw new Error('There is no store.');
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const model = await startScriptedModel(() =>
    where === 'in a run' ? [{ say: 'I have begun. ' }, { until: held }, { say: 'And I end.' }] : [{ say: 'Done.' }],
  );
  const mind = createAnthropicMind({ key: 'a-key-for-tests', baseUrl: model.url });
  const home = randomUUID();
  const clock = createHandClock(Date.UTC(2027, 5, 1, 12));
  const eyes = createScheduleRows({ db: store.db, home, limits: SCHEDULE_LIMITS });
  const openOne = () => openMortalRelay({ store, home, mind, now: clock.now, alone: false });
  const [first, second] = [await openOne(), await openOne()];
  try {
    await first.team.directory.set({ agents: [{ agentId: 'agent-0', name: 'Lyra', position: 0, retired: false }] });
    await first.team.snapshots.leave('agent-0', SNAPSHOT, 'v1');
    await first.team.schedules.clock.start();
    const written = await first.team.schedules.add(routine({ timing: { kind: 'every', minutes: 60, offset: 1 } }));
    if (!written.ok) throw new Error(written.reason);
    // The new routine has woken the clock. Without this wait that look could be the one that hangs.
    await first.team.schedules.clock.whenQuiet();
    clock.pass(MINUTE);
    const goOn = where === 'claimed' ? first.hangAt(/with "next"/i) : null;
    first.team.schedules.clock.wake();
    const state = where === 'claimed' ? 'claimed' : 'running';
    const rows = () => eyes.between(0, clock.now(), { most: 10 });
    while ((await rows())[0]?.state !== state || (where === 'in a run' && model.requests.length === 0))
      await new Promise((resolve) => setTimeout(resolve, 5));
    clock.pass(SCHEDULE_LIMITS.leaseMs + 1_000);
    await second.team.schedules.clock.start();
    await second.team.schedules.clock.whenQuiet();
    const [taken] = await rows();
    // It comes back, and goes on where it was.
    goOn?.();
    release();
    await first.team.schedules.clock.whenQuiet();
    const after = await rows();
    const [row] = after;
    const wanted = where === 'claimed' ? 'done' : 'crashed';
    const faults = [
      ...(after.length === 1 ? [] : [`${after.length} rows`]),
      ...(row?.state === wanted ? [] : [`it is ${row?.state}, not ${wanted}`]),
      ...(JSON.stringify(row) === JSON.stringify(taken) ? [] : ['its end has changed']),
      ...(model.requests.length === 1 ? [] : [`${model.requests.length} requests`]),
    ];
    if (faults.length > 0) throw new Error(`A relay that hung ${where}: ${faults.join(', ')}`);
    return `${where}: ${wanted} once, one request`;
  } finally {
    release();
    await first.stop();
    await second.stop();
    await mind.close();
    await model.close();
    if (!shared) await store.close();
    await place?.remove();
  }
}

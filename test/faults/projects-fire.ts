/**
 * Many agents of two relay processes on one Postgres claim all tasks of their boards at once. The
 * processes are killed (`kill -9`) again and again meanwhile. A trigger in the store writes down
 * every change of a claim. Afterwards: one holder at a time, each by its fencing token; no task
 * lost; no lease longer than its run by more than a lease.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { z } from 'zod';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import { createDirectory } from '../../server/team/directory/index.ts';
import { createTestClock } from '../support/gate.ts';
import { good, newTask, openClaimHouse } from '../support/claim-house.ts';
import { programOf } from '../support/relay-build.ts';
import type { StorePlace } from '../support/stores.ts';
import type { Claiming } from '../support/task-claimer.ts';
import { demand } from './checks.ts';

export interface FirePlan {
  readonly agents: number;
  readonly tasks: number;
  readonly kills: number;
  readonly leaseMs: number;
  readonly workMs: number;
  /** Most ms between two kills. */
  readonly killWithinMs: number;
}
const PROCESSES = 2;
/** ms by which a busy machine may be late. */
const LATE_MS = 10_000;
const AUDIT = [
  `create table roost.claim_audit (id bigint generated always as identity, at bigint not null, task text not null,
     token bigint not null, was_token bigint not null, run text, was_run text, lease bigint, was_lease bigint)`,
  `create function roost.audit_claim() returns trigger language plpgsql as $$
   begin
     insert into roost.claim_audit (at, task, token, was_token, run, was_run, lease, was_lease)
     values ((extract(epoch from clock_timestamp()) * 1000)::bigint, new.task, new.claim_token, old.claim_token,
       case when new.holder_json is null then null else new.run end,
       case when old.holder_json is null then null else old.run end, new.lease_until, old.lease_until);
     return new;
   end $$`,
  `create trigger audit_claim after update on roost.tasks for each row execute function roost.audit_claim()`,
];
/** The id of a run, which the store has after `run `. */
const runSchema = z
  .string()
  .transform((run) => run.replace(/^run /, ''))
  .nullable();
const auditSchema = z.object({
  ...{ at: z.coerce.number(), task: z.string(), token: z.coerce.number(), was_token: z.coerce.number() },
  ...{ run: runSchema, was_run: runSchema },
  ...{ lease: z.coerce.number().nullable(), was_lease: z.coerce.number().nullable() },
});
type Audit = z.output<typeof auditSchema>;

/** What is wrong with the claims, as the store has seen them. `killed`: when, by process. */
function faultsOfClaims(
  rows: readonly Audit[],
  ended: ReadonlySet<string>,
  killed: ReadonlyMap<string, number>,
  leaseMs: number,
): string[] {
  const faults: string[] = [];
  const holders = new Map<string, string>();
  for (const { at, task, token, was_token: wasToken, run, was_run: wasRun, lease, was_lease: wasLease } of rows) {
    const where = `task ${task}, token ${token}`;
    if (token < wasToken || token > wasToken + 1) faults.push(`${where}: the token went from ${wasToken}`);
    const isNew = token === wasToken + 1;
    if (isNew && wasRun !== null && (wasLease ?? 0) >= at)
      faults.push(`${where}: ${run ?? ''} took it from ${wasRun}, whose lease was not over`);
    if (!isNew && run !== wasRun && run !== null) faults.push(`${where}: ${run} has it without a token of its own`);
    if (run !== null && (holders.get(`${task} ${token}`) ?? run) !== run) faults.push(`${where}: it has two holders`);
    if (run !== null) holders.set(`${task} ${token}`, run);
    if (wasRun !== null && run === null && (wasLease ?? 0) >= at && !ended.has(wasRun))
      faults.push(`${where}: it was taken from ${wasRun}, which had not ended`);
    const dead = killed.get(run?.split(' ')[0] ?? '');
    if (dead !== undefined && lease !== null && lease > dead + leaseMs)
      faults.push(`${where}: the lease of ${run ?? ''} outlives it by ${lease - dead} ms`);
    const diedAt = killed.get(wasRun?.split(' ')[0] ?? '');
    if (diedAt !== undefined && wasRun !== run && at > diedAt + leaseMs + LATE_MS)
      faults.push(`${where}: ${wasRun ?? ''} was dead for ${at - diedAt} ms when it was released`);
  }
  return faults;
}

/** Answers with a line about what happened. */
export async function claimUnderFire(place: StorePlace, plan: FirePlan, random: () => number): Promise<string> {
  const { leaseMs, workMs } = plan;
  const store = await place.open();
  const children = new Map<number, ChildProcess>();
  try {
    const { db } = store;
    for (const statement of AUDIT) await sql.raw(statement).execute(db);
    const agents = Array.from({ length: plan.agents }, (_none, i) => `agent-${i}`);
    const home = `fire-${Math.floor(random() * 1e9)}`;
    const directory = createDirectory({ db, home, tell: () => undefined, now: Date.now });
    await directory.set({
      agents: agents.map((agentId, i) => ({ agentId, name: agentId, position: i < 8 ? i : null, retired: false })),
    });
    const [relay] = await openClaimHouse([store], createTestClock(Date.now()), { home, directory });
    if (!relay) throw new Error('there is one');
    const { projects } = relay;
    const boards: string[] = [];
    for (let i = 0; i < agents.length; i += LIMITS.threadParticipants) {
      const able = agents.slice(i, i + LIMITS.threadParticipants);
      boards.push(good(await projects.create({ name: `Fire ${i}`, instructions: '', agents: able })).projectId);
    }
    const boardOf = (i: number) => boards[i % boards.length] ?? '';
    for (let i = 0; i < plan.tasks; i += 1)
      good(await projects.createTask('human', boardOf(i), newTask(`T${i}`, 'ready')));
    const claimers = agents.map((agentId, i) => ({
      agentId,
      projectId: boards[Math.floor(i / LIMITS.threadParticipants)] ?? '',
    }));

    const program = await programOf('test/support/task-claimer.ts');
    const ended = new Set<string>();
    const killed = new Map<string, number>();
    const names = new Map<number, string>();
    let started = 0;
    const start = (place_: number) => {
      const name = `p${++started}`;
      const claiming: Claiming = {
        ...{ databaseUrl: place.databaseUrl ?? '', home, name, leaseMs, workMs },
        agents: claimers.filter((_agent, i) => i % PROCESSES === place_),
      };
      const child = spawn(process.execPath, [program, JSON.stringify(claiming)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      createInterface({ input: child.stdout }).on('line', (line) => ended.add(line));
      children.set(place_, child);
      names.set(place_, name);
    };
    const kill = (place_: number) =>
      new Promise<void>((resolve) => {
        const child = children.get(place_);
        child?.once('close', () => {
          killed.set(names.get(place_) ?? '', Date.now());
          resolve();
        });
        child?.kill('SIGKILL');
      });
    const left = async () => {
      const { rows } = await sql<{ count: string }>`
        select count(*) as count from roost.tasks where home = ${home} and column_json <> '"review"'`.execute(db);
      return Number(rows[0]?.count);
    };
    for (let i = 0; i < PROCESSES; i += 1) start(i);
    for (let kills = 0; kills < plan.kills; kills += 1) {
      await sleep(random() * plan.killWithinMs);
      const victim = Math.floor(random() * PROCESSES);
      await kill(victim);
      start(victim);
    }
    const atKills = plan.tasks - (await left());
    while ((await left()) > 0) await sleep(200);
    for (let i = 0; i < PROCESSES; i += 1) children.get(i)?.kill('SIGKILL');

    const { rows } = await sql`select * from roost.claim_audit order by id`.execute(db);
    const audit = z.array(auditSchema).parse(rows);
    const finished = { column: 'review', assignee: null, label: null, after: 0, limit: 1_000 };
    const tasks = (await Promise.all(boards.map(async (id) => good(await projects.tasks(id, finished)).tasks))).flat();
    demand('After the fire', [
      ...faultsOfClaims(audit, ended, killed, leaseMs),
      ...(tasks.length === plan.tasks ? [] : [`${plan.tasks - tasks.length} tasks are lost`]),
      ...tasks.flatMap(({ number, history }) => {
        const moves = history.filter(({ what, columnId }) => what === 'moved' && columnId === 'review');
        const claim = history.findLast(({ what }) => what === 'claimed');
        return moves.length === 1 && moves[0]?.by === claim?.by
          ? []
          : [`#${number} was not finished once, by its holder`];
      }),
    ]);
    const claims = audit.filter(({ token, was_token: was }) => token > was).length;
    return `${plan.agents} agents claimed ${plan.tasks} tasks ${claims} times through ${plan.kills} kills; ${atKills} were finished by the last of them, and all in the end`;
  } finally {
    for (const child of children.values()) child.kill('SIGKILL');
    await store.close();
  }
}

/**
 * Claims of tasks: who takes one, how long it holds, and how it ends. A claim of a run is renewed
 * while the run goes on. It ends with its run, or with its lease.
 */
import type { RunId, TaskId } from '../../../src/shared/domain/ids.ts';
import { takesOneTask } from '../../../src/shared/domain/one-task.ts';
import { columnOfKind } from '../../../src/shared/domain/projects.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import type { ProjectValue } from '../../../src/shared/protocol/projects.ts';
import type { EventLog } from '../../log/index.ts';
import type { ProjectsBase } from './base.ts';
import type { Projects, Refused } from './contract.ts';
import { readClaimedIn } from './board.ts';
import { refuse } from './outcome.ts';
import {
  claimOf,
  json,
  projectValueOf,
  readClaims,
  readProjectRow,
  runOf,
  taskOf,
  type TaskRow,
  withHistory,
} from './rows.ts';
import {
  atWorkText,
  isHeldBy,
  LOST,
  refuseClaim,
  refuseOther,
  RUN_ENDED,
  withFailedClaim,
  withoutClaim,
} from './taking.ts';
import type { Change, ChangeTask } from './task-changes.ts';

type Claims = Pick<
  Projects,
  'agentStopped' | 'called' | 'claim' | 'claims' | 'failClaim' | 'heldBy' | 'recover' | 'release' | 'close'
>;

export function createClaims(
  {
    db,
    home,
    directory,
    log,
    now,
    timers,
    connected,
    changed,
    logger,
    setAside,
    settings,
  }: ProjectsBase & {
    readonly log: Pick<EventLog, 'subscribe'>;
  },
  changing: ChangeTask,
): Claims & {
  /** Ends this claim, unless it has ended or the task was claimed again. */
  endClaim(row: Pick<TaskRow, 'project' | 'task' | 'claim_token'>, note: string): Promise<void>;
} {
  const failed = (what: string) => (error: unknown) => logger.error(what, { error });
  const unclaimed = (row: TaskRow, project: ProjectValue, by: string, note: string) =>
    withoutClaim(row, project, { time: now(), by, note });

  /** Renewals of this process, by task: the tokens of its claims. */
  const tokens = new Map<TaskId, number>();
  let stopRenewing: (() => void) | null = null;
  function renewLater(): void {
    stopRenewing ??= timers.after(settings.renewMs, () => {
      stopRenewing = null;
      void renew()
        .catch(failed('A claim of a task could not be renewed. The relay tries again.'))
        .finally(() => {
          if (tokens.size > 0) renewLater();
        });
    });
  }
  async function renew(): Promise<void> {
    for (const [taskId, token] of tokens) {
      const { numUpdatedRows } = await db
        .updateTable('tasks')
        .set({ lease_until: now() + settings.leaseMs })
        .where('home', '=', home)
        .where('task', '=', taskId)
        .where('claim_token', '=', token)
        .where('holder_json', 'is not', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n && tokens.get(taskId) === token) tokens.delete(taskId);
    }
  }

  async function endClaim(row: Pick<TaskRow, 'project' | 'task' | 'claim_token'>, note: string): Promise<void> {
    tokens.delete(row.task);
    const end = () =>
      changing(row.project, row.task, ({ row: at, project }) =>
        Promise.resolve(
          at.holder_json === null || at.claim_token !== row.claim_token ? null : unclaimed(at, project, 'relay', note),
        ),
      );
    await setAside.each('claims', [row], ({ task }) => task, end);
  }
  async function endRun(runId: RunId, note: string): Promise<void> {
    const rows = await db
      .selectFrom('tasks')
      .select(['project', 'task', 'claim_token'])
      .where('home', '=', home)
      .where('run', '=', `run ${runId}`)
      .where('holder_json', 'is not', null)
      .execute();
    for (const row of rows) await endClaim(row, note);
  }
  let stopSweeping: (() => void) | null = null;
  /** Ends claims whose lease is over, and comes back when the next one may be. */
  async function sweep(): Promise<void> {
    const rows = await db
      .selectFrom('tasks')
      .select(['project', 'task', 'claim_token', 'lease_until'])
      .where('home', '=', home)
      .where('holder_json', 'is not', null)
      .orderBy('lease_until')
      .execute();
    for (const row of rows) if ((row.lease_until ?? 0) < now()) await endClaim(row, LOST);
    const next = rows.find(({ lease_until: until }) => (until ?? 0) >= now())?.lease_until;
    if (next != null) sweepLater(next - now() + 1);
  }
  /** Looks again within a lease, because a claim of another relay may be over before this one. */
  function sweepLater(ms: number): void {
    stopSweeping ??= timers.after(Math.min(ms, settings.leaseMs), () => {
      stopSweeping = null;
      void sweep().catch(
        failed('Claims that are over could not be ended. The next claim or list of ready tasks ends them.'),
      );
    });
  }
  const unsubscribe = log.subscribe(({ event }) => {
    if (event.kind === 'run-ended')
      void endRun(event.runId, event.outcome === 'crashed' ? LOST : RUN_ENDED).catch(
        failed('The claims of a run that ended could not be ended. They end with their lease.'),
      );
  });

  return {
    endClaim,
    async agentStopped(agentId) {
      for (const projectId of await readClaimedIn(db, home, agentId)) changed(projectId);
    },
    claims: (projectId) => readClaims(db, home, now(), { projectId }, setAside),
    async heldBy(taskId) {
      const [claim] = await readClaims(db, home, now(), { taskId }, setAside);
      return claim ? { agentId: claim.agentId, token: claim.token, run: claim.run } : null;
    },
    async claim(holder, projectId, taskId, columns) {
      await sweep();
      const { agentId } = holder;
      const run = runOf(holder);
      const leaseMs = 'runId' in holder ? settings.leaseMs : settings.clientLeaseMs;
      // Read before the transaction, which must not wait for a second connection.
      const names = new Map((await directory.all()).map((member) => [member.agentId, member.name]));
      const projectRow = await readProjectRow(db, home, projectId);
      const ofProject = projectRow && { ...projectValueOf(projectRow), projectId };
      const spent = (ofProject && (await connected.work?.spentToday(ofProject)))?.detail ?? null;
      let token = 0;
      const take: Change = async ({ trx, row, value, project }) => {
        const claim = claimOf(row, now());
        const lease = {
          holder_json: json(agentId),
          run,
          lease_until: now() + leaseMs,
          claim_token: row.claim_token + 1,
        };
        token = lease.claim_token;
        if (claim?.agentId === agentId) {
          await trx.updateTable('tasks').set(lease).where('home', '=', home).where('task', '=', taskId).execute();
          return null;
        }
        if (claim) {
          const name = titled(names.get(claim.agentId) ?? claim.agentId);
          return refuse('not-ready', `${name} works on this task since ${new Date(claim.since).toISOString()}.`);
        }
        const at = { agentId, now: now(), columns, setAside };
        const why =
          (await refuseClaim(trx, home, { ...project, projectId }, taskOf(row, now(), connected.restOf), at)) ?? spent;
        if (why !== null) return refuse('not-ready', typeof why === 'string' ? why : atWorkText(why, agentId, names));
        const columnId = columnOfKind(project, 'in_progress')?.columnId ?? value.columnId;
        return {
          value: withHistory({ ...value, columnId }, { time: now(), by: agentId, what: 'claimed', columnId, note: '' }),
          claim: { ...lease, claimed_at: now(), claimed_from_json: json(value.columnId) },
        };
      };
      const outcome = await changing<Refused>(projectId, taskId, take, takesOneTask);
      if (outcome.ok) {
        if ('runId' in holder) {
          tokens.set(taskId, token);
          renewLater();
        }
        sweepLater(leaseMs + 1);
      }
      return outcome;
    },
    failClaim: (agentId, projectId, taskId, why) =>
      changing<Refused>(projectId, taskId, ({ row, project }) =>
        Promise.resolve(
          isHeldBy(row, agentId, now()) ? withFailedClaim(row, project, { time: now(), why, settings }) : null,
        ),
      ),
    async release(by, projectId, taskId, note) {
      const outcome = await changing<Refused>(projectId, taskId, ({ row, project }) => {
        if (row.holder_json === null) return Promise.resolve(null);
        return Promise.resolve(refuseOther(row, by, now()) ?? unclaimed(row, project, by, note));
      });
      if (outcome.ok) tokens.delete(taskId);
      return outcome;
    },
    async called(credentialId) {
      await db
        .updateTable('tasks')
        .set({ lease_until: now() + settings.clientLeaseMs })
        .where('home', '=', home)
        .where('run', '=', `credential ${credentialId}`)
        .where('holder_json', 'is not', null)
        .where('lease_until', '>=', now())
        .execute();
    },
    recover: sweep,
    close: unsubscribe,
  };
}

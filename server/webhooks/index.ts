/**
 * Webhooks: addresses at which strangers create a task of a project, or trigger a routine.
 *
 * `said.ts` reads what a stranger sends. `routes.ts` has the person's calls, and the strangers'.
 *
 * Main types: `Webhooks`, `Delivery`.
 *
 * Invariants:
 * - The store has the secret of an address only as a hash, and that of signatures sealed.
 * - A delivery creates one task at most, also if the relay dies meanwhile: the task's id is stored
 *   with the delivery, before the task.
 * - A stranger's task has the webhook as its author, never the person.
 *
 * It does not know how tasks are stored or routines run. Their parts decide, and pay.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { webhookAuthor } from '../../src/shared/domain/applications.ts';
import type { WebhookId } from '../../src/shared/domain/ids.ts';
import {
  type createdWebhookSchema,
  createWebhookSchema,
  type Webhook,
  type WebhookTask,
} from '../../src/shared/protocol/webhooks.ts';
import type { z } from 'zod';
import { hashOf } from '../access/index.ts';
import type { EventLog } from '../contracts/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { Schedules } from '../schedules/index.ts';
import type { Projects } from '../team/projects/index.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import type { Sealer } from '../platform/sealer.ts';
import { type Db, parseText } from '../store/index.ts';
import { WEBHOOK_SETTINGS } from './settings.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';

/** A refusal of what a webhook was asked to do. `retryAfterMs`: when another try makes sense. */
export interface WebhookRefusal {
  readonly ok: false;
  readonly reason: 'gone' | 'off' | 'too-many-calls' | 'too-many';
  readonly detail: string;
  readonly retryAfterMs?: number;
}
const refuse = (reason: WebhookRefusal['reason'], detail: string, retryAfterMs?: number): WebhookRefusal => ({
  ok: false,
  reason,
  detail,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const GONE = refuse('gone', 'There is no such webhook.');

/** One call of a stranger that is to do something. */
export interface Delivery {
  /**
   * What makes it the same delivery as another: the body where that is signed, its id elsewhere.
   * Empty: it is like no other.
   */
  readonly same: readonly string[];
  /** Null for a routine. */
  readonly task: WebhookTask | null;
  /** Names of the issue that the task is about. The webhook makes one task of it. */
  readonly issues?: readonly string[];
}

type Made = z.output<typeof createdWebhookSchema>;
type Target = Webhook['target'];

/** A webhook as its secret finds it. */
export interface FoundWebhook {
  readonly webhookId: WebhookId;
  readonly name: string;
  readonly target: Target;
  /** Only bodies with a signature are taken, and nothing beside them is trusted: no header. */
  readonly signed: boolean;
  /** Whether the body has this signature, as the header names it. */
  isSignedBy(body: Uint8Array, signature: string | undefined): boolean;
  deliver(delivery: Delivery): Promise<{ readonly ok: true; readonly repeated: boolean } | WebhookRefusal>;
  /** All these names are of one issue, as after its transfer to another repository. */
  link(issues: readonly string[]): Promise<void>;
}

export interface Webhooks {
  list(): Promise<readonly Webhook[]>;
  create(
    given: z.output<typeof createWebhookSchema>,
  ): Promise<{ readonly ok: true; readonly made: Made } | WebhookRefusal>;
  /** Null: there is no such webhook. */
  renew(webhookId: WebhookId): Promise<Made | null>;
  remove(webhookId: WebhookId): Promise<boolean>;
  /** Null: no webhook has this secret. */
  find(secret: string): Promise<FoundWebhook | null>;
  /** Deletes webhooks whose project or routine is gone. Called once, at the start. */
  recover(): Promise<void>;
  /** Resolves when nothing is under way. */
  close(): Promise<void>;
}

export interface WebhooksDeps {
  readonly db: Db;
  /** Id of the home. */
  readonly home: string;
  readonly sealer: Sealer;
  readonly projects: Pick<Projects, 'read' | 'task' | 'createTask'>;
  readonly schedules: Pick<Schedules, 'get' | 'trigger'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly logger: Pick<Logger, 'warn'>;
  readonly tell: (event: RoostEvent) => void;
  /** In ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
  readonly settings?: typeof WEBHOOK_SETTINGS;
}

interface Row {
  readonly hook: WebhookId;
  readonly name_json: string;
  readonly target_json: string;
  readonly hint: string;
  readonly sealed_signing: Uint8Array | null;
  readonly created_at: number;
  readonly used_at: number | null;
}

const targetOf = (row: Pick<Row, 'target_json'>): Target =>
  createWebhookSchema.shape.target.parse(JSON.parse(row.target_json));
const webhookOf = (row: Row): Webhook => ({
  webhookId: row.hook,
  name: parseText(row.name_json),
  target: targetOf(row),
  signed: row.sealed_signing !== null,
  hint: row.hint,
  createdAt: row.created_at,
  usedAt: row.used_at,
});
/** 256 random bits: such a secret cannot be guessed, so its hash needs no salt. */
const newSecret = () => randomBytes(32).toString('base64url');
const about = (webhookId: WebhookId) => `signatures of the webhook ${webhookId}`;
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
/**
 * Rows of issues. They say which task a webhook has made of an issue, and stay as long as the
 * webhook.
 */
const ISSUE = 'issue ';
const issueHash = (name: string) => `${ISSUE}${digest(name)}`;

const SIGNATURE = /^sha256=(?<hex>[0-9a-f]{64})$/;

export function createWebhooks({
  db,
  home,
  sealer,
  projects,
  schedules,
  log,
  logger,
  tell,
  now,
  newId,
  setAside = SETS_NOTHING_ASIDE,
  settings = WEBHOOK_SETTINGS,
}: WebhooksDeps): Webhooks {
  const changed = () => tell({ kind: 'changed', time: now(), what: 'webhooks', agentId: null });
  const rows = () => db.selectFrom('hooks').selectAll().where('home', '=', home);
  const rowOf = async (webhookId: WebhookId) => (await rows().where('hook', '=', webhookId).executeTakeFirst()) ?? null;

  /** Why the webhook can do nothing, because of its project or routine. Null: it can. */
  async function refuseTarget(target: Target): Promise<WebhookRefusal | null> {
    if (target.kind === 'project') return (await projects.read(target.projectId)).ok ? null : GONE;
    const scheduled = await schedules.get(target.scheduleId);
    if (scheduled?.schedule.kind !== 'routine') return GONE;
    if (scheduled.elsewhere !== null) return refuse('off', 'The routine is due at another relay of this household.');
    return scheduled.schedule.enabled && scheduled.pausedWhy === null
      ? null
      : refuse('off', 'The routine is switched off.');
  }
  const remove = async (webhookId: WebhookId) => {
    const { numDeletedRows } = await db
      .deleteFrom('hooks')
      .where('home', '=', home)
      .where('hook', '=', webhookId)
      .executeTakeFirst();
    if (numDeletedRows > 0n) changed();
    return numDeletedRows > 0n;
  };

  const each = async (work: (row: Row) => Promise<void>) =>
    await setAside.each('hooks', await rows().execute(), ({ hook }) => hook, work);

  /** Deletes webhooks whose target is gone. */
  async function removeGone(): Promise<void> {
    await each(async (row) => {
      if ((await refuseTarget(targetOf(row)))?.reason === 'gone') await remove(row.hook);
    });
  }
  /** Deletes the webhooks of a project or a routine that was deleted. */
  async function removeOf(id: string): Promise<void> {
    await each(async (row) => {
      const target = targetOf(row);
      if ((target.kind === 'project' ? target.projectId : target.scheduleId) === id) await remove(row.hook);
    });
  }
  const running = new Set<Promise<void>>();
  const unsubscribe = log.subscribe(({ event }) => {
    if (event.kind !== 'record' || (event.record.type !== 'project' && event.record.type !== 'schedule')) return;
    if (!event.record.value.removed) return;
    const removing = removeOf(event.record.id).catch((error: unknown) =>
      logger.warn('Webhooks of what was deleted are still there. The next start deletes them.', { error }),
    );
    running.add(removing);
    void removing.finally(() => running.delete(removing));
  });

  function newSecrets(webhookId: WebhookId, signed: boolean) {
    const secret = newSecret();
    const signingSecret = signed ? newSecret() : null;
    return {
      given: { secret, signingSecret },
      stored: {
        secret_hash: hashOf(secret),
        hint: secret.slice(-settings.hint),
        sealed_signing: signingSecret === null ? null : sealer.seal(signingSecret, about(webhookId)),
      },
    };
  }

  const rowsOfIssue = (on: Db, webhookId: WebhookId, issues: readonly string[]) =>
    on
      .selectFrom('hook_deliveries')
      .select(['task', 'taken_at', 'done'])
      .where('home', '=', home)
      .where('hook', '=', webhookId)
      // SQL has no empty list. No row is only `ISSUE`.
      .where('delivery_hash', 'in', [ISSUE, ...issues.map(issueHash)])
      .orderBy('taken_at')
      .orderBy('task');
  async function insertIssues(
    on: Db,
    webhookId: WebhookId,
    issues: readonly string[],
    values: { readonly task: string; readonly taken_at: number; readonly done: boolean },
  ): Promise<void> {
    for (const name of issues)
      await on
        .insertInto('hook_deliveries')
        .values({ home, hook: webhookId, delivery_hash: issueHash(name), ...values })
        .onConflict((conflict) => conflict.columns(['home', 'hook', 'delivery_hash']).doUpdateSet(values))
        .execute();
  }
  /** Ids of tasks that the webhook made of this issue and that were deleted since. */
  async function deletedTasksOf(
    webhookId: WebhookId,
    target: Target,
    issues: readonly string[],
  ): Promise<readonly string[]> {
    if (target.kind !== 'project' || issues.length === 0) return [];
    const deleted: string[] = [];
    for (const { task, done } of await rowsOfIssue(db, webhookId, issues).execute())
      if (done && !(await projects.task(target.projectId, task)).ok) deleted.push(task);
    return deleted;
  }

  /**
   * Takes a delivery once. The row of the webhook is locked meanwhile, so that the calls of an hour
   * are counted one after the other.
   */
  const take = (
    { hook: webhookId, sealed_signing: sealed }: Row,
    same: readonly string[],
    issues: readonly string[],
    deleted: readonly string[],
  ) =>
    db.transaction().execute(async (trx) => {
      const webhook = trx.selectFrom('hooks').select('hook').where('home', '=', home).where('hook', '=', webhookId);
      if (!(await webhook.forUpdate().executeTakeFirst())) return GONE;
      const taken = trx.selectFrom('hook_deliveries').where('home', '=', home).where('hook', '=', webhookId);
      const hashes = same.length === 0 ? [digest(newId())] : same.map(digest);
      const [before] = await taken
        .select(['task', 'taken_at', 'done'])
        .where('delivery_hash', 'in', hashes)
        .orderBy('taken_at')
        .limit(1)
        .execute();
      if (before)
        return { ok: true, taskId: before.task, at: before.taken_at, done: before.done, repeated: true } as const;
      const ofIssue = (await rowsOfIssue(trx, webhookId, issues).execute()).find(({ task }) => !deleted.includes(task));
      if (ofIssue) {
        await insertIssues(trx, webhookId, issues, ofIssue);
        return { ok: true, taskId: ofIssue.task, at: ofIssue.taken_at, done: ofIssue.done, repeated: true } as const;
      }
      const time = now();
      const lately = await taken
        .select(({ fn }) => [fn.count<string>('task').distinct().as('count'), fn.min('taken_at').as('first')])
        .where('taken_at', '>', time - settings.hourMs)
        .executeTakeFirstOrThrow();
      if (Number(lately.count) >= settings.callsInAnHour)
        return refuse(
          'too-many-calls',
          `A webhook takes ${settings.callsInAnHour} calls an hour.`,
          Number(lately.first) + settings.hourMs - time,
        );
      // A signature is valid as long as its secret, and so long its delivery is remembered.
      if (sealed === null)
        await trx
          .deleteFrom('hook_deliveries')
          .where('home', '=', home)
          .where('hook', '=', webhookId)
          .where('taken_at', '<', time - settings.deliveriesKeptMs)
          .where('delivery_hash', 'not like', `${ISSUE}%`)
          .execute();
      const taskId = newId();
      await trx
        .insertInto('hook_deliveries')
        .values(hashes.map((delivery_hash) => ({ home, hook: webhookId, delivery_hash, taken_at: time, task: taskId })))
        .execute();
      await insertIssues(trx, webhookId, issues, { task: taskId, taken_at: time, done: false });
      return { ok: true, taskId, at: time, done: false, repeated: false } as const;
    });

  async function deliver(row: Row, { same, task, issues = [] }: Delivery): ReturnType<FoundWebhook['deliver']> {
    const target = targetOf(row);
    const refused = await refuseTarget(target);
    if (refused) return refused;
    const taken = await take(row, same, issues, await deletedTasksOf(row.hook, target, issues));
    if (!taken.ok) return taken;
    if (taken.done) return { ok: true, repeated: true };
    if (target.kind === 'routine') {
      // The time of the delivery names the occurrence: a repeat triggers no second one.
      if (!(await schedules.trigger(target.scheduleId, taken.at))) return GONE;
    } else if (task !== null) {
      const { title, text } = task;
      const made = await projects.createTask(
        webhookAuthor(parseText(row.name_json)),
        target.projectId,
        {
          ...{ title, description: text, criteria: [], priority: 'normal', labels: [], blockedBy: [], assignee: null },
        },
        { taskId: taken.taskId, column: target.column },
      );
      // `no-task`: it was created by this delivery before, and deleted.
      if (!made.ok && made.reason !== 'no-task')
        return made.reason === 'too-many' || made.reason === 'projects-full' ? refuse('too-many', made.detail) : GONE;
    }
    await db
      .updateTable('hook_deliveries')
      .set({ done: true })
      .where('home', '=', home)
      .where('hook', '=', row.hook)
      .where('task', '=', taken.taskId)
      .execute();
    await db
      .updateTable('hooks')
      .set({ used_at: taken.at })
      .where('home', '=', home)
      .where('hook', '=', row.hook)
      .execute();
    changed();
    return { ok: true, repeated: taken.repeated };
  }

  return {
    list: async () =>
      setAside.read(
        'hooks',
        await rows().orderBy('created_at').orderBy('hook').execute(),
        ({ hook }) => hook,
        webhookOf,
      ),
    async create({ name, target, signed }) {
      const refused = await refuseTarget(target);
      // A routine that is off now may be switched on later.
      if (refused && refused.reason !== 'off') return refused;
      await removeGone();
      if ((await rows().execute()).length >= settings.most)
        return refuse('too-many', `There are ${settings.most} webhooks, as many as a household has. Delete one.`);
      const webhookId: WebhookId = newId();
      const { given, stored } = newSecrets(webhookId, signed);
      const row = {
        ...{ hook: webhookId, name_json: JSON.stringify(name), target_json: JSON.stringify(target) },
        ...{ ...stored, created_at: now(), used_at: null },
      };
      await db
        .insertInto('hooks')
        .values({ home, ...row })
        .execute();
      changed();
      return { ok: true, made: { webhook: webhookOf(row), ...given } };
    },
    async renew(webhookId) {
      const before = await rowOf(webhookId);
      if (!before) return null;
      const { given, stored } = newSecrets(webhookId, before.sealed_signing !== null);
      await db.updateTable('hooks').set(stored).where('home', '=', home).where('hook', '=', webhookId).execute();
      await db
        .deleteFrom('hook_deliveries')
        .where('home', '=', home)
        .where('hook', '=', webhookId)
        .where('taken_at', '<', now() - settings.deliveriesKeptMs)
        .where('delivery_hash', 'not like', `${ISSUE}%`)
        .execute();
      changed();
      return { webhook: webhookOf({ ...before, ...stored }), ...given };
    },
    remove,
    recover: removeGone,
    async close() {
      unsubscribe();
      await Promise.all(running);
    },
    async find(secret) {
      // Every secret, whatever it looks like, costs one hash and one query.
      const row = await rows().where('secret_hash', '=', hashOf(secret)).executeTakeFirst();
      if (!row) return null;
      const { hook: webhookId, sealed_signing: sealed } = row;
      return {
        webhookId,
        name: parseText(row.name_json),
        target: targetOf(row),
        signed: sealed !== null,
        isSignedBy(body, signature) {
          if (sealed === null) return true;
          const key = sealer.open(sealed, about(webhookId));
          const hex = SIGNATURE.exec(signature ?? '')?.groups?.['hex'];
          if (key === null || hex === undefined) return false;
          return timingSafeEqual(Buffer.from(hex, 'hex'), createHmac('sha256', key).update(body).digest());
        },
        deliver: (delivery) => deliver(row, delivery),
        async link(issues) {
          const known = await rowsOfIssue(db, webhookId, issues).executeTakeFirst();
          if (known) await insertIssues(db, webhookId, issues, known);
        },
      };
    },
  };
}

/** Deliveries to webhooks: each is taken once, and becomes a task or triggers a routine. */
import { createHash } from 'node:crypto';
import { webhookAuthor } from '../../src/shared/domain/applications.ts';
import type { WebhookId } from '../../src/shared/domain/ids.ts';
import { createWebhookSchema } from '../../src/shared/protocol/webhooks.ts';
import { type Db, parseText } from '../store/index.ts';
import { WEBHOOK_SETTINGS } from './settings.ts';
import {
  type Delivery,
  type FoundWebhook,
  GONE,
  refuse,
  type Target,
  type WebhookRefusal,
  type WebhooksDeps,
} from './contract.ts';

export interface Row {
  readonly hook: WebhookId;
  readonly name_json: string;
  readonly target_json: string;
  readonly hint: string;
  readonly sealed_signing: Uint8Array | null;
  readonly created_at: number;
  readonly used_at: number | null;
}

export const targetOf = (row: Pick<Row, 'target_json'>): Target =>
  createWebhookSchema.shape.target.parse(JSON.parse(row.target_json));
const digest = (text: string) => createHash('sha256').update(text).digest('hex');
/**
 * Rows of issues. They say which task a webhook has made of an issue, and stay as long as the
 * webhook.
 */
export const ISSUE = 'issue ';
const issueHash = (name: string) => `${ISSUE}${digest(name)}`;

export function createDeliveries({
  db,
  home,
  projects,
  schedules,
  tell,
  now,
  newId,
  settings = WEBHOOK_SETTINGS,
}: WebhooksDeps) {
  const changed = () => tell({ kind: 'changed', time: now(), what: 'webhooks', agentId: null });

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
      const deliveries = trx.selectFrom('hook_deliveries').where('home', '=', home).where('hook', '=', webhookId);
      const hashes = same.length === 0 ? [digest(newId())] : same.map(digest);
      const [before] = await deliveries
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
      const lately = await deliveries
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
    const claim = await take(row, same, issues, await deletedTasksOf(row.hook, target, issues));
    if (!claim.ok) return claim;
    if (claim.done) return { ok: true, repeated: true };
    if (target.kind === 'routine') {
      // The time of the delivery names the occurrence: a repeat triggers no second one.
      if (!(await schedules.trigger(target.scheduleId, claim.at))) return GONE;
    } else if (task !== null) {
      const { title, text } = task;
      const made = await projects.createTask(
        webhookAuthor(parseText(row.name_json)),
        target.projectId,
        {
          ...{ title, description: text, criteria: [], priority: 'normal', labels: [], blockedBy: [], assignee: null },
        },
        { taskId: claim.taskId, column: target.column },
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
      .where('task', '=', claim.taskId)
      .execute();
    await db
      .updateTable('hooks')
      .set({ used_at: claim.at })
      .where('home', '=', home)
      .where('hook', '=', row.hook)
      .execute();
    changed();
    return { ok: true, repeated: claim.repeated };
  }

  return { refuseTarget, deliver, rowsOfIssue, insertIssues };
}

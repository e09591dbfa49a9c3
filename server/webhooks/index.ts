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
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { WebhookId } from '../../src/shared/domain/ids.ts';
import type { Webhook } from '../../src/shared/protocol/webhooks.ts';
import { hashOf } from '../access/index.ts';
import { parseText } from '../store/index.ts';
import { WEBHOOK_SETTINGS } from './settings.ts';
import { SETS_NOTHING_ASIDE } from '../platform/set-aside.ts';
import { refuse, type Webhooks, type WebhooksDeps } from './contract.ts';
import { createDeliveries, ISSUE, type Row, targetOf } from './deliveries.ts';

export type { Delivery, FoundWebhook, WebhookRefusal, Webhooks } from './contract.ts';

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
const SIGNATURE = /^sha256=(?<hex>[0-9a-f]{64})$/;

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { db, home, sealer, log, logger, tell, now, newId } = deps;
  const { setAside = SETS_NOTHING_ASIDE, settings = WEBHOOK_SETTINGS } = deps;
  const { refuseTarget, deliver, rowsOfIssue, insertIssues } = createDeliveries(deps);
  const changed = () => tell({ kind: 'changed', time: now(), what: 'webhooks', agentId: null });
  const rows = () => db.selectFrom('hooks').selectAll().where('home', '=', home);
  const rowOf = async (webhookId: WebhookId) => (await rows().where('hook', '=', webhookId).executeTakeFirst()) ?? null;

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

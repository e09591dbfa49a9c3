/** HTTP routes of webhooks: the person's, and the one that strangers call. */
import { webhookEndpoints } from '../../src/shared/protocol/endpoints/webhooks.ts';
import { countCall, strangersOf } from '../http/call-rate.ts';
import { answer, type Handled } from '../http/endpoint.ts';
import { misfitIn, problem } from '../http/problem.ts';
import { readBytes } from '../http/body.ts';
import type { WebhookRefusal, Webhooks } from './index.ts';
import { signedSort, taskOf } from './said.ts';
import { WEBHOOK_SETTINGS } from './settings.ts';

const unknown = () => problem(404, 'no-webhook', 'There is no such webhook.');
const SECOND_MS = 1_000;

function problemOf({ reason, detail, retryAfterMs = WEBHOOK_SETTINGS.hourMs }: WebhookRefusal) {
  const headers = { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / SECOND_MS))) };
  switch (reason) {
    case 'gone':
      return unknown();
    case 'off':
      return problem(409, 'not-ready', detail);
    case 'too-many-calls':
    case 'too-many':
      return problem(429, reason, detail, { headers });
    default:
      return reason satisfies never;
  }
}

const did = (status: 200 | 201 | 202, what: 'created' | 'triggered' | 'nothing', repeated = false) =>
  new Response(JSON.stringify({ did: what, repeated }), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });

export function createWebhookRoutes({ webhooks }: { readonly webhooks: Webhooks }): readonly Handled[] {
  return answer(webhookEndpoints, {
    webhooks: async () => ({ webhooks: [...(await webhooks.list())] }),
    async createWebhook({ body }) {
      const created = await webhooks.create(body);
      if (created.ok) return created.made;
      if (created.reason === 'too-many') throw problem(409, 'too-many', created.detail);
      throw body.target.kind === 'project'
        ? problem(404, 'no-project', 'There is no such project.')
        : problem(404, 'unknown-schedule', 'There is no such routine. It may have been removed.');
    },
    async renewWebhook({ webhookId }) {
      const made = await webhooks.renew(webhookId);
      if (!made) throw unknown();
      return made;
    },
    async removeWebhook({ webhookId }) {
      if (!(await webhooks.remove(webhookId))) throw unknown();
      return null;
    },
    async callWebhook({ secret }, context) {
      const { req } = context;
      const webhook = await webhooks.find(secret);
      if (!webhook) {
        countCall(context, strangersOf(context));
        throw unknown();
      }
      const body = await readBytes(req.raw.body, WEBHOOK_SETTINGS.bodyBytes);
      if (body === null)
        throw problem(
          413,
          'too-large',
          `This call may carry ${WEBHOOK_SETTINGS.bodyBytes.toLocaleString('en')} bytes at most.`,
        );
      const signature = req.header('x-hub-signature-256') ?? '';
      if (!webhook.isSignedBy(body, signature)) {
        countCall(context, strangersOf(context));
        throw problem(401, 'bad-signature', 'The signature of the body is missing or wrong.');
      }
      countCall(context, `webhook ${webhook.webhookId}`);
      const id = req.header('x-github-delivery') ?? req.header('idempotency-key') ?? '';
      if (id.length > WEBHOOK_SETTINGS.deliveryId)
        throw misfitIn('Idempotency-Key', `has more than ${WEBHOOK_SETTINGS.deliveryId} characters`);
      const { type, event } = webhook.signed
        ? await signedSort(body)
        : { type: req.header('content-type'), event: req.header('x-github-event') };
      if (event === 'ping') return did(200, 'nothing');
      const { target } = webhook;
      const label = target.kind === 'project' ? target.githubLabel : null;
      const { task, issues } =
        target.kind === 'project' ? await taskOf(body, { type, event, label }) : { task: null, issues: [] };
      if (target.kind === 'project' && task === null) {
        if (issues.length > 1) await webhook.link(issues);
        return did(202, 'nothing');
      }
      // Of a signed delivery only the body is signed. Whoever has seen one could change its id.
      const same = webhook.signed ? [`body ${signature}`] : id === '' ? [] : [`id ${id}`];
      const done = await webhook.deliver({ same, task, issues });
      if (!done.ok) throw problemOf(done);
      const what = target.kind === 'project' ? 'created' : 'triggered';
      return did(done.repeated ? 200 : target.kind === 'project' ? 201 : 202, what, done.repeated);
    },
  });
}

/** Webhooks: the person's calls, and the one that strangers make. */
import { createdWebhookSchema, createWebhookSchema, webhookAnswerSchema, webhooksSchema } from '../webhooks.ts';
import { endpoint, idText, named } from './endpoint.ts';

const NOTHING = { type: 'no-webhook', detail: 'There is no such webhook.' } as const;
const params = { webhookId: named(idText, 'the webhook’s id', NOTHING) };
const unknown = { status: 404, when: '`no-webhook`: there is no such webhook' } as const;

export const webhookEndpoints = {
  webhooks: endpoint({
    method: 'GET',
    path: '/api/webhooks',
    does: 'Lists the webhooks. The relay does not store the secrets of their addresses.',
    answers: [{ status: 200, when: 'always', body: webhooksSchema }],
  }),
  createWebhook: endpoint({
    method: 'POST',
    path: '/api/webhooks',
    does: 'Makes a webhook for a project or a routine.',
    body: createWebhookSchema,
    answers: [
      { status: 201, when: 'made; the secrets are shown only in this answer', body: createdWebhookSchema },
      { status: 404, when: '`no-project` or `unknown-schedule`: there is no such project or routine' },
      { status: 409, when: '`too-many`: there are as many as a household has' },
    ],
  }),
  renewWebhook: endpoint({
    method: 'POST',
    path: '/api/webhooks/{webhookId}/renew',
    does: 'Gives a webhook new secrets. Its earlier address is not found any more.',
    params,
    answers: [
      { status: 200, when: 'renewed; the secrets are shown only in this answer', body: createdWebhookSchema },
      unknown,
    ],
  }),
  removeWebhook: endpoint({
    method: 'DELETE',
    path: '/api/webhooks/{webhookId}',
    does: 'Deletes a webhook. Its address is not found any more.',
    params,
    answers: [{ status: 204, when: 'deleted' }, unknown],
  }),
  callWebhook: endpoint({
    method: 'POST',
    path: '/hooks/{secret}',
    does: 'Creates a task of the webhook’s project, or triggers its routine. The body is JSON or a form with `title` and `text`, or an event of GitHub; of those only `issues` does something. Other fields are ignored. Long texts are cut, and the task says so. A delivery id is taken once, and one issue becomes one task. A signed webhook takes each body once, and reads in the body alone what it is. A webhook takes 60 calls an hour.',
    access: 'credential',
    fromAnywhere: true,
    raw: true,
    params: { secret: named(idText, 'the secret of the webhook', NOTHING) },
    headers: {
      'X-GitHub-Event': 'which event of GitHub the body is; left out: it is none',
      'X-Hub-Signature-256': '`sha256=` and the HMAC of the body in hex, where the webhook is signed',
      'X-GitHub-Delivery': 'the delivery id',
      'Idempotency-Key': 'the same, of other senders',
    },
    answers: [
      { status: 201, when: 'the task is created', body: webhookAnswerSchema },
      {
        status: 200,
        when: 'a ping, a delivery that was taken before, or an issue that has its task',
        body: webhookAnswerSchema,
      },
      {
        status: 202,
        when: 'the routine begins, or the event is none that the webhook listens to',
        body: webhookAnswerSchema,
      },
      { status: 400, when: '`misfit` or `not-json`: the body does not fit' },
      { status: 401, when: '`bad-signature`: the signature is missing or wrong' },
      { status: 404, when: '`no-webhook`: there is no such webhook, or its project or routine is gone' },
      { status: 409, when: '`not-ready`: the routine is switched off, or is due at another relay' },
      { status: 413, when: '`too-large` or `too-much`: the body is too large' },
      { status: 415, when: '`not-json`: the body is neither JSON nor a form' },
      { status: 429, when: '`too-many-calls` or `too-many`: try again later' },
    ],
  }),
};

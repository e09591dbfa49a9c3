/** Hooks: the person's calls, and the one that strangers make. */
import { createdHookSchema, createHookSchema, hookAnswerSchema, hooksSchema } from '../hooks.ts';
import { endpoint, idText, named } from './endpoint.ts';

const NOTHING = { type: 'no-hook', detail: 'There is no such hook.' } as const;
const params = { hookId: named(idText, 'the hook’s id', NOTHING) };
const unknown = { status: 404, when: '`no-hook`: there is no such hook' } as const;

export const hookEndpoints = {
  hooks: endpoint({
    method: 'GET',
    path: '/api/hooks',
    does: 'Lists the hooks. The relay does not store the secrets of their addresses.',
    answers: [{ status: 200, when: 'always', body: hooksSchema }],
  }),
  createHook: endpoint({
    method: 'POST',
    path: '/api/hooks',
    does: 'Makes a hook for a project or a routine.',
    body: createHookSchema,
    answers: [
      { status: 201, when: 'made; the secrets are shown only in this answer', body: createdHookSchema },
      { status: 404, when: '`no-project` or `unknown-schedule`: there is no such project or routine' },
      { status: 409, when: '`too-many`: there are as many as a household has' },
    ],
  }),
  renewHook: endpoint({
    method: 'POST',
    path: '/api/hooks/{hookId}/renew',
    does: 'Gives a hook new secrets. Its earlier address is not found any more.',
    params,
    answers: [
      { status: 200, when: 'renewed; the secrets are shown only in this answer', body: createdHookSchema },
      unknown,
    ],
  }),
  removeHook: endpoint({
    method: 'DELETE',
    path: '/api/hooks/{hookId}',
    does: 'Deletes a hook. Its address is not found any more.',
    params,
    answers: [{ status: 204, when: 'deleted' }, unknown],
  }),
  callHook: endpoint({
    method: 'POST',
    path: '/hooks/{secret}',
    does: 'Creates a task of the hook’s project, or triggers its routine. The body is JSON or a form with `title` and `text`, or an event of GitHub; of those only `issues` does something. Other fields are ignored. Long texts are cut, and the task says so. A delivery id is taken once, and one issue becomes one task. A signed hook takes each body once, and reads in the body alone what it is. A hook takes 60 calls an hour.',
    access: 'credential',
    fromAnywhere: true,
    raw: true,
    params: { secret: named(idText, 'the secret of the hook', NOTHING) },
    headers: {
      'X-GitHub-Event': 'which event of GitHub the body is; left out: it is none',
      'X-Hub-Signature-256': '`sha256=` and the HMAC of the body in hex, where the hook is signed',
      'X-GitHub-Delivery': 'the delivery id',
      'Idempotency-Key': 'the same, of other senders',
    },
    answers: [
      { status: 201, when: 'the task is created', body: hookAnswerSchema },
      {
        status: 200,
        when: 'a ping, a delivery that was taken before, or an issue that has its task',
        body: hookAnswerSchema,
      },
      {
        status: 202,
        when: 'the routine begins, or the event is none that the hook listens to',
        body: hookAnswerSchema,
      },
      { status: 400, when: '`misfit` or `not-json`: the body does not fit' },
      { status: 401, when: '`bad-signature`: the signature is missing or wrong' },
      { status: 404, when: '`no-hook`: there is no such hook, or its project or routine is gone' },
      { status: 409, when: '`not-ready`: the routine is switched off, or is due at another relay' },
      { status: 413, when: '`too-large` or `too-much`: the body is too large' },
      { status: 415, when: '`not-json`: the body is neither JSON nor a form' },
      { status: 429, when: '`too-many-calls` or `too-many`: try again later' },
    ],
  }),
};

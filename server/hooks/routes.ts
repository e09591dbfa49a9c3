/** HTTP routes of hooks: the person's, and the one that strangers call. */
import { hookEndpoints } from '../../src/shared/protocol/endpoints/hooks.ts';
import { countCall, strangersOf } from '../http/call-rate.ts';
import { answer, type Handled } from '../http/endpoint.ts';
import { misfitIn, problem } from '../http/problem.ts';
import { readBytes } from '../http/body.ts';
import type { HookRefusal, Hooks } from './index.ts';
import { signedSort, taskOf } from './said.ts';
import { HOOK_SETTINGS } from './settings.ts';

const unknown = () => problem(404, 'no-hook', 'There is no such hook.');
const SECOND_MS = 1_000;

function problemOf({ reason, detail, retryAfterMs = HOOK_SETTINGS.hourMs }: HookRefusal) {
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

export function createHookRoutes({ hooks }: { readonly hooks: Hooks }): readonly Handled[] {
  return answer(hookEndpoints, {
    hooks: async () => ({ hooks: [...(await hooks.list())] }),
    async createHook({ body }) {
      const created = await hooks.create(body);
      if (created.ok) return created.made;
      if (created.reason === 'too-many') throw problem(409, 'too-many', created.detail);
      throw body.target.kind === 'project'
        ? problem(404, 'no-project', 'There is no such project.')
        : problem(404, 'unknown-schedule', 'There is no such routine. It may have been removed.');
    },
    async renewHook({ hookId }) {
      const made = await hooks.renew(hookId);
      if (!made) throw unknown();
      return made;
    },
    async removeHook({ hookId }) {
      if (!(await hooks.remove(hookId))) throw unknown();
      return null;
    },
    async callHook({ secret }, context) {
      const { req } = context;
      const hook = await hooks.find(secret);
      if (!hook) {
        countCall(context, strangersOf(context));
        throw unknown();
      }
      const body = await readBytes(req.raw.body, HOOK_SETTINGS.bodyBytes);
      if (body === null)
        throw problem(
          413,
          'too-large',
          `This call may carry ${HOOK_SETTINGS.bodyBytes.toLocaleString('en')} bytes at most.`,
        );
      const signature = req.header('x-hub-signature-256') ?? '';
      if (!hook.isSignedBy(body, signature)) {
        countCall(context, strangersOf(context));
        throw problem(401, 'bad-signature', 'The signature of the body is missing or wrong.');
      }
      countCall(context, `hook ${hook.hookId}`);
      const id = req.header('x-github-delivery') ?? req.header('idempotency-key') ?? '';
      if (id.length > HOOK_SETTINGS.deliveryId)
        throw misfitIn('Idempotency-Key', `has more than ${HOOK_SETTINGS.deliveryId} characters`);
      const { type, event } = hook.signed
        ? await signedSort(body)
        : { type: req.header('content-type'), event: req.header('x-github-event') };
      if (event === 'ping') return did(200, 'nothing');
      const { target } = hook;
      const label = target.kind === 'project' ? target.githubLabel : null;
      const { task, issues } =
        target.kind === 'project' ? await taskOf(body, { type, event, label }) : { task: null, issues: [] };
      if (target.kind === 'project' && task === null) {
        if (issues.length > 1) await hook.link(issues);
        return did(202, 'nothing');
      }
      // Of a signed delivery only the body is signed. Whoever has seen one could change its id.
      const same = hook.signed ? [`body ${signature}`] : id === '' ? [] : [`id ${id}`];
      const done = await hook.deliver({ same, task, issues });
      if (!done.ok) throw problemOf(done);
      const what = target.kind === 'project' ? 'created' : 'triggered';
      return did(done.repeated ? 200 : target.kind === 'project' ? 201 : 202, what, done.repeated);
    },
  });
}

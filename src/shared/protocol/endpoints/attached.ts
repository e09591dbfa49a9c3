/** MCP servers that the person attaches, for their agents to use. */
import { z } from 'zod';
import { ATTACHED_BOUNDS, attachedNameSchema, attachedServerSchema, attachmentSchema, boxSchema } from '../attached.ts';
import { LIMITS } from '../limits.ts';
import { runnerSchema } from '../runners.ts';
import { endpoint, idText, named } from './endpoint.ts';

const path = '/api/attached/{serverId}';
const params = { serverId: named(idText, 'the server’s id') };
const unknown = { status: 404, when: 'no such server is attached' } as const;
const browsersOnly = { status: 403, when: 'it is no browser that asks' } as const;
const there = { status: 200, when: 'it is attached', body: attachedServerSchema } as const;

export const attachedEndpoints = {
  attached: endpoint({
    method: 'GET',
    path: '/api/attached',
    does: 'The servers that are attached, with what each offers and what of it agents may use. No secret is told.',
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({
          servers: z.array(attachedServerSchema),
          programs: z.boolean().describe('this relay runs programs for this household, in the sandbox at least'),
          why: z.string().optional().describe('why none runs outside the sandbox, as a sentence; left out: they may'),
          folders: z.boolean().describe('those in the sandbox may be shown folders of the machine'),
          sandbox: z.boolean().describe('programs can be held in a sandbox here'),
        }),
      },
      browsersOnly,
    ],
  }),
  runners: endpoint({
    method: 'GET',
    path: '/api/attached-runners',
    does: 'Where programs that fetch others (`npx` and its like) fetch them from, as this machine has it set.',
    answers: [{ status: 200, when: 'always', body: z.object({ runners: z.array(runnerSchema) }) }, browsersOnly],
  }),
  attach: endpoint({
    method: 'POST',
    path: '/api/attached',
    does: 'Attaches a server, and tries it once. Nothing of it may be used until `changeAttached` says so.',
    body: z.strictObject({ name: attachedNameSchema, attachment: attachmentSchema }),
    answers: [
      { status: 201, when: 'it is attached, whether or not it answered', body: attachedServerSchema },
      { status: 409, when: 'one of that name is, or there is room for no more' },
      {
        status: 403,
        when: 'this relay does not run such a program, or call such an address, for this household, or it is no browser that asks',
      },
    ],
  }),
  lookAtAttached: endpoint({
    method: 'POST',
    path: `${path}/look`,
    does: 'Tries it once more, now.',
    params,
    answers: [there, unknown, browsersOnly],
  }),
  changeAttached: endpoint({
    method: 'PUT',
    path,
    does: 'Who may use it, and which of its tools. A tool is named with the hash that was looked at: another tool of that name stays off.',
    params,
    body: z.strictObject({
      agents: z.array(z.string().max(LIMITS.id)).max(100).nullable().optional().describe('null: everybody'),
      tools: z
        .array(z.strictObject({ name: z.string().max(200), hash: z.string().max(200), use: z.boolean() }))
        .max(500)
        .optional(),
      box: boxSchema
        .nullable()
        .optional()
        .describe('of a program: how it is held from now on; null: it runs free. It is started anew'),
    }),
    answers: [
      there,
      { status: 409, when: 'a tool is not what it was when it was looked at' },
      unknown,
      { status: 403, when: 'it may not be held so for this household, or it is no browser that asks' },
    ],
  }),
  signInToAttached: endpoint({
    method: 'POST',
    path: `${path}/sign-in`,
    does: 'Begins a sign-in to it (OAuth): its authorisation server is found, and Roost registered there.',
    params,
    answers: [
      {
        status: 200,
        when: 'it was begun',
        body: z.object({ url: z.string().describe('the page on which the person allows it') }),
      },
      { status: 409, when: 'it has no sign-in that can be used, or is a program' },
      unknown,
      browsersOnly,
    ],
  }),
  signOutOfAttached: endpoint({
    method: 'DELETE',
    path: `${path}/sign-in`,
    does: 'Forgets what was allowed, and what is waited for.',
    params,
    answers: [there, unknown, browsersOnly],
  }),
  finishSignIn: endpoint({
    method: 'POST',
    path: '/api/attached-sign-ins',
    beginsNothing: true,
    does: 'What the person was sent back with. Only the household that began a sign-in can finish it, once.',
    body: z.strictObject({ query: z.string().max(ATTACHED_BOUNDS.query).describe('without the question mark') }),
    answers: [
      { status: 200, when: 'the server was tried with it', body: attachedServerSchema },
      { status: 409, when: 'none is waited for, it was refused there, or another authorisation server answers' },
      browsersOnly,
    ],
  }),
  detach: endpoint({
    method: 'DELETE',
    path,
    does: 'Takes it away, with its secrets. Nothing of it runs on.',
    params,
    answers: [{ status: 204, when: 'it is gone' }, unknown, browsersOnly],
  }),
};

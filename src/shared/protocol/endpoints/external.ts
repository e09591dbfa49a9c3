import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { addProgramSchema, programSchema, programsSchema } from '../programs.ts';
import { ATTACHED_BOUNDS, attachedNameSchema, attachedServerSchema, attachmentSchema, boxSchema } from '../attached.ts';
import { runnerSchema } from '../runners.ts';
import { changedElsewhere, namedVersionSchema } from '../version.ts';
import { endpoint, idText, named } from './endpoint.ts';

const browsersOnly = { status: 403, when: 'the caller is not a browser' } as const;

// ACP agents that can be an agent's mind.

const programParams = { programId: named(idText.max(LIMITS.id), 'the ACP agent’s id') };

const unknownProgram = { status: 404, when: 'there is no such ACP agent' } as const;

export const programEndpoints = {
  programs: endpoint({
    method: 'GET',
    path: '/api/agent-programs',
    does: 'ACP agents on this machine that may drive an agent, which of them run, and which others are on the PATH. This call starts nothing.',
    answers: [{ status: 200, when: 'always', body: programsSchema }, browsersOnly],
  }),
  addProgram: endpoint({
    method: 'POST',
    path: '/api/agent-programs',
    does: 'Adds an ACP agent, and starts it once to see whether it answers. Its model is asked nothing, so this costs nothing.',
    heavy: true,
    body: addProgramSchema,
    answers: [
      { status: 201, when: 'added; `state` says whether it answered', body: programSchema },
      { status: 403, when: 'this relay runs no programs for this household, or the caller is not a browser' },
      { status: 409, when: 'there is one of that name, or the list is full' },
    ],
  }),
  tryProgram: endpoint({
    method: 'POST',
    path: '/api/agent-programs/{programId}/try',
    does: 'Starts an ACP agent once more, and ends it when it has begun a session.',
    beginsNothing: true,
    heavy: true,
    params: programParams,
    answers: [
      { status: 200, when: 'the start was tried; `state` has the outcome', body: programSchema },
      unknownProgram,
      browsersOnly,
    ],
  }),
  removeProgram: endpoint({
    method: 'DELETE',
    path: '/api/agent-programs/{programId}',
    does: 'Removes an ACP agent with its variables, and ends its processes. An agent that it drives does not answer until another mind is chosen.',
    params: programParams,
    answers: [{ status: 204, when: 'removed' }, unknownProgram, browsersOnly],
  }),
};

// MCP servers that the person connects, for agents to use.

const path = '/api/attached/{serverId}';
const params = { serverId: named(idText, 'the server’s id') };
const unknown = { status: 404, when: 'there is no such MCP server' } as const;
const there = { status: 200, when: 'the server is connected', body: attachedServerSchema } as const;

export const attachedEndpoints = {
  attached: endpoint({
    method: 'GET',
    path: '/api/attached',
    does: 'The MCP servers, with the tools that each offers and the agents that may use them. Secrets are not included.',
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({
          servers: z.array(attachedServerSchema),
          programs: z.boolean().describe('this relay runs programs for this household, in the sandbox at least'),
          why: z
            .string()
            .optional()
            .describe('why the relay runs none outside the sandbox, as a sentence; left out: it does'),
          folders: z.boolean().describe('programs in the sandbox may be shown folders of the machine'),
          sandbox: z.boolean().describe('this relay can run programs in a sandbox'),
        }),
      },
      browsersOnly,
    ],
  }),
  runners: endpoint({
    method: 'GET',
    path: '/api/attached-runners',
    does: 'The addresses from which runners such as `npx` fetch programs, as this machine is configured.',
    answers: [{ status: 200, when: 'always', body: z.object({ runners: z.array(runnerSchema) }) }, browsersOnly],
  }),
  attach: endpoint({
    method: 'POST',
    path: '/api/attached',
    does: 'Connects an MCP server, and tries it once. Agents may not use it before `changeAttached` allows it.',
    body: z.strictObject({ name: attachedNameSchema, attachment: attachmentSchema }),
    answers: [
      { status: 201, when: 'connected, whether or not the server answered', body: attachedServerSchema },
      { status: 409, when: 'there is one of that name, or the list is full' },
      {
        status: 403,
        when: 'this relay does not run such a program, or call such an address, for this household; or the caller is not a browser',
      },
    ],
  }),
  retryAttached: endpoint({
    method: 'POST',
    path: `${path}/look`,
    does: 'Tries an MCP server once more, now.',
    params,
    answers: [there, unknown, browsersOnly],
  }),
  changeAttached: endpoint({
    method: 'PUT',
    path,
    does: 'Sets which agents may use a server, and which of its tools. A tool is named with the hash that the person saw. Another tool of that name stays off.',
    params,
    body: z.strictObject({
      version: namedVersionSchema,
      agents: z.array(z.string().max(LIMITS.id)).max(100).nullable().optional().describe('null: all agents'),
      tools: z
        .array(z.strictObject({ name: z.string().max(200), hash: z.string().max(200), use: z.boolean() }))
        .max(500)
        .optional(),
      box: boxSchema
        .nullable()
        .optional()
        .describe('of a program: its sandbox from now on; null: none. The program is restarted'),
    }),
    answers: [
      there,
      { status: 409, when: '`attached-tools`: a tool has changed since the person saw it' },
      changedElsewhere,
      unknown,
      { status: 403, when: 'this household may not run the program in this way, or the caller is not a browser' },
    ],
  }),
  signInToAttached: endpoint({
    method: 'POST',
    path: `${path}/sign-in`,
    does: 'Begins a sign-in to an MCP server (OAuth). Roost finds its authorisation server and registers there.',
    params,
    answers: [
      {
        status: 200,
        when: 'the sign-in has begun',
        body: z.object({ url: z.string().describe('the page on which the person allows the sign-in') }),
      },
      { status: 409, when: 'the server has no sign-in that Roost can use, or is a program' },
      unknown,
      browsersOnly,
    ],
  }),
  signOutOfAttached: endpoint({
    method: 'DELETE',
    path: `${path}/sign-in`,
    does: 'Forgets the sign-in, and any sign-in that is under way.',
    params,
    answers: [there, unknown, browsersOnly],
  }),
  finishSignIn: endpoint({
    method: 'POST',
    path: '/api/attached-sign-ins',
    beginsNothing: true,
    does: 'Completes a sign-in with the query string of the redirect. Only the household that began it can do this, once.',
    body: z.strictObject({ query: z.string().max(ATTACHED_BOUNDS.query).describe('without the question mark') }),
    answers: [
      { status: 200, when: 'the server was tried with the new sign-in', body: attachedServerSchema },
      { status: 409, when: 'no sign-in is under way, it was refused there, or another authorisation server answers' },
      browsersOnly,
    ],
  }),
  detach: endpoint({
    method: 'DELETE',
    path,
    does: 'Removes an MCP server with its secrets, and ends its processes.',
    params,
    answers: [{ status: 204, when: 'removed' }, unknown, browsersOnly],
  }),
};

/** MCP servers that the person connects for agents to use, and Roost as an MCP server. */
import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { attachmentSchema, boxSchema, MCP_BOUNDS, mcpNameSchema, mcpServerSchema } from '../mcp.ts';
import { runnerSchema } from '../runners.ts';
import { changedElsewhere, namedVersionSchema } from '../version.ts';
import { browsersOnly, endpoint, idText, named } from './endpoint.ts';

const path = '/api/mcp-servers/{serverId}';
const params = { serverId: named(idText, 'the server’s id') };
const unknown = { status: 404, when: 'there is no such MCP server' } as const;
const there = { status: 200, when: 'the server is connected', body: mcpServerSchema } as const;

export const mcpServerEndpoints = {
  mcpServers: endpoint({
    method: 'GET',
    path: '/api/mcp-servers',
    does: 'The MCP servers, with the tools that each offers and the agents that may use them. Secrets are not included.',
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({
          servers: z.array(mcpServerSchema),
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
    path: '/api/mcp-runners',
    does: 'The addresses from which runners such as `npx` fetch programs, as this machine is configured.',
    answers: [{ status: 200, when: 'always', body: z.object({ runners: z.array(runnerSchema) }) }, browsersOnly],
  }),
  addMcpServer: endpoint({
    method: 'POST',
    path: '/api/mcp-servers',
    does: 'Connects an MCP server, and tries it once. Agents may not use it before `changeMcpServer` allows it.',
    body: z.strictObject({ name: mcpNameSchema, attachment: attachmentSchema }),
    answers: [
      { status: 201, when: 'connected, whether or not the server answered', body: mcpServerSchema },
      { status: 409, when: 'there is one of that name, or the list is full' },
      {
        status: 403,
        when: 'this relay does not run such a program, or call such an address, for this household; or the caller is not a browser',
      },
    ],
  }),
  retryMcpServer: endpoint({
    method: 'POST',
    path: `${path}/retry`,
    does: 'Tries an MCP server once more, now.',
    params,
    answers: [there, unknown, browsersOnly],
  }),
  changeMcpServer: endpoint({
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
      { status: 409, when: '`mcp-tools`: a tool has changed since the person saw it' },
      changedElsewhere,
      unknown,
      { status: 403, when: 'this household may not run the program in this way, or the caller is not a browser' },
    ],
  }),
  signInToMcpServer: endpoint({
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
  signOutOfMcpServer: endpoint({
    method: 'DELETE',
    path: `${path}/sign-in`,
    does: 'Forgets the sign-in, and any sign-in that is under way.',
    params,
    answers: [there, unknown, browsersOnly],
  }),
  finishSignIn: endpoint({
    method: 'POST',
    path: '/api/mcp-sign-ins',
    beginsNothing: true,
    does: 'Completes a sign-in with the query string of the redirect. Only the household that began it can do this, once.',
    body: z.strictObject({ query: z.string().max(MCP_BOUNDS.query).describe('without the question mark') }),
    answers: [
      { status: 200, when: 'the server was tried with the new sign-in', body: mcpServerSchema },
      { status: 409, when: 'no sign-in is under way, it was refused there, or another authorisation server answers' },
      browsersOnly,
    ],
  }),
  removeMcpServer: endpoint({
    method: 'DELETE',
    path,
    does: 'Removes an MCP server with its secrets, and ends its processes.',
    params,
    answers: [{ status: 204, when: 'removed' }, unknown, browsersOnly],
  }),
};

const headers = {
  Authorization: '`Bearer roost_…`, the credential of the agent',
  'Mcp-Session-Id': 'the session that `initialize` began; not in the protocol of 2026-07-28',
};
const refused = [
  { status: 401, when: 'no credential, an unknown one or a revoked one; trying again does not help' },
  { status: 403, when: 'the agent is retired' },
] as const;
const mcp = { path: '/mcp', access: 'credential', raw: true, headers } as const;

/** The bodies are messages of the Model Context Protocol. */
export const mcpEndpoints = {
  mcpPost: endpoint({
    ...mcp,
    method: 'POST',
    does: 'The relay as an MCP server, over streamable HTTP. The body is one message of the Model Context Protocol, of 2026-07-28 or any earlier revision with sessions. A call of an agent whose sleeping flag is set waits until the agent is woken.',
    answers: [
      { status: 200, when: '`text/event-stream`: progress, if the client asked for it, and the answer' },
      { status: 202, when: 'the message was a notification; it has no answer' },
      ...refused,
      { status: 404, when: 'no such session; begin another' },
    ],
  }),
  mcpGet: endpoint({
    ...mcp,
    method: 'GET',
    does: 'Messages that the server sends unasked within a session.',
    answers: [
      { status: 200, when: '`text/event-stream`, until either side ends it' },
      ...refused,
      { status: 404, when: 'no such session; begin another' },
    ],
  }),
  mcpDelete: endpoint({
    ...mcp,
    method: 'DELETE',
    does: 'Ends a session.',
    answers: [{ status: 200, when: 'ended' }, ...refused, { status: 404, when: 'no such session' }],
  }),
};

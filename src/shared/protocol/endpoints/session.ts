/** A home: its household, its session, its events. */
import { z } from 'zod';
import {
  ackSchema,
  beginHomeSchema,
  correctSummarySchema,
  healthSchema,
  homeStatusSchema,
  messagePostedSchema,
  openHealthSchema,
  postMessageSchema,
  rehearsalSchema,
  sessionStartedSchema,
  aliveSchema,
  askSessionSchema,
} from '../http.ts';
import { LIMITS } from '../limits.ts';
import { endpoint, idText, named } from './endpoint.ts';

const agentId = named(idText, 'the agent’s id, or "lead"');
const stream = { status: 200, when: '`text/event-stream`, until either side ends it' } as const;

/** For programs that watch the relay. */
export const probeEndpoints = {
  live: endpoint({
    method: 'GET',
    path: '/health/live',
    does: 'Says that the relay’s process answers. It asks nothing else.',
    access: 'anyone',
    storeless: true,
    answers: [{ status: 200, when: 'always', body: aliveSchema }],
  }),
  ready: endpoint({
    method: 'GET',
    path: '/health/ready',
    does: 'Says whether the relay has served: its store answered, the page was rendered, and one event went through the log. That is tried once. Later, only the database can be missing.',
    access: 'anyone',
    storeless: true,
    answers: [
      { status: 200, when: 'it has served', body: aliveSchema },
      { status: 503, when: '`not-serving`: something is missing, which the detail names' },
    ],
  }),
};

/** Calls about the relay itself, for any household. */
export const relayEndpoints = {
  health: endpoint({
    method: 'GET',
    path: '/api/health',
    aliases: ['/health'],
    does: 'Says that the relay runs, and whether it can reach its database. A signed-in browser also sees which mind answers, and whether its household’s session runs.',
    access: 'anyone',
    storeless: true,
    answers: [
      { status: 200, when: 'this browser is signed in', body: healthSchema },
      { status: 200, when: 'the browser is not signed in, or the database cannot be reached', body: openHealthSchema },
    ],
  }),
  enter: endpoint({
    method: 'GET',
    path: '/enter',
    does: 'The one-time link that the relay prints when it starts. It gives the browser the session cookie and the page key, and shows the page.',
    access: 'anyone',
    raw: true,
    query: { code: z.string().optional().describe('works once') },
    answers: [
      { status: 200, when: 'signed in; a page that leads to the grid' },
      { status: 401, when: 'the link was used before, or is incomplete: a page that says so' },
    ],
  }),
  signedIn: endpoint({
    method: 'GET',
    path: '/signed-in',
    does: 'The redirect address for authorisation servers. It answers with a page that passes its query string to `finishSignIn`, and changes nothing itself.',
    access: 'anyone',
    storeless: true,
    raw: true,
    answers: [{ status: 200, when: 'always' }],
  }),
  favicon: endpoint({
    method: 'GET',
    path: '/favicon.ico',
    does: 'The icon of the page. Browsers ask for it at this address, also before they are signed in.',
    access: 'anyone',
    storeless: true,
    raw: true,
    answers: [
      { status: 200, when: 'the page is built' },
      { status: 204, when: 'the page is not built' },
    ],
  }),
  openApi: endpoint({
    method: 'GET',
    path: '/api/openapi.json',
    does: 'All calls of this relay as an OpenAPI 3.1 document.',
    access: 'anyone',
    storeless: true,
    raw: true,
    answers: [{ status: 200, when: 'always; `application/json`' }],
  }),
  getRehearsal: endpoint({
    method: 'GET',
    path: '/api/rehearsal',
    does: 'How the rehearsal mind behaves now.',
    answers: [
      { status: 200, when: 'a rehearsal mind is in use', body: rehearsalSchema },
      { status: 404, when: 'a real mind is in use' },
    ],
  }),
  putRehearsal: endpoint({
    method: 'PUT',
    path: '/api/rehearsal',
    does: 'Sets how the rehearsal mind behaves, for every household of the relay.',
    body: rehearsalSchema,
    answers: [
      { status: 200, when: 'set', body: rehearsalSchema },
      { status: 403, when: '`owner-only`: the household does not belong to the relay’s owner' },
      { status: 404, when: 'a real mind is in use' },
    ],
  }),
};

/** Calls with which a browser asks for a home. */
export const homeEndpoints = {
  home: endpoint({
    method: 'GET',
    path: '/api/home',
    does: 'Says which household of the relay this browser belongs to. Each household has its own session, events and acknowledgements.',
    answers: [{ status: 200, when: 'always', body: homeStatusSchema }],
  }),
  beginHome: endpoint({
    method: 'POST',
    path: '/api/home',
    does: 'Begins a household for this browser. If there are no others, any first write does so too.',
    body: beginHomeSchema,
    answers: [
      {
        status: 200,
        when: 'this browser has a household now, or had one; with `anew` it has a new sign-in from now on, by a new cookie: then `begun` is false, and the same call once more begins a household',
        body: homeStatusSchema,
      },
      {
        status: 409,
        when: '`not-begun`: there are other households, and `beside` is false; `households-full`; `sign-ins-full`',
      },
    ],
  }),
};

export const sessionEndpoints = {
  startSession: endpoint({
    method: 'POST',
    path: '/api/sessions',
    does: 'Starts the session, with the lead’s identity and the household’s settings. An application names agents only. The relay takes the rest from the agent snapshots.',
    scopes: ['sessions'],
    heavy: true,
    body: askSessionSchema,
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 201, when: 'started', body: sessionStartedSchema },
      { status: 400, when: 'a field does not fit, or a named agent is not known' },
      {
        status: 403,
        when: '`no-scope`: the session would wake an agent, now or by its `wakeEvents`, and the application may not wake any',
      },
      {
        status: 409,
        when: 'a session runs, and `sessionId` is its id; or `no-copy`: no page has left the lead’s snapshot',
      },
      {
        status: 422,
        when: '`clock-ahead`: `after` is more than a day ahead of the relay’s clock, and `ahead` was not set',
      },
    ],
  }),
  endSession: endpoint({
    method: 'DELETE',
    path: '/api/sessions/current',
    does: 'Ends the session. All agents sleep. Before that, agents may note what matters, for at most 20 seconds. An application can end only a session that it started.',
    heavy: true,
    scopes: ['sessions'],
    answers: [
      { status: 204, when: 'the end is on disk' },
      { status: 403, when: '`no-scope`: the application did not start it' },
      { status: 409, when: 'no session runs' },
    ],
  }),
  postMessage: endpoint({
    method: 'POST',
    path: '/api/messages',
    does: 'Sends a message to the lead, or to the agent `to`. Calls to the team (`[WAKE AGENTS]`, `[SUMMON AGENTS]`) are sent this way too. A message to a sleeping agent waits in its inbox.',
    heavy: true,
    body: postMessageSchema,
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 202, when: 'accepted; a repeated `clientId` gets the same answer', body: messagePostedSchema },
      { status: 400, when: 'a call to the team is malformed; `detail` says where' },
      { status: 404, when: 'no such agent' },
      {
        status: 409,
        when: 'no session runs, the called agents are awake already, or the message that `replaces` names cannot be replaced (any more)',
      },
      { status: 413, when: 'too large' },
    ],
  }),
  withdrawMessage: endpoint({
    method: 'DELETE',
    path: '/api/messages/{messageId}',
    does: 'Withdraws a message of the person that its agent has not read: it waits for the end of an answer, or in an inbox. The page hides it.',
    params: { messageId: named(idText, 'the message’s id') },
    answers: [
      { status: 204, when: 'withdrawn; a repeat is answered the same' },
      { status: 409, when: '`read-already`: the message no longer waits, the agent has it' },
    ],
  }),
  correctSummary: endpoint({
    method: 'PUT',
    path: '/api/summaries/{messageId}',
    does: 'Corrects the summary by which an agent goes on, in the running session or in a run. The page writes the document of the correction.',
    params: { messageId: named(idText, 'id of the message with the summary') },
    body: correctSummarySchema,
    answers: [{ status: 204, when: 'the agent goes on by this text, or does not hold the summary any more' }],
  }),
  stop: endpoint({
    method: 'POST',
    path: '/api/agents/{agentId}/stop',
    does: 'Stops an agent’s answer. What the agent has said stays.',
    params: { agentId },
    answers: [{ status: 202, when: 'the agent has stopped, or was silent already' }],
  }),
  sleep: endpoint({
    method: 'POST',
    path: '/api/agents/{agentId}/sleep',
    heavy: true,
    does: 'Puts one agent to sleep, or abandons one egg.',
    params: { agentId },
    answers: [
      { status: 202, when: 'the agent sleeps, or the egg is an empty seat' },
      { status: 404, when: 'the agent is neither awake nor hatching' },
    ],
  }),
  events: endpoint({
    method: 'GET',
    path: '/api/events',
    does: `The events, as server-sent events: \`hello\`, the events missed after the cursor, \`snapshot\`, then new events. The relay sends something at least every ${LIMITS.heartbeatMs / 1000} s.`,
    raw: true,
    headers: { 'Last-Event-ID': 'the cursor: the last event that this browser has; takes precedence over `after`' },
    query: {
      after: z.string().optional().describe('the cursor, for clients that cannot send the header'),
      log: z
        .string()
        .optional()
        .describe('the log that the cursor belongs to; if the relay has another log, it sends everything'),
      once: z
        .literal('1')
        .optional()
        .describe(
          'ends the answer after the missed events and the snapshot, for pages behind a proxy that blocks streams',
        ),
      searches: z.literal('1').optional().describe('this page answers searches of agents: it is sent `search`'),
    },
    answers: [
      stream,
      { status: 400, when: 'the cursor is no event id' },
      { status: 503, when: 'too many streams are open' },
    ],
  }),
  ack: endpoint({
    method: 'POST',
    path: '/api/events/ack',
    does: 'Acknowledges all events up to this one. A browser has stored them, so the relay may delete them in time.',
    beginsNothing: true,
    body: ackSchema,
    answers: [{ status: 204, when: 'acknowledged' }],
  }),
};

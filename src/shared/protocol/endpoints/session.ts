/** A home: its household, its session, its events. */
import { z } from 'zod';
import {
  ackSchema,
  beginHomeSchema,
  healthSchema,
  homeStandingSchema,
  lookedAtSchema,
  messagePostedSchema,
  openHealthSchema,
  postMessageSchema,
  rehearsalSchema,
  sessionStartedSchema,
  askSessionSchema,
} from '../http.ts';
import { LIMITS } from '../limits.ts';
import { endpoint, idText, named } from './endpoint.ts';

const agentId = named(idText, 'the agent’s id, or "lead"');
const stream = { status: 200, when: '`text/event-stream`, until either side ends it' } as const;

/** Calls about the relay itself, for any household. */
export const relayEndpoints = {
  health: endpoint({
    method: 'GET',
    path: '/api/health',
    aliases: ['/health'],
    does: 'Says that the relay is there, and whether it can reach its database; to a browser that is signed in also who would answer, and whether its household’s session runs.',
    access: 'anyone',
    storeless: true,
    answers: [
      { status: 200, when: 'this browser is signed in', body: healthSchema },
      { status: 200, when: 'anybody else asks, or the database cannot be reached', body: openHealthSchema },
    ],
  }),
  enter: endpoint({
    method: 'GET',
    path: '/enter',
    does: 'The one-time link that the relay prints when it starts. Gives the browser the session cookie and the page key, and shows the page.',
    access: 'anyone',
    raw: true,
    query: { code: z.string().optional().describe('good once') },
    answers: [
      { status: 200, when: 'signed in; a page that goes on to the grid' },
      { status: 401, when: 'the link was used before, or is not whole: a page that says so' },
    ],
  }),
  signedIn: endpoint({
    method: 'GET',
    path: '/signed-in',
    does: 'Where an authorisation server sends the person back to: a page that hands what it brings to `finishSignIn`. By itself it changes nothing.',
    access: 'anyone',
    storeless: true,
    raw: true,
    answers: [{ status: 200, when: 'always' }],
  }),
  favicon: endpoint({
    method: 'GET',
    path: '/favicon.ico',
    does: 'The icon of the page, which browsers ask for everywhere, also before they are let in.',
    access: 'anyone',
    storeless: true,
    raw: true,
    answers: [
      { status: 200, when: 'the page is built' },
      { status: 204, when: 'it is not' },
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
    does: 'Tells the rehearsal mind how to behave from now on, for every household of the relay.',
    body: rehearsalSchema,
    answers: [
      { status: 200, when: 'it does', body: rehearsalSchema },
      { status: 403, when: '`owner-only`: it is not the household of the relay’s owner' },
      { status: 404, when: 'a real mind is in use' },
    ],
  }),
};

/** Calls with which a browser asks for a home. */
export const homeEndpoints = {
  home: endpoint({
    method: 'GET',
    path: '/api/home',
    does: 'Says how this browser stands to the households of the relay. Each has its own session, events and acknowledgements.',
    answers: [{ status: 200, when: 'always', body: homeStandingSchema }],
  }),
  beginHome: endpoint({
    method: 'POST',
    path: '/api/home',
    does: 'Begins a household for this browser. Where nobody else lives, any first write does so too.',
    body: beginHomeSchema,
    answers: [
      {
        status: 200,
        when: 'it has one now, or had one; or, with `anew`, this browser has a sign-in of its own from now on, by a new cookie: then `begun` is false, and the same call once more begins',
        body: homeStandingSchema,
      },
      { status: 409, when: '`not-begun`: others live here, and `beside` is false; `households-full`; `sign-ins-full`' },
    ],
  }),
  lookedAt: endpoint({
    method: 'GET',
    path: '/api/look',
    does: 'Who lives in the one household of others, for a browser that has none.',
    answers: [
      { status: 200, when: 'there is one to look at', body: lookedAtSchema },
      { status: 409, when: 'there is not' },
    ],
  }),
  lookEvents: endpoint({
    method: 'GET',
    path: '/api/look/events',
    does: 'Its events from now on, as `/api/events` has them. Nothing is acknowledged by it.',
    raw: true,
    answers: [stream, { status: 409, when: 'there is nothing to look at' }],
  }),
};

export const sessionEndpoints = {
  startSession: endpoint({
    method: 'POST',
    path: '/api/sessions',
    does: 'Starts the session, with who the lead is and how the household wants things. An application names agents alone: the relay takes the rest from what a page has left with it.',
    scopes: ['sessions'],
    heavy: true,
    body: askSessionSchema,
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 201, when: 'started', body: sessionStartedSchema },
      { status: 400, when: 'something does not fit, or an agent that is named is not known' },
      {
        status: 403,
        when: '`no-scope`: an agent would be woken, now or by its `wakeEvents`, and the application may not wake any',
      },
      {
        status: 409,
        when: 'a session runs already; `sessionId` says which; or `no-copy`: no page has left what the lead needs',
      },
      {
        status: 422,
        when: '`clock-ahead`: `after` lies more than a day ahead of the relay’s clock, and `ahead` was not said',
      },
    ],
  }),
  endSession: endpoint({
    method: 'DELETE',
    path: '/api/sessions/current',
    does: 'Ends the session. Everyone sleeps. An application ends only one that it started.',
    scopes: ['sessions'],
    answers: [
      { status: 204, when: 'the end is on disk' },
      { status: 409, when: 'no session runs' },
    ],
  }),
  postMessage: endpoint({
    method: 'POST',
    path: '/api/messages',
    does: 'A message to the lead, or to the agent `to`. Calls to the team (`[WAKE AGENTS]`, `[SUMMON AGENTS]`) go this way too. A message to an agent that sleeps waits in its inbox.',
    heavy: true,
    body: postMessageSchema,
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 202, when: 'taken; a repeated `clientId` gets the same answer', body: messagePostedSchema },
      { status: 400, when: 'a call to the team is malformed; the reason says where' },
      { status: 404, when: 'no such agent' },
      {
        status: 409,
        when: 'no session runs, the called ones are awake already, or what `replaces` names cannot be replaced (any more)',
      },
      { status: 413, when: 'too large' },
    ],
  }),
  takeBack: endpoint({
    method: 'DELETE',
    path: '/api/messages/{messageId}',
    does: 'Takes back a message of the person’s that its agent has not read: one that waits for the end of an answer, or in an inbox. The page hides it.',
    params: { messageId: named(idText, 'the message’s id') },
    answers: [
      { status: 204, when: 'nobody reads it any more; asked again, too' },
      { status: 409, when: '`read-already`: it waits nowhere, its agent has it before it' },
    ],
  }),
  stop: endpoint({
    method: 'POST',
    path: '/api/agents/{agentId}/stop',
    does: 'Stops what it is saying. What it has said stays.',
    params: { agentId },
    answers: [{ status: 202, when: 'it says nothing more, or was silent already' }],
  }),
  sleep: endpoint({
    method: 'POST',
    path: '/api/agents/{agentId}/sleep',
    does: 'Puts one agent to sleep, or gives up one egg.',
    params: { agentId },
    answers: [
      { status: 202, when: 'it sleeps' },
      { status: 404, when: 'it is neither awake nor hatching' },
    ],
  }),
  events: endpoint({
    method: 'GET',
    path: '/api/events',
    does: `The events, as server-sent events: \`hello\`, what was missed after the cursor, \`snapshot\`, then what is new. Something is said at least every ${LIMITS.heartbeatMs / 1000} s.`,
    raw: true,
    headers: { 'Last-Event-ID': 'the cursor: the last event this browser has; goes before `after`' },
    query: {
      after: z.string().optional().describe('the cursor, where a header cannot be sent'),
      log: z.string().optional().describe('which log the cursor is of; where it is not this one, everything is sent'),
      once: z
        .literal('1')
        .optional()
        .describe(
          'only what was missed, and the snapshot: the answer ends then. For pages to which a proxy lets no stream through',
        ),
      searches: z.literal('1').optional().describe('this page answers what agents look for: it is sent `search`'),
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
    does: 'Everything up to here is stored in a browser; the relay may forget it in time.',
    beginsNothing: true,
    body: ackSchema,
    answers: [{ status: 204, when: 'noted' }],
  }),
};

/**
 * Every call of the relay with what it takes and what it answers: the source of the wire reference in
 * README.md beside this folder. A test holds it against the relay's routes.
 */
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
  roomSchema,
  sessionStartedSchema,
  startSessionSchema,
} from '../http.ts';
import { LIMITS } from '../limits.ts';
import type { Call, CallParameter } from './call.ts';
import { CLIENT_CALLS } from './clients.ts';
import { COST_CALLS } from './costs.ts';
import { RECORD_CALLS } from './records.ts';
import { MAIL_CALLS } from './mail.ts';
import { SLEEPING_CALLS } from './sleeping.ts';
import { SYNC_CALLS } from './sync.ts';
import { THREAD_CALLS } from './threads.ts';
import { WAKE_CALLS } from './wakes.ts';

export type { Call, CallAnswer, CallParameter } from './call.ts';

const agent: CallParameter = { name: 'id', in: 'path', does: 'the agent’s id, or "lead"' };

export const CALLS: readonly Call[] = [
  {
    method: 'GET',
    path: '/api/health',
    does: 'Says that the relay is there; to a browser that is signed in also who would answer, and whether its household’s session runs.',
    open: true,
    answers: [
      { status: 200, when: 'this browser is signed in', body: healthSchema },
      { status: 200, when: 'anybody else asks', body: openHealthSchema },
    ],
  },
  {
    method: 'GET',
    path: '/enter',
    does: 'The one-time link that the relay prints when it starts. Gives the browser the session cookie and the page key, and shows the page.',
    open: true,
    parameters: [{ name: 'code', in: 'query', does: 'good once' }],
    answers: [
      { status: 200, when: 'signed in; a page that goes on to the grid' },
      { status: 401, when: 'the link was used before, or is not whole: a page that says so' },
    ],
  },
  {
    method: 'GET',
    path: '/favicon.ico',
    does: 'The icon of the page, which browsers ask for everywhere, also before they are let in.',
    open: true,
    answers: [
      { status: 200, when: 'the page is built' },
      { status: 204, when: 'it is not' },
    ],
  },
  {
    method: 'GET',
    path: '/api/home',
    does: 'Says how this browser stands to the households of the relay. Each has its own session, events and acknowledgements.',
    answers: [{ status: 200, when: 'always', body: homeStandingSchema }],
  },
  {
    method: 'POST',
    path: '/api/home',
    does: 'Begins a household for this browser. Where nobody else lives, any first write does so too.',
    body: beginHomeSchema,
    answers: [
      { status: 200, when: 'it has one now, or had one', body: homeStandingSchema },
      { status: 409, when: '`not-begun`: others live here, and `beside` is false; `households-full`' },
    ],
  },
  {
    method: 'GET',
    path: '/api/look',
    does: 'Who lives in the one household of others, for a browser that has none.',
    answers: [
      { status: 200, when: 'there is one to look at', body: lookedAtSchema },
      { status: 409, when: 'there is not' },
    ],
  },
  {
    method: 'GET',
    path: '/api/look/events',
    does: 'Its events from now on, as `/api/events` has them. Nothing is acknowledged by it.',
    answers: [
      { status: 200, when: '`text/event-stream`, until either side ends it' },
      { status: 409, when: 'there is nothing to look at' },
    ],
  },
  {
    method: 'POST',
    path: '/api/sessions',
    does: 'Starts the session, with who the lead is and how the household wants things.',
    body: startSessionSchema,
    answers: [
      { status: 201, when: 'started', body: sessionStartedSchema },
      { status: 409, when: 'a session runs already; `sessionId` says which' },
      {
        status: 422,
        when: '`clock-ahead`: `after` lies more than a day ahead of the relay’s clock, and `ahead` was not said',
      },
    ],
  },
  {
    method: 'DELETE',
    path: '/api/sessions/current',
    does: 'Ends the session. Everyone sleeps.',
    answers: [
      { status: 204, when: 'the end is on disk' },
      { status: 409, when: 'no session runs' },
    ],
  },
  {
    method: 'POST',
    path: '/api/messages',
    does: 'A message to the lead, or to the agent `to`. Calls to the team (`[WAKE AGENTS]`, `[SUMMON AGENTS]`) go this way too. A message to an agent that sleeps waits in its inbox.',
    body: postMessageSchema,
    answers: [
      { status: 202, when: 'taken; a repeated `clientId` gets the same answer', body: messagePostedSchema },
      { status: 400, when: 'a call to the team is malformed; the reason says where' },
      { status: 404, when: 'no such agent' },
      {
        status: 409,
        when: 'no session runs, the called ones are awake already, or `replaces` is not the last message',
      },
      { status: 413, when: 'too large' },
    ],
  },
  {
    method: 'POST',
    path: '/api/agents/{id}/stop',
    does: 'Stops what it is saying. What it has said stays.',
    parameters: [agent],
    answers: [{ status: 202, when: 'it says nothing more, or was silent already' }],
  },
  {
    method: 'POST',
    path: '/api/agents/{id}/sleep',
    does: 'Puts one agent to sleep, or gives up one egg.',
    parameters: [agent],
    answers: [
      { status: 202, when: 'it sleeps' },
      { status: 404, when: 'it is neither awake nor hatching' },
    ],
  },
  {
    method: 'GET',
    path: '/api/events',
    does: `The events, as server-sent events: \`hello\`, what was missed after the cursor, \`snapshot\`, then what is new. Something is said at least every ${LIMITS.heartbeatMs / 1000} s.`,
    parameters: [
      { name: 'Last-Event-ID', in: 'header', does: 'the cursor: the last event this browser has; goes before `after`' },
      { name: 'after', in: 'query', does: 'the cursor, where a header cannot be sent' },
      { name: 'log', in: 'query', does: 'which log the cursor is of; where it is not this one, everything is sent' },
    ],
    answers: [
      { status: 200, when: '`text/event-stream`, until either side ends it' },
      { status: 400, when: 'the cursor is no event id' },
      { status: 503, when: 'too many streams are open' },
    ],
  },
  {
    method: 'POST',
    path: '/api/events/ack',
    does: 'Everything up to here is stored in a browser; the relay may forget it in time.',
    body: ackSchema,
    answers: [{ status: 204, when: 'noted' }],
  },
  {
    method: 'GET',
    path: '/api/rehearsal',
    does: 'How the rehearsal mind behaves now.',
    answers: [
      { status: 200, when: 'a rehearsal mind is in use', body: rehearsalSchema },
      { status: 404, when: 'a real mind is in use' },
    ],
  },
  {
    method: 'PUT',
    path: '/api/rehearsal',
    does: 'Tells the rehearsal mind how to behave from now on.',
    body: rehearsalSchema,
    answers: [
      { status: 200, when: 'it does', body: rehearsalSchema },
      { status: 404, when: 'a real mind is in use' },
    ],
  },
  {
    method: 'GET',
    path: '/api/room',
    does: 'How much room the relay’s home takes, and how much is left. Some seconds old at most.',
    answers: [{ status: 200, when: 'always', body: roomSchema }],
  },
  ...MAIL_CALLS,
  ...WAKE_CALLS,
  ...THREAD_CALLS,
  ...SLEEPING_CALLS,
  ...CLIENT_CALLS,
  ...COST_CALLS,
  ...RECORD_CALLS,
  ...SYNC_CALLS,
];

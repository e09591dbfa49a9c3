/**
 * Schedules: what is due without the person, and the agent snapshots that it needs. Other products
 * use the same names for routines and the timeline.
 */
import { z } from 'zod';
import type { ScheduleId } from '../../domain/ids.ts';
import { common, ms } from '../documents.ts';
import { idOf, LIMITS } from '../limits.ts';
import {
  changeScheduleSchema,
  copyStandingSchema,
  occurrenceSchema,
  proposalSchema,
  scheduledSchema,
  scheduleSchema,
  standingCopySchema,
} from '../schedules.ts';
import { endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';
import { changedElsewhere } from '../version.ts';

const params = { scheduleId: named(idText, 'the schedule’s id') };
const agentParams = { agentId: named(idText, 'the agent’s id, name or seat') };
const unknown = { status: 404, when: 'there is no such schedule' } as const;
const elsewhere = { status: 409, when: 'it is due at another relay of the household' } as const;
const unknownAgent = { status: 404, when: 'no such agent' } as const;
const proposalParams = { proposalId: named(idText, 'the proposal’s id') };
const unknownProposal = { status: 404, when: 'there is no such proposal, or it was answered' } as const;
const misfit = {
  status: 400,
  when: 'something does not fit, or its agent has something of that name already; `errors` names each field',
} as const;

/** Hours that the timeline shows. */
const TIMELINE_HOURS = { min: 1, max: 168, otherwise: 24 } as const;
const HISTORY_PAGE = { min: 1, max: 500, otherwise: 100 } as const;

const standingCopiesSchema = z.object({
  copies: z.array(copyStandingSchema),
  takenBack: z
    .array(common.agentId)
    .describe('whose copy the person has taken back: none is left until something is switched on again'),
  everybody: z
    .literal(true)
    .optional()
    .describe(
      'an application may start a session: all agents leave one, and the lead, also where nothing is scheduled',
    ),
});
const listSchema = z.object({
  schedules: z.array(scheduledSchema),
  scripts: z.boolean().describe('this relay runs scripts for this household'),
  why: z.string().optional().describe('why it does not, as a sentence; left out: it does'),
  ownHosts: z
    .boolean()
    .optional()
    .describe('this household may let scripts reach hosts of the relay’s own machine and networks'),
});
const more = z.boolean().optional().describe('there are earlier ones');
const historySchema = z.object({ occurrences: z.array(occurrenceSchema).describe('the newest first'), more });
export const timelineSchema = z.object({
  from: ms,
  to: ms,
  moments: z
    .array(
      z.object({
        scheduleId: idOf<ScheduleId>(z.string()),
        agentId: common.agentId,
        at: ms,
        dark: z.string().nullable().describe('the label of the blackout in which it passes by; null: it runs'),
      }),
    )
    .describe('the soonest first'),
  occurrences: z.array(occurrenceSchema).describe('of the same span before now, the newest first'),
  blackouts: z
    .array(z.object({ agentId: common.agentId, from: ms, to: ms, label: z.string() }))
    .describe('within the span to come'),
  clashes: z
    .array(z.object({ from: ms, to: ms, agentIds: z.array(common.agentId), critical: z.boolean() }))
    .describe('where two or more agents begin within two minutes'),
  most: z
    .object({ runs: z.number().int().nonnegative(), microUsd: z.number().int().nonnegative().nullable() })
    .describe('what the span to come can be at most; null: no run of before says what one costs'),
  leftOut: z
    .object({ moments: z.boolean(), occurrences: z.boolean() })
    .optional()
    .describe('of which there may be more than are here; then `most` and `clashes` are of these alone'),
});
export type Timeline = z.infer<typeof timelineSchema>;

export const scheduleEndpoints = {
  schedules: endpoint({
    method: 'GET',
    path: '/v1/pulse-routines',
    does: 'What is due without anybody there: routines, reminders and scripts.',
    scopes: ['read', 'schedules'],
    query: { agent: optional(named(idText, 'only those of this agent')) },
    answers: [{ status: 200, when: 'always', body: listSchema }],
  }),
  addSchedule: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines',
    does: 'Adds one. It is due from now on; nothing else moves. A reminder or a script takes the place of one of its kind that its agent has under this name.',
    scopes: ['schedules'],
    body: scheduleSchema,
    answers: [{ status: 201, when: 'it is there', body: scheduledSchema }, unknownAgent, misfit],
  }),
  schedule: endpoint({
    method: 'GET',
    path: '/v1/pulse-routines/{scheduleId}',
    does: 'One of them.',
    scopes: ['read', 'schedules'],
    params,
    answers: [{ status: 200, when: 'it is there', body: scheduledSchema }, unknown],
  }),
  changeSchedule: endpoint({
    method: 'PUT',
    path: '/v1/pulse-routines/{scheduleId}',
    does: 'Says all of it anew. It goes on if it was paused.',
    scopes: ['schedules'],
    params,
    body: changeScheduleSchema,
    answers: [
      { status: 200, when: 'it holds', body: scheduledSchema },
      unknown,
      unknownAgent,
      changedElsewhere,
      misfit,
    ],
  }),
  removeSchedule: endpoint({
    method: 'DELETE',
    path: '/v1/pulse-routines/{scheduleId}',
    does: 'Takes it away. What is due of it and was not begun is cancelled.',
    scopes: ['schedules'],
    params,
    answers: [{ status: 204, when: 'it is gone' }, unknown],
  }),
  toggleSchedule: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines/{scheduleId}/toggle',
    does: 'Switches it on where it is off or paused, and off where it is on.',
    scopes: ['schedules'],
    params,
    answers: [
      { status: 200, when: 'it holds', body: scheduledSchema },
      unknown,
      { status: 400, when: 'it is a reminder, which is on as long as it is there' },
    ],
  }),
  triggerSchedule: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines/{scheduleId}/trigger',
    does: 'Adds one moment, now. Its other moments stay as they are.',
    scopes: ['schedules'],
    params,
    answers: [{ status: 202, when: 'it is due' }, unknown, elsewhere],
  }),
  moveSchedules: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines-move',
    does: 'Brings here what is due at another relay of the household. That one is asked, and lets go once a page tells it; nothing is due at both.',
    body: z.strictObject({
      gone: z
        .boolean()
        .default(false)
        .describe('the person says that the other relay runs no more: nobody is asked, and it is due here from now on'),
    }),
    answers: [{ status: 204, when: 'it is asked, or due here' }],
  }),
  duplicateSchedule: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines/{scheduleId}/duplicate',
    does: 'Adds one like it, switched off, under a name of its own.',
    scopes: ['schedules'],
    params,
    answers: [
      { status: 201, when: 'it is there', body: scheduledSchema },
      unknown,
      { status: 400, when: 'it is due only once, and that is over' },
    ],
  }),
  reorderSchedules: endpoint({
    method: 'PUT',
    path: '/v1/pulse-routines-order',
    does: 'Sets the order in which the person sees them.',
    body: z.strictObject({ scheduleIds: z.array(idOf<ScheduleId>(z.string().max(LIMITS.id))).max(10_000) }),
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 204, when: 'it holds' },
      { status: 400, when: 'one is missing, unknown or there twice' },
    ],
  }),
  scheduleHistory: endpoint({
    method: 'GET',
    path: '/v1/pulse-routines/{scheduleId}/history',
    does: 'What became of each moment at which it was due.',
    scopes: ['read', 'schedules'],
    params,
    query: {
      before: optional(named(idText, 'only moments before this, in ms since the epoch')),
      limit: wholeNumber(HISTORY_PAGE, `at most so many: ${HISTORY_PAGE.min}–${HISTORY_PAGE.max}`),
    },
    answers: [{ status: 200, when: 'it is there', body: historySchema }, unknown],
  }),
  timeline: endpoint({
    method: 'GET',
    path: '/v1/pulses/timeline',
    does: 'What was due in the last hours, and what will be in the next.',
    scopes: ['read', 'schedules'],
    query: { hours: wholeNumber(TIMELINE_HOURS, `either way: ${TIMELINE_HOURS.min}–${TIMELINE_HOURS.max}`) },
    answers: [
      { status: 200, when: 'always', body: timelineSchema },
      { status: 400, when: '`hours` does not fit' },
    ],
  }),
  agentSchedule: endpoint({
    method: 'GET',
    path: '/v1/agents/{agentId}/schedule',
    does: 'What is scheduled for one agent, and what became of what was due in the last day.',
    scopes: ['read', 'schedules'],
    access: 'agent',
    params: agentParams,
    answers: [
      {
        status: 200,
        when: 'it is known',
        body: z.object({
          schedules: z.array(scheduledSchema),
          occurrences: z.array(occurrenceSchema),
          more: more.describe('there may be earlier ones of this day'),
        }),
      },
      unknownAgent,
    ],
  }),
  runs: endpoint({
    method: 'GET',
    path: '/v1/runs',
    does: 'Agents at work without the person, now and before: by what was due, and by who woke them. The events of a run have its id.',
    scopes: ['read', 'schedules'],
    query: {
      agent: optional(named(idText, 'only those of this agent')),
      before: optional(named(idText, 'only those that began before this, in ms since the epoch')),
      limit: wholeNumber(HISTORY_PAGE, `at most so many: ${HISTORY_PAGE.min}–${HISTORY_PAGE.max}`),
    },
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({
          runs: z.array(occurrenceSchema).describe('the newest first; `endedAt` null: it goes on'),
          more,
        }),
      },
      unknownAgent,
    ],
  }),
  stopRun: endpoint({
    method: 'POST',
    path: '/v1/runs/{runId}/stop',
    does: 'Stops a run. What it has said stays.',
    params: { runId: named(idText, 'the run’s id') },
    answers: [
      { status: 202, when: 'it says nothing more' },
      { status: 404, when: 'no such run goes on' },
    ],
  }),
  continueRun: endpoint({
    method: 'POST',
    path: '/v1/runs/{runId}/continue',
    does: 'Lets an agent go on with a run that did not come to its own end: another run begins, which is told what was done in it. The person asks for it, so no limit of wakes refuses it; budgets hold.',
    params: { runId: named(idText, 'the run’s id') },
    answers: [
      { status: 202, when: 'it begins, as soon as its agent is free' },
      { status: 404, when: 'there is no such run' },
      {
        status: 409,
        when: 'it goes on, came to its end, or goes on already; or its agent cannot be at work alone now',
      },
    ],
  }),
  proposals: endpoint({
    method: 'GET',
    path: '/v1/routine-proposals',
    does: 'Routines that agents ask for, and that the person has not answered.',
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({ proposals: z.array(proposalSchema).describe('the oldest first') }),
      },
    ],
  }),
  acceptProposal: endpoint({
    method: 'POST',
    path: '/v1/routine-proposals/{proposalId}/accept',
    does: 'Says yes: it is a routine from now on.',
    params: proposalParams,
    answers: [{ status: 201, when: 'it is there', body: scheduledSchema }, unknownProposal, misfit],
  }),
  declineProposal: endpoint({
    method: 'POST',
    path: '/v1/routine-proposals/{proposalId}/decline',
    does: 'Says no.',
    params: proposalParams,
    answers: [{ status: 204, when: 'it is declined' }, unknownProposal],
  }),
  standingCopies: endpoint({
    method: 'GET',
    path: '/api/standing-copies',
    does: 'Which agents have left here what they need to be at work alone, how much, and since when.',
    answers: [
      { status: 200, when: 'always', body: standingCopiesSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  leaveStandingCopy: endpoint({
    method: 'PUT',
    path: '/api/standing-copies/{agentId}',
    does: 'Leaves with the relay what this agent needs to be at work alone. It lies there sealed.',
    params: { agentId: named(idText, 'the agent’s id') },
    body: z.strictObject({ version: z.string().min(1).max(LIMITS.id), copy: standingCopySchema }),
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 204, when: 'it is on disk' },
      unknownAgent,
      {
        status: 409,
        when: '`taken-back`: the person has taken it back; `older-copy`: the one that lies there knows more',
      },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  takeBackStandingCopy: endpoint({
    method: 'DELETE',
    path: '/api/standing-copies/{agentId}',
    does: 'Takes it back, and switches off what is scheduled for this agent. None is left again until something of it is switched on.',
    params: { agentId: named(idText, 'the agent’s id') },
    answers: [
      { status: 204, when: 'it is gone, and none that is still on its way is taken' },
      { status: 404, when: 'there is neither such an agent nor a copy of one' },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
};

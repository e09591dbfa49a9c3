/**
 * Schedules: what is due without the person. Other products use the same names for routines and the
 * timeline.
 */
import { z } from 'zod';
import type { ScheduleId } from '../../domain/ids.ts';
import { common, ms } from '../documents.ts';
import { idOf, LIMITS } from '../limits.ts';
import {
  changeScheduleSchema,
  occurrenceSchema,
  proposalSchema,
  scheduledSchema,
  scheduleSchema,
} from '../schedules.ts';
import { endpoint, idText, named, optional, wholeNumber } from './endpoint.ts';
import { changedElsewhere } from '../version.ts';

const params = { scheduleId: named(idText, 'the schedule’s id') };
const agentParams = { agentId: named(idText, 'the agent’s id, name or seat') };
const unknown = { status: 404, when: 'there is no such schedule' } as const;
const elsewhere = { status: 409, when: 'the schedule is due at another relay of the household' } as const;
const unknownAgent = { status: 404, when: 'no such agent' } as const;
const proposalParams = { proposalId: named(idText, 'the proposal’s id') };
const unknownProposal = { status: 404, when: 'there is no such proposal, or it was answered' } as const;
const misfit = {
  status: 400,
  when: 'a field does not fit, or the agent has a schedule of that name; `errors` names each field',
} as const;

/** Hours that the timeline shows. */
const TIMELINE_HOURS = { min: 1, max: 168, otherwise: 24 } as const;
const HISTORY_PAGE = { min: 1, max: 500, otherwise: 100 } as const;

const listSchema = z.object({
  schedules: z.array(scheduledSchema),
  scripts: z.boolean().describe('this relay runs scripts for this household'),
  why: z.string().optional().describe('why the relay runs none, as a sentence; left out: it does'),
  ownHosts: z
    .boolean()
    .optional()
    .describe('this household may let scripts reach hosts of the relay’s own machine and networks'),
});
const more = z.boolean().optional().describe('there are earlier ones');
const historySchema = z.object({ occurrences: z.array(occurrenceSchema).describe('newest first'), more });
export const timelineSchema = z.object({
  from: ms,
  to: ms,
  moments: z
    .array(
      z.object({
        scheduleId: idOf<ScheduleId>(z.string()),
        agentId: common.agentId,
        at: ms,
        dark: z
          .string()
          .nullable()
          .describe('label of the blackout because of which the moment is skipped; null: it runs'),
      }),
    )
    .describe('soonest first'),
  occurrences: z.array(occurrenceSchema).describe('in a span of the same length before now, newest first'),
  blackouts: z
    .array(z.object({ agentId: common.agentId, from: ms, to: ms, label: z.string() }))
    .describe('blackouts of the coming span'),
  clashes: z
    .array(z.object({ from: ms, to: ms, agentIds: z.array(common.agentId), critical: z.boolean() }))
    .describe('spans in which two or more agents begin within two minutes'),
  most: z
    .object({ runs: z.number().int().nonnegative(), microUsd: z.number().int().nonnegative().nullable() })
    .describe('upper bounds for the coming span; `microUsd` null: no earlier run shows what one costs'),
  leftOut: z
    .object({ moments: z.boolean(), occurrences: z.boolean() })
    .optional()
    .describe('lists that may be incomplete; `most` and `clashes` then cover only what is listed'),
});
export type Timeline = z.infer<typeof timelineSchema>;

export const scheduleEndpoints = {
  schedules: endpoint({
    method: 'GET',
    path: '/v1/pulse-routines',
    does: 'Lists what is due without the person: routines, reminders and scripts.',
    scopes: ['read', 'schedules'],
    query: { agent: optional(named(idText, 'only those of this agent')) },
    answers: [{ status: 200, when: 'always', body: listSchema }],
  }),
  addSchedule: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines',
    does: 'Adds a schedule, due from now on. Other schedules do not move. A reminder or a script replaces one of its kind with the same agent and name.',
    scopes: ['schedules'],
    body: scheduleSchema,
    answers: [{ status: 201, when: 'added', body: scheduledSchema }, unknownAgent, misfit],
  }),
  schedule: endpoint({
    method: 'GET',
    path: '/v1/pulse-routines/{scheduleId}',
    does: 'Returns one schedule.',
    scopes: ['read', 'schedules'],
    params,
    answers: [{ status: 200, when: 'the schedule', body: scheduledSchema }, unknown],
  }),
  changeSchedule: endpoint({
    method: 'PUT',
    path: '/v1/pulse-routines/{scheduleId}',
    does: 'Replaces all fields of a schedule. A paused one is resumed.',
    scopes: ['schedules'],
    params,
    body: changeScheduleSchema,
    answers: [{ status: 200, when: 'changed', body: scheduledSchema }, unknown, unknownAgent, changedElsewhere, misfit],
  }),
  removeSchedule: endpoint({
    method: 'DELETE',
    path: '/v1/pulse-routines/{scheduleId}',
    does: 'Removes a schedule. Moments that have not begun are cancelled.',
    scopes: ['schedules'],
    params,
    answers: [{ status: 204, when: 'removed' }, unknown],
  }),
  toggleSchedule: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines/{scheduleId}/toggle',
    does: 'Switches a schedule on if it is off or paused, and off if it is on.',
    scopes: ['schedules'],
    params,
    answers: [
      { status: 200, when: 'switched', body: scheduledSchema },
      unknown,
      { status: 400, when: 'a reminder cannot be switched off' },
    ],
  }),
  triggerSchedule: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines/{scheduleId}/trigger',
    does: 'Makes a schedule due once more, now. Its other moments stay as they are.',
    scopes: ['schedules'],
    params,
    answers: [{ status: 202, when: 'due' }, unknown, elsewhere],
  }),
  moveSchedules: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines-move',
    does: 'Moves a schedule here from another relay of the household. That relay is asked, and releases the schedule when a page connects to it. The schedule is never due at both.',
    body: z.strictObject({
      gone: z
        .boolean()
        .default(false)
        .describe(
          'the person says that the other relay no longer runs: it is not asked, and the schedule is due here from now on',
        ),
    }),
    answers: [{ status: 204, when: 'the other relay is asked, or the schedule is due here' }],
  }),
  duplicateSchedule: endpoint({
    method: 'POST',
    path: '/v1/pulse-routines/{scheduleId}/duplicate',
    does: 'Adds a copy of a schedule, switched off, with a new name.',
    scopes: ['schedules'],
    params,
    answers: [
      { status: 201, when: 'copied', body: scheduledSchema },
      unknown,
      { status: 400, when: 'the schedule is due only once, and that moment is over' },
    ],
  }),
  reorderSchedules: endpoint({
    method: 'PUT',
    path: '/v1/pulse-routines-order',
    does: 'Sets the order in which the person sees the schedules.',
    body: z.strictObject({ scheduleIds: z.array(idOf<ScheduleId>(z.string().max(LIMITS.id))).max(10_000) }),
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 204, when: 'set' },
      { status: 400, when: 'a schedule is missing, unknown or listed twice' },
    ],
  }),
  scheduleHistory: endpoint({
    method: 'GET',
    path: '/v1/pulse-routines/{scheduleId}/history',
    does: 'The moments at which a schedule was due, with the outcome of each.',
    scopes: ['read', 'schedules'],
    params,
    query: {
      before: optional(named(idText, 'only moments before this, in ms since the epoch')),
      limit: wholeNumber(HISTORY_PAGE, `at most so many: ${HISTORY_PAGE.min}–${HISTORY_PAGE.max}`),
    },
    answers: [{ status: 200, when: 'the history', body: historySchema }, unknown],
  }),
  timeline: endpoint({
    method: 'GET',
    path: '/v1/pulses/timeline',
    does: 'The moments of the last hours, and of the next.',
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
    does: 'The schedules of one agent, and the outcomes of the last day.',
    scopes: ['read', 'schedules'],
    access: 'agent',
    params: agentParams,
    answers: [
      {
        status: 200,
        when: 'the agent is known',
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
    does: 'Runs outside a session, under way and ended: scheduled ones, and those that somebody woke. Events of a run have its id.',
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
          runs: z.array(occurrenceSchema).describe('newest first; `endedAt` null: the run is under way'),
          more,
        }),
      },
      unknownAgent,
    ],
  }),
  stopRun: endpoint({
    method: 'POST',
    path: '/v1/runs/{runId}/stop',
    does: 'Stops a run. What the agent has said stays.',
    params: { runId: named(idText, 'the run’s id') },
    answers: [
      { status: 202, when: 'the run has stopped' },
      { status: 404, when: 'no such run is under way' },
    ],
  }),
  continueRun: endpoint({
    method: 'POST',
    path: '/v1/runs/{runId}/continue',
    does: 'Continues a run that did not complete. A new run begins, which is given what the earlier one did. The person asks for it, so limits on wakes do not apply. Budgets do.',
    params: { runId: named(idText, 'the run’s id') },
    answers: [
      { status: 202, when: 'the new run begins as soon as the agent is free' },
      { status: 404, when: 'there is no such run' },
      {
        status: 409,
        when: 'the run is under way, completed, or was continued already; or its agent cannot run alone now',
      },
    ],
  }),
  proposals: endpoint({
    method: 'GET',
    path: '/v1/routine-proposals',
    does: 'Routines that agents have proposed, and that the person has not answered.',
    answers: [
      {
        status: 200,
        when: 'always',
        body: z.object({ proposals: z.array(proposalSchema).describe('oldest first') }),
      },
    ],
  }),
  acceptProposal: endpoint({
    method: 'POST',
    path: '/v1/routine-proposals/{proposalId}/accept',
    does: 'Approves a proposed routine, which is set from now on.',
    params: proposalParams,
    answers: [{ status: 201, when: 'the routine is set', body: scheduledSchema }, unknownProposal, misfit],
  }),
  declineProposal: endpoint({
    method: 'POST',
    path: '/v1/routine-proposals/{proposalId}/decline',
    does: 'Declines a proposed routine.',
    params: proposalParams,
    answers: [{ status: 204, when: 'declined' }, unknownProposal],
  }),
};

/**
 * Wakes on the wire: what asked for a wake, what the gate decided, and how much of its limits an
 * agent has used.
 */
import { z } from 'zod';
import type { MessageId } from '../domain/ids.ts';
import { GATE_CHECKS, WAKE_OUTCOMES, WAKE_REASONS, WAKE_WAYS } from '../domain/guardrails.ts';
import { common } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';

const id = z.string().min(1).max(LIMITS.id);
const count = z.number().int().nonnegative();

export const wakeSourceSchema = z
  .discriminatedUnion('kind', [
    z.object({ kind: z.literal('person') }),
    z.object({ kind: z.literal('agent'), agentId: common.agentId }),
    z.object({ kind: z.literal('schedule'), name: z.string() }),
    z.object({ kind: z.literal('script'), name: z.string() }),
    z.object({ kind: z.literal('api'), name: z.string() }),
  ])
  .describe('The person, an agent, or a named source that asks for the wake.');
export type WakeSource = z.infer<typeof wakeSourceSchema>;

/** One decision of the gate. It is stored whatever the outcome. */
export const wakeDecisionSchema = z.object({
  decisionId: id.describe('identifies the decision'),
  time: common.time,
  target: common.agentId,
  source: wakeSourceSchema,
  way: z.enum(WAKE_WAYS).describe('what asked for the wake'),
  reason: z
    .enum(WAKE_REASONS)
    .nullable()
    .describe('the reason that the caller gave; null: this kind of wake needs none'),
  messageId: idOf<MessageId>(id).nullable().describe('the inbox message that the wake is about'),
  callId: id.nullable().default(null).describe('the person’s call to the team that asked for this wake; null: none'),
  outcome: z.enum(WAKE_OUTCOMES),
  check: z.enum(GATE_CHECKS).nullable().describe('the check that refused the wake; null: none did'),
  until: common.time
    .nullable()
    .describe('ms since the epoch when this check would pass; null: waiting does not help, or the time is not known'),
  detail: z.string().describe('a sentence for people'),
});
export type WakeDecision = z.infer<typeof wakeDecisionSchema>;

/** `GET /api/wakes?before=&limit=&agent=`: the feed, newest first. */
export const wakeFeedSchema = z.object({
  wakes: z.array(wakeDecisionSchema),
  more: z.boolean().describe('there are older ones'),
});
export type WakeFeed = z.infer<typeof wakeFeedSchema>;

/** Decisions on one page of the feed: bounds and default. */
export const WAKE_PAGE = { min: 1, max: 200, otherwise: 50 } as const;

/** `GET /v1/agents/{agentId}/wake-stats`. Times in ms since the epoch. */
export const wakeStatsSchema = z.object({
  wakesToday: count.describe(
    'granted wakes of the household’s day without the person’s own: those that the limits count',
  ),
  maxWakesPerDay: count,
  cooldownSeconds: count,
  lastWakeTime: common.time.nullable().describe('of any wake, the person’s too; null: never'),
  maxDailySessionMinutes: count,
  minutesToday: z.number().nonnegative().describe('minutes of its sessions today, with a fraction'),
  bySource: z
    .record(z.string(), count)
    .describe('granted wakes today by who asked: "person", an agent’s id, or a name'),
  running: count.describe('the agent’s running sessions'),
  nextWakeTime: common.time
    .nullable()
    .describe(
      'when a wake would pass for somebody who has asked for none today, if nothing else happened: now or later; null: waiting alone does not help',
    ),
  stoppedBy: z.enum(GATE_CHECKS).nullable().describe('the check that refuses such a wake now; null: none'),
});
export type WakeStats = z.infer<typeof wakeStatsSchema>;

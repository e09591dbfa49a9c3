/**
 * Agent snapshots: what an agent needs to work without a browser. A page leaves them with the
 * relay.
 */
import { z } from 'zod';
import { SNAPSHOT_ORDER_CHARS } from '../domain/schedule/snapshot-order.ts';
import { common, ms } from './documents.ts';
import { startSessionSchema } from './http.ts';
import { languageSchema } from './language.ts';
import { LIMITS } from './limits.ts';

export const agentSnapshotSchema = z.strictObject({
  name: z.string().min(1).max(LIMITS.name),
  color: z.string().max(40),
  colorName: z.string().max(80),
  position: z.number().int().min(0).max(8),
  soul: z.string().max(LIMITS.soul).nullable(),
  transcript: z.string().max(LIMITS.messageText).nullable().describe('the agent’s last conversation'),
  human: z.string().min(1).max(LIMITS.name),
  language: languageSchema.optional(),
  lead: z.string().min(1).max(LIMITS.name),
  model: z.string().max(200).describe('the model that the person chose for the agent; empty: the relay’s default'),
  maxAnswerTokens: z.number().int().min(1).max(1_000_000),
  contextTokens: z
    .number()
    .int()
    .min(0)
    .max(100_000_000)
    .describe('tokens that the agent’s model can read; 0: not known'),
  session: startSessionSchema.shape.settings.describe(
    'of the lead: the household’s settings for a session, if an application may start one',
  ),
});
export type AgentSnapshot = z.infer<typeof agentSnapshotSchema>;

/** What the relay reports about an agent snapshot that it has. */
export const snapshotStatusSchema = z.object({
  agentId: common.agentId,
  leftAt: ms,
  version: z
    .string()
    .min(1)
    .max(LIMITS.id)
    .describe(
      `the version that the page named; its first ${SNAPSHOT_ORDER_CHARS} characters sort newer versions after older ones`,
    ),
  bytes: z.number().int().nonnegative().describe('size of the sealed snapshot'),
  soulChars: z.number().int().nonnegative(),
  transcriptChars: z.number().int().nonnegative(),
});
export type SnapshotStatus = z.infer<typeof snapshotStatusSchema>;

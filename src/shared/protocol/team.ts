/**
 * What the relay knows about the team besides sessions: its members, their sleeping flags, and the
 * credentials of API clients.
 */
import { z } from 'zod';
import { isTimeZone } from '../domain/guardrails.ts';
import { checkName } from '../domain/names.ts';
import { common } from './documents.ts';
import { LIMITS } from './limits.ts';
import { scopesSchema } from './scopes.ts';

const id = z.string().min(1).max(LIMITS.id);

/**
 * `PUT /api/team`: all agents of the household. The page sends it whenever they change. It does not
 * include souls.
 */
export const teamSchema = z.strictObject({
  agents: z
    .array(
      z.strictObject({
        agentId: common.agentId,
        name: z.string().min(1).max(LIMITS.name),
        position: z.number().int().min(0).max(8).nullable(),
        retired: z.boolean(),
      }),
    )
    .max(200),
});
export type Team = z.infer<typeof teamSchema>;
/** Body of `PUT /api/team`. */
export const announcedTeamSchema = teamSchema.extend({
  forgotten: z
    .array(common.agentId)
    .max(LIMITS.forgotten)
    .default([])
    .describe('agents that were forgotten for good; the relay removes their folders and the log of their tool calls'),
  timeZone: z
    .string()
    .max(LIMITS.id)
    .refine(isTimeZone)
    .optional()
    // A zone that only the browser knows must not block the team.
    .catch(undefined)
    .describe(
      'time zone of this browser; it becomes the household’s if this is the relay’s first team and no other zone is set',
    ),
});
export type TeamMember = Team['agents'][number];

/** `GET`, `PUT` and `POST /api/v1/sessions/{sessionId}/{agentId}/sleeping`. */
export const sleepingSchema = z.strictObject({ sleeping: z.boolean() });
export type Sleeping = z.infer<typeof sleepingSchema>;

/** A credential, without its secret. */
const credentialSchema = z.object({
  credentialId: id,
  agentId: common.agentId
    .nullable()
    .describe('the agent that the client drives; null: an application, which may do what its `scopes` say'),
  scopes: scopesSchema.describe('scopes of an application; empty for an agent'),
  label: z.string(),
  readsSoul: z
    .boolean()
    .describe(
      'the client may read its agent’s soul and last conversation, and rewrite the soul; always false for an application',
    ),
  hint: z.string().describe('the last characters of the secret, for recognising it'),
  madeAt: common.time,
  usedAt: common.time.nullable().describe('null: never used'),
  revokedAt: common.time.nullable(),
});
export type Credential = z.infer<typeof credentialSchema>;
/** `GET /api/credentials` */
export const credentialsSchema = z.object({ credentials: z.array(credentialSchema) });
/** `POST /api/credentials` */
export const makeCredentialSchema = z.strictObject({
  agentId: common.agentId.nullable().describe('null: for an application'),
  scopes: scopesSchema
    .optional()
    .describe(
      'what an application may do; left out: `read`, `sleep` and `wake`. Not allowed for an agent’s credential',
    ),
  label: z
    .string()
    .max(LIMITS.credentialLabel)
    .default('')
    .transform((label, context) => {
      if (label.trim() === '') return '';
      const checked = checkName(label, 'label');
      if (!checked.ok) context.addIssue({ code: 'custom', message: checked.reason });
      return checked.ok ? checked.name : z.NEVER;
    }),
  readsSoul: z
    .boolean()
    .default(false)
    .describe(
      'the client may read its agent’s soul and last conversation, and rewrite the soul; not allowed for an application',
    ),
});
/** Answer of `POST /api/credentials`. The secret is shown only here. */
export const madeCredentialSchema = z.object({ credential: credentialSchema, secret: z.string() });

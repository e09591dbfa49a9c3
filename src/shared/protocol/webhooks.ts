/** Webhooks: addresses at which strangers create a task, or trigger a routine. */
import { z } from 'zod';
import { checkName } from '../domain/names.ts';
import type { WebhookId, ProjectId, ScheduleId } from '../domain/ids.ts';
import { common } from './documents.ts';
import { idOf, LIMITS } from './limits.ts';
import { PROJECT_LIMITS } from './projects.ts';

const id = z.string().min(1).max(LIMITS.id);

/** Columns into which a webhook may put a task. */
const WEBHOOK_COLUMNS = ['backlog', 'ready'] as const;

const webhookTargetSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('project'),
    projectId: idOf<ProjectId>(id),
    column: z.enum(WEBHOOK_COLUMNS).describe('kind of the column into which its tasks go'),
    githubLabel: z
      .string()
      .trim()
      .min(1)
      .max(PROJECT_LIMITS.label)
      .nullable()
      .describe('of GitHub’s issues only those that get this label; null: every issue that is opened'),
  }),
  z.strictObject({ kind: z.literal('routine'), scheduleId: idOf<ScheduleId>(id) }),
]);

const webhookSchema = z.object({
  webhookId: idOf<WebhookId>(id),
  name: z.string().describe('the author of its tasks'),
  target: webhookTargetSchema,
  signed: z.boolean().describe('calls need a signature, as GitHub makes it'),
  hint: z.string().describe('the last characters of the secret, for recognising it'),
  createdAt: common.time,
  usedAt: common.time.nullable().describe('the last call that did something; null: none'),
});
export type Webhook = z.infer<typeof webhookSchema>;
/** `GET /api/webhooks` */
export const webhooksSchema = z.object({ webhooks: z.array(webhookSchema).describe('oldest first') });

/** `POST /api/webhooks` */
export const createWebhookSchema = z.strictObject({
  name: z
    .string()
    .max(LIMITS.credentialLabel)
    .transform((name, context) => {
      const checked = checkName(name, 'label');
      if (!checked.ok) context.addIssue({ code: 'custom', message: checked.reason });
      return checked.ok ? checked.name : z.NEVER;
    }),
  target: webhookTargetSchema,
  signed: z.boolean().default(false).describe('make a secret for signatures, too'),
});
/** The secrets are in no other answer. */
export const createdWebhookSchema = z.object({
  webhook: webhookSchema,
  secret: z.string().describe('the last part of the address `/hooks/{secret}`'),
  signingSecret: z.string().nullable().describe('null: calls need no signature'),
});

/** What a webhook takes as JSON or as a form. Other fields are ignored. */
export const webhookTaskSchema = z.object({
  title: z.string().trim().min(1).describe(`cut after ${PROJECT_LIMITS.title} characters`),
  text: z.string().default('').describe(`cut after ${PROJECT_LIMITS.text} characters`),
});
export type WebhookTask = z.output<typeof webhookTaskSchema>;
export const webhookAnswerSchema = z.object({
  did: z
    .enum(['created', 'triggered', 'nothing'])
    .describe('`nothing`: a ping, or an event that the webhook does not listen to'),
  repeated: z.boolean().describe('the delivery was taken before, and did nothing more'),
});

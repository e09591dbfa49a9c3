/**
 * Notifications for a person who is looking elsewhere: which kinds, on which devices, and when not.
 */
import { z } from 'zod';
import { isTimeZone } from '../domain/guardrails.ts';
import { NOTIFICATION_KINDS, type NotificationKind } from '../domain/talk.ts';
import { common } from './documents.ts';

export { NOTIFICATION_KINDS, type NotificationKind };

const kinds = z.array(z.enum(NOTIFICATION_KINDS)).max(NOTIFICATION_KINDS.length);
const minute = z.number().int().min(0).max(1_439).describe('of the day');
const quiet = z
  .strictObject({ from: minute, to: minute })
  .nullable()
  .describe('the hours in which nothing is pushed, over midnight where they end before they begin; null: none');

const subscriptionSchema = z.strictObject({
  endpoint: z.url().max(2_000).describe('at the browser’s push service'),
  keys: z.strictObject({
    p256dh: z.string().regex(/^[\w-]{86,88}=?$/),
    auth: z.string().regex(/^[\w-]{22,24}={0,2}$/),
  }),
});
export type PushSubscriptionJson = z.infer<typeof subscriptionSchema>;

export const deviceChoiceSchema = z.strictObject({
  name: z.string().trim().min(1).max(80).describe('as people know the device'),
  kinds,
  quiet,
  timeZone: z.string().refine(isTimeZone, 'is no time zone').describe('in which the hours are meant'),
  subscription: subscriptionSchema.nullable().describe('null: it is not told while the page is closed'),
});
export type DeviceChoice = z.infer<typeof deviceChoiceSchema>;

export const notificationSchema = z.object({
  key: z.string().describe('names the thing; it is told once'),
  kind: z.enum(NOTIFICATION_KINDS),
  agentId: common.agentId.nullable(),
  path: z.string().describe('of the page, where it is'),
  title: z.string().describe('in English'),
  name: z.string().nullable().describe('of whoever it is about; null: nobody with a name'),
  raisedAt: common.time,
});
export type RaisedNotification = z.infer<typeof notificationSchema>;

/**
 * Names that are only valid within one machine or network (RFC 6761, 6762 and 8375, and `internal`
 * by ICANN).
 */
const INNER_NAME = /(?:^|\.)(?:localhost|local|internal|invalid|test|home\.arpa)\.?$/i;

/**
 * Whether a push service can contact somebody at this host. Apple's service refuses every push
 * whose subject names an unreachable host.
 */
export const isOutside = (host: string): boolean => host.includes('.') && !INNER_NAME.test(host);

export const mail = z
  .email()
  .max(200)
  .refine((address) => isOutside(address.slice(address.lastIndexOf('@') + 1)), {
    message: 'must be an address that others can write to',
  });
const pushContactSchema = z.object({
  subject: z
    .string()
    .nullable()
    .describe('an https: or mailto: address that push services are given; null: none, which Apple’s refuses'),
  mail: mail.nullable().describe('the household’s own; null: none'),
  fixed: z.boolean().describe('the relay was started with another, which counts'),
});
export type PushContact = z.infer<typeof pushContactSchema>;

export const notificationsSchema = z.object({
  publicKey: z.string().describe('with which a browser subscribes: the relay’s VAPID key'),
  contact: pushContactSchema.describe('by which push services reach whoever runs the relay'),
  open: z.array(notificationSchema).describe('neither seen nor answered, the oldest first'),
  devices: z.array(
    z.object({
      deviceId: z.string(),
      name: z.string(),
      here: z.boolean().describe('it is the one that asks'),
      pushed: z.boolean().describe('it is told while the page is closed'),
      endpoint: z.string().nullable().describe('of its subscription, told to itself alone'),
      kinds,
      quiet,
      usedAt: common.time,
      refused: z
        .number()
        .int()
        .nullable()
        .describe(
          'status with which its push service refused the last push; 401 and 403: for the relay’s key or contact',
        ),
    }),
  ),
});
export type Notifications = z.infer<typeof notificationsSchema>;

/** Content of a push, sealed to the device. It never contains words of a conversation. */
export const pushPayloadSchema = z.object({
  key: z.string(),
  kind: z.enum(NOTIFICATION_KINDS),
  title: z.string(),
  name: z.string().nullable(),
  path: z.string(),
  over: z.boolean().describe('it was answered or seen elsewhere'),
});
export type PushPayload = z.infer<typeof pushPayloadSchema>;

/**
 * Notifications for a person who is looking elsewhere: which kinds, on which devices, and when not.
 */
import { z } from 'zod';
import { isTimeZone } from '../domain/guardrails.ts';
import { NOTIFICATION_KINDS, type NotificationKind } from '../domain/talk.ts';
import { webAddress } from './addresses.ts';
import { common } from './documents.ts';

export { NOTIFICATION_KINDS, type NotificationKind };

const kinds = z.array(z.enum(NOTIFICATION_KINDS)).max(NOTIFICATION_KINDS.length);
const minute = z.number().int().min(0).max(1_439).describe('minute of the day');
const quiet = z
  .strictObject({ from: minute, to: minute })
  .nullable()
  .describe(
    'the hours in which nothing is pushed; a span whose end is before its start goes over midnight; null: none',
  );

const subscriptionSchema = z.strictObject({
  endpoint: webAddress(2_000).describe('address of the subscription at the browser’s push service'),
  keys: z.strictObject({
    p256dh: z.string().regex(/^[\w-]{86,88}=?$/),
    auth: z.string().regex(/^[\w-]{22,24}={0,2}$/),
  }),
});
export type PushSubscriptionJson = z.infer<typeof subscriptionSchema>;

export const deviceChoiceSchema = z.strictObject({
  name: z.string().trim().min(1).max(80).describe('the device’s name for people'),
  kinds,
  quiet,
  timeZone: z.string().refine(isTimeZone, 'is no time zone').describe('the time zone of these hours'),
  subscription: subscriptionSchema.nullable().describe('null: the device is not notified while the page is closed'),
});
export type DeviceChoice = z.infer<typeof deviceChoiceSchema>;

export const notificationSchema = z.object({
  key: z.string().describe('identifies the cause; the person is notified of it once'),
  kind: z.enum(NOTIFICATION_KINDS),
  agentId: common.agentId.nullable(),
  path: z.string().describe('path of the page that shows it'),
  title: z.string().describe('in English'),
  name: z.string().nullable().describe('name of the agent that it is about; null: none'),
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
    .describe(
      'an https: or mailto: address that push services are given; null: none, and Apple’s service refuses pushes without one',
    ),
  mail: mail.nullable().describe('the household’s own contact; null: none'),
  fixed: z.boolean().describe('the relay was started with another contact, which takes precedence'),
});
export type PushContact = z.infer<typeof pushContactSchema>;

export const notificationsSchema = z.object({
  publicKey: z.string().describe('the relay’s VAPID key, with which a browser subscribes'),
  contact: pushContactSchema.describe('the address by which push services reach the operator of the relay'),
  open: z
    .array(notificationSchema)
    .describe('notifications that the person has neither seen nor answered, oldest first'),
  devices: z.array(
    z.object({
      deviceId: z.string(),
      name: z.string(),
      here: z.boolean().describe('this device is the one that asks'),
      pushed: z.boolean().describe('this device is notified while the page is closed'),
      endpoint: z.string().nullable().describe('endpoint of the device’s subscription, shown to that device only'),
      kinds,
      quiet,
      usedAt: common.time,
      refused: z
        .number()
        .int()
        .nullable()
        .describe(
          'status with which the push service refused the last push; 401 and 403 are about the relay’s key or contact',
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
  over: z.boolean().describe('the person answered or saw it on another device'),
});
export type PushPayload = z.infer<typeof pushPayloadSchema>;

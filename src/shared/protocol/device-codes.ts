/**
 * A second device by one code. A page that is signed in shows it; the other device opens it, is let
 * in as a guest, and leaves its offer to join there, which that page takes. A guest may look at
 * nothing of anybody's and join: the person compares six words on both before it is let in for
 * good, and before any key is sent. What was photographed is worth nothing after.
 */
import { z } from 'zod';
import { DEVICE_CODES } from './device-code-settings.ts';

const time = z.number().describe('ms since the epoch');

export const deviceCodeSchema = z.object({
  id: z.string().describe('names it for who made it'),
  code: z.string().describe('good once'),
  until: time.describe('it can be opened until then'),
  address: z
    .string()
    .nullable()
    .describe(
      'where other machines reach the relay, as it was told; null: it answers on its own machine alone, for all it knows',
    ),
});
export type DeviceCode = z.infer<typeof deviceCodeSchema>;

export const deviceCodeStateSchema = z.object({
  state: z
    .enum(['open', 'opened', 'offered', 'over'])
    .describe('`opened`: a device came by it; `offered`: it has left its offer'),
  offer: z.string().nullable(),
});
export type DeviceCodeState = z.infer<typeof deviceCodeStateSchema>;

export const joinOfferSchema = z.strictObject({
  offer: z
    .string()
    .max(DEVICE_CODES.offerLength)
    .regex(/^\P{Cc}+$/u, 'must be text without control characters'),
});

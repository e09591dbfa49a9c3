/**
 * Adding a second device with one code.
 *
 * A signed-in page shows a code. The other device opens it, is let in as a guest, and leaves its
 * offer to join, which the page takes. A guest can only join, and sees nothing of the household.
 * The person compares six words on both devices before the guest is let in for good, and before any
 * key is sent. A photographed code is worthless afterwards.
 */
import { z } from 'zod';
import { DEVICE_CODES } from './device-code-settings.ts';

const time = z.number().describe('ms since the epoch');

export const deviceCodeSchema = z.object({
  id: z.string().describe('identifies the code to the browser that made it'),
  code: z.string().describe('works once'),
  until: time.describe('the code can be opened until then'),
  address: z
    .string()
    .nullable()
    .describe(
      'the address at which other machines reach the relay, as its settings say; null: as far as it knows, it answers on its own machine only',
    ),
});
export type DeviceCode = z.infer<typeof deviceCodeSchema>;

export const deviceCodeStateSchema = z.object({
  state: z
    .enum(['open', 'opened', 'offered', 'over'])
    .describe('`opened`: a device has opened the code; `offered`: that device has left its offer'),
  offer: z.string().nullable(),
});
export type DeviceCodeState = z.infer<typeof deviceCodeStateSchema>;

export const joinOfferSchema = z.strictObject({
  offer: z
    .string()
    .max(DEVICE_CODES.offerLength)
    .regex(/^\P{Cc}+$/u, 'must be text without control characters'),
});

const origin = z.string().describe('an address that begins with https://');
/** `GET /api/tailnet` */
export const tailnetSchema = z.object({
  address: origin.nullable().describe('where Tailscale leads to the relay; null: nowhere'),
  canServe: z.boolean().describe('Tailscale is on the relay’s machine, and signed in'),
});
export type Tailnet = z.infer<typeof tailnetSchema>;
/** `PUT /api/tailnet` */
export const servedTailnetSchema = z.object({ address: origin });

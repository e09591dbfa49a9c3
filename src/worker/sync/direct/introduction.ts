/**
 * What two devices say to be introduced. Each is JSON, sealed from one device to the other with the
 * household’s newest key: whoever hands it on can neither read nor change it, nor tell one kind
 * from another.
 *
 *     the one with the lower id        the other one
 *     want (where it begins)  ──────▶
 *                             ◀──────  ask, with a nonce of its own
 *     offer, with that nonce  ──────▶
 *                             ◀──────  answer, to that connection
 *
 * An offer counts once and only for the nonce that was just asked with, an answer only for the
 * connection that was just offered. So what is repeated or held back opens nothing, whatever the
 * clocks say.
 */
import { z } from 'zod';
import { syncId } from '../../../shared/protocol/sync/control.ts';
import { SYNC } from '../../../shared/protocol/sync/settings.ts';
import { DIRECT } from './settings.ts';

/**
 * A description of one end, in SDP: addresses, and the fingerprint of the certificate it will show.
 */
const description = z.string().min(1).max(SYNC.signalChars);

const introductionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('want') }),
  /**
   * `open`: the connections between the two that the asker has; where the other one has one of them
   * too, no other is needed.
   */
  z.object({ kind: z.literal('ask'), nonce: syncId, open: z.array(syncId).max(DIRECT.connectionsMost).readonly() }),
  z.object({ kind: z.literal('offer'), nonce: syncId, connection: syncId, description }),
  z.object({ kind: z.literal('answer'), connection: syncId, description }),
  /**
   * By a text that a person carries. `at`: when it was made, ms since the epoch by that device's
   * clock.
   */
  z.object({ kind: z.literal('text-offer'), connection: syncId, at: z.number(), description }),
  z.object({ kind: z.literal('text-answer'), connection: syncId, description }),
]);
export type Introduction = z.infer<typeof introductionSchema>;

export const writeIntroduction = (introduction: Introduction): string => JSON.stringify(introduction);

/** null: nothing that this version knows. */
export function readIntroduction(text: string): Introduction | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = introductionSchema.safeParse(json);
  return parsed.success ? parsed.data : null;
}

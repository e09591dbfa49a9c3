/** What a device may say on a sync socket, and why it is refused. */
import type { RawData } from 'ws';
import { fromDeviceSchema, type FromDevice } from '../../src/shared/protocol/sync/control.ts';
import { createJsonCount } from '../platform/json-bounds.ts';
import type { RecoverySet, Rotated } from './households.ts';
import { SYNC_LIMITS } from './settings.ts';

/** Why a socket is ended: `what` was refused, and a sentence. */
export class Refusal extends Error {
  readonly what: string;
  constructor(what: string, reason: string) {
    super(reason);
    this.what = what;
  }
}

export const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);

/** What a text message of a device says. Throws a `Refusal` where it fits nothing. */
export function parse(text: string): FromDevice {
  let value: unknown;
  const tooMuch = createJsonCount(SYNC_LIMITS.json).take(Buffer.from(text));
  if (tooMuch !== null)
    throw new Refusal('message', 'A text message holds more, or lies deeper in itself, than any does.');
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new Refusal('message', 'A text message must be JSON.');
    throw error;
  }
  const message = fromDeviceSchema.safeParse(value);
  if (message.success) return message.data;
  const [issue] = message.error.issues;
  throw new Refusal(
    'message',
    `A message does not fit${issue && issue.path.length > 0 ? ` at "${issue.path.map(String).join('.')}"` : ''}: ${issue?.message ?? ''}`,
  );
}

/** `ends`: whoever asked for this does not belong here. */
export function rotationRefusal({ reason }: Exclude<Rotated, { ok: true }>): {
  readonly reason: string;
  readonly ends: boolean;
} {
  switch (reason) {
    case 'late':
      return {
        reason: 'Another device renewed the household’s key first. Take its keys, and try again if it is still wanted.',
        ends: false,
      };
    case 'too-early':
      return {
        reason: 'The relay does not know the key before this one: register with the rotations that it lacks.',
        ends: false,
      };
    case 'taken':
      return { reason: 'Another household of this relay has this recovery id.', ends: false };
    case 'not-here':
      return { reason: 'This device is not one of the household.', ends: true };
    case 'bad-proof':
      return { reason: 'The key before did not sign this rotation.', ends: true };
  }
}
export const recoveryRefusal = ({ reason }: Exclude<RecoverySet, { ok: true }>) =>
  reason === 'taken'
    ? { reason: 'Another household of this relay has this recovery id.', ends: false }
    : { reason: 'The household’s current key did not sign this.', ends: true };

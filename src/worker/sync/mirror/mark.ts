/**
 * The mark of a team: the household's keys, this device's keys, and a short description of the
 * household, as one text. It is stored in localStorage and in a file. Either can restore this
 * device. Where they differ, the one that knows more is used.
 */
import { z } from 'zod';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import { rotationSchema } from '../../../shared/protocol/sync/control.ts';
import { base64url, digestOf, fromBase64url, readKeys, writeKeys } from '../crypto/index.ts';
import {
  deviceRecordSchema,
  recoverySchema,
  teamMarkSchema,
  type DeviceRecord,
  type Membership,
  type TeamMark,
} from '../data-worker/records.ts';
import { idOf } from '../../../shared/protocol/limits.ts';

export interface Mark {
  readonly membership: Membership;
  /** Needed to verify renewed keys. */
  readonly devices: readonly DeviceRecord[];
  readonly team: TeamMark;
  /** ms since the epoch */
  readonly writtenAt: number;
}

const bytesText = z.string().transform((text, ctx) => {
  const bytes = fromBase64url(text);
  if (bytes) return bytes;
  ctx.addIssue({ code: 'custom', message: 'is no base64url' });
  return z.NEVER;
});
const keysText = bytesText.transform((bytes, ctx) => {
  const keys = readKeys(bytes);
  if (keys) return keys;
  ctx.addIssue({ code: 'custom', message: 'is no keyring' });
  return z.NEVER;
});
const markSchema = z.object({
  version: z.literal(1),
  writtenAt: z.number(),
  keys: keysText,
  roll: z.array(z.string()),
  deviceId: idOf<DeviceId>(z.string()),
  seed: bytesText,
  rotations: z.array(rotationSchema),
  recovery: recoverySchema.nullable(),
  alone: z.boolean(),
  relay: z.boolean(),
  devices: z.array(deviceRecordSchema),
  team: teamMarkSchema,
});

const sumOf = (text: string) => digestOf(new TextEncoder().encode(text));

/** `<sum> <JSON>`. The checksum finds a text that was cut or changed. */
export function writeMark({ membership, devices, team, writtenAt }: Mark): string {
  const { household, keyring, roll, deviceId, seed, rotations, recovery, alone, relay } = membership;
  const json = JSON.stringify({
    version: 1,
    writtenAt,
    keys: base64url(writeKeys({ household, keyring })),
    roll,
    deviceId,
    seed: base64url(seed),
    rotations,
    recovery,
    alone,
    relay,
    devices,
    team,
  });
  return `${sumOf(json)} ${json}`;
}

/** Null: invalid, damaged, or written by a newer Roost. */
export function readMark(text: string | null): Mark | null {
  const [sum, json] = text === null ? [] : [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)];
  if (sum === undefined || json === undefined || sumOf(json) !== sum) return null;
  try {
    const parsed = markSchema.safeParse(JSON.parse(json));
    if (!parsed.success) return null;
    const { keys, roll, deviceId, seed, rotations, recovery, alone, relay, devices, team, writtenAt } = parsed.data;
    return {
      membership: { ...keys, roll, deviceId, seed, rotations, recovery, alone, relay, removed: false },
      devices,
      team,
      writtenAt,
    };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The mark that knows more: for one household the mark with more keys, otherwise the later one. */
export function betterMark(a: Mark | null, b: Mark | null): Mark | null {
  if (!a || !b) return a ?? b;
  const keys =
    a.membership.household === b.membership.household ? b.membership.keyring.length - a.membership.keyring.length : 0;
  return keys > 0 || (keys === 0 && b.writtenAt > a.writtenAt) ? b : a;
}

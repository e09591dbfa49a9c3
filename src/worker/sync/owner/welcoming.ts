/** What a device is given when it joins: sealed for it alone, see ../pairing. */
import { z } from 'zod';
import { rotationSchema, type Rotation } from '../../../shared/protocol/sync/control.ts';
import type { HouseholdKeys } from '../contract.ts';
import { base64url, fromBase64url, readKeys, writeKeys } from '../crypto/index.ts';
import { readJson, writeJson } from './json.ts';
import {
  deviceRecordSchema,
  letInSchema,
  tipSchema,
  recoverySchema,
  type DeviceRecord,
  type LetIn,
  type Tip,
  type Recovery,
} from './records.ts';

export interface Welcoming {
  readonly keys: HouseholdKeys;
  /** Who was given the newest of these keys when it was made. */
  readonly roll: readonly string[];
  readonly rotations: readonly Rotation[];
  readonly recovery: Recovery | null;
  readonly devices: readonly DeviceRecord[];
  /** Which conversations must be whole before their agents are woken there. */
  readonly tips: readonly Tip[];
  /** The word of the device that lets it in; null: it was none. */
  readonly letIn: LetIn | null;
}

const welcomeSchema = z.object({
  keys: z.string(),
  roll: z.array(z.string()),
  rotations: z.array(rotationSchema),
  recovery: recoverySchema.nullable(),
  devices: z.array(deviceRecordSchema),
  tips: z.array(tipSchema),
  letIn: letInSchema.nullable(),
});

export const writeWelcoming = (welcoming: Welcoming): Uint8Array =>
  writeJson({ ...welcoming, keys: base64url(writeKeys(welcoming.keys)) });

/** Null where it is none, or a newer Roost wrote it. */
export function readWelcoming(bytes: Uint8Array): Welcoming | null {
  const welcoming = readJson(welcomeSchema, bytes);
  const written = welcoming && fromBase64url(welcoming.keys);
  const keys = written && readKeys(written);
  return welcoming && keys ? { ...welcoming, keys } : null;
}

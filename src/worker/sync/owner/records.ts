/** What this device knows of its household: kept in its own database, never sent in the clear. */
import { z } from 'zod';
import type { AgentId, DeviceId, SessionId } from '../../../shared/domain/ids.ts';
import { signature, syncId, type Rotation } from '../../../shared/protocol/sync/control.ts';
import type { EpochKey, Stream } from '../contract.ts';
import { SYNC_OWNER } from '../settings.ts';
import { idOf } from '../../../shared/protocol/ids.ts';

/** Whoever has a recovery phrase: where its box is, and what to seal it to. */
export interface Recovery {
  readonly id: string;
  readonly boxKey: string;
  /** The keyring, sealed to the phrase. */
  readonly box: string;
  /**
   * The device that made it, or that its words were typed on. It counts as long as that one is of
   * the household.
   */
  readonly by: string;
  /** ms since the epoch */
  readonly time: number;
}

export interface Membership {
  readonly household: string;
  readonly keyring: readonly EpochKey[];
  /**
   * The devices that were given the newest key when it was made; whoever came since has proven that
   * it has that key.
   */
  readonly roll: readonly string[];
  readonly deviceId: DeviceId;
  /** 32 random bytes: this device's own keys come from them. */
  readonly seed: Uint8Array;
  /** What renewed the household key, for a relay that has forgotten it. */
  readonly rotations: readonly Rotation[];
  readonly recovery: Recovery | null;
  /**
   * Nobody has been let in and no phrase was made: its person knows of no household yet. It is
   * sealed and kept all the same.
   */
  readonly alone: boolean;
  /** Are sealed entries handed to the relay? The person may switch it off. */
  readonly relay: boolean;
  /** Removed by another device: nothing more is sent or fetched. */
  readonly removed: boolean;
}

export const teamMarkSchema = z.object({
  human: z.string().nullable().describe('what the agents call the person; null: not said yet'),
  lead: z.string().nullable(),
  agents: z.number(),
  documents: z.number(),
});
/** Who lives here, as far as it was known when it was written. */
export type TeamMark = z.infer<typeof teamMarkSchema>;

/** This browser's storage was lost, and what was in it is being brought back. */
export interface Returning {
  /** ms since the epoch */
  readonly since: number;
  /** Who lived here, as the mark tells. */
  readonly team: TeamMark;
}

/** It is over, and the person is to be told once. */
export interface Returned {
  /** Documents there are now. */
  readonly documents: number;
  /** Documents that were here by the mark's word, and could not be found. */
  readonly lost: number;
}

/**
 * Where the next entry of each stream goes; null, or left out: under a writer that is yet to be
 * drawn.
 */
export type Counters = { readonly [L in Stream]?: { readonly writer: string; readonly next: number } | null };

/** A writer of this device: entries before `next` may be its own. */
export interface OwnWriter {
  readonly writer: string;
  readonly stream: Stream;
  readonly next: number;
  /**
   * Others had other entries of it, and this device has left it. Otherwise it wrote under it in an
   * earlier run.
   */
  readonly forked: boolean;
}

/** How far what was here before sharing began is sealed; `through` is the last document that is. */
export interface FirstSeal {
  readonly done: boolean;
  readonly through: { readonly at: string; readonly id: string } | null;
}

export const recoverySchema = z.object({
  id: z.string(),
  boxKey: z.string(),
  box: z.string(),
  by: z.string(),
  time: z.number(),
});

/** Another device’s word that it let this one in. */
export const letInSchema = z.object({
  by: syncId,
  time: z.number().describe('ms since the epoch'),
  signature: signature.describe('of the device `by`, over `letInBytes`'),
});
export type LetIn = z.infer<typeof letInSchema>;

/** What a device says of itself; see ./genuine.ts. The newest by `epoch` and `time` holds. */
export const deviceRecordSchema = z.object({
  deviceId: idOf<DeviceId>(z.string()).describe('follows from the two keys'),
  name: z.string().max(SYNC_OWNER.nameChars),
  signKey: z.string().describe('Ed25519: what it says is checked with it'),
  boxKey: z.string().describe('X25519: keys are sealed to it'),
  addedAt: z.number(),
  time: z.number().describe('when this was written, ms since the epoch'),
  epoch: z.number().describe('of the newest key that it had then'),
  letIn: letInSchema.nullable().describe('null: it is the first, or came by the phrase, or does not say'),
  signature: z.string().describe('its own, over `deviceBytes`'),
  proof: z.string().describe('with the household’s key of `epoch`, over the same'),
});
export type DeviceRecord = z.infer<typeof deviceRecordSchema>;

/**
 * An agent's last conversation, as the device that wrote this knew it. The newest by `time` holds.
 */
export const tipSchema = z.object({
  agentId: idOf<AgentId>(z.string()),
  sessionId: idOf<SessionId>(z.string()),
  messages: z.number(),
  time: z.number(),
});
export type Tip = z.infer<typeof tipSchema>;

/** Where the household’s phrase is kept, for whoever renews the key; see ./genuine.ts. */
export const recoveryRecordSchema = z.object({
  id: z.string(),
  boxKey: z.string(),
  by: z.string().describe('the device that made it'),
  keys: z.object({ signKey: z.string(), boxKey: z.string() }).describe('of that device'),
  epoch: z.number(),
  time: z.number(),
  signature: z.string().describe('of that device, over `phraseBytes`'),
  proof: z.string().describe('with the household’s key of `epoch`, over the same'),
});
export type RecoveryRecord = z.infer<typeof recoveryRecordSchema>;

/**
 * The synchronisation methods of the data worker that a tab can call. All reject with an Error
 * whose message is for people.
 */
import { z } from 'zod';
import type { AgentId, DeviceId } from '../../domain/ids.ts';
import { checkName } from '../../domain/names.ts';
import { method, none, typed, type AnswersOf, type CallsOf } from '../../rpc/method.ts';
import type { CaughtUp, DirectReport, SyncStatus } from './page.ts';
import { SYNC } from './settings.ts';
import { idOf } from '../limits.ts';

/** The person's name for a device. */
const deviceName = z
  .string()
  .max(60)
  .transform((raw, context) => {
    const checked = checkName(raw, 'device');
    if (checked.ok) return checked.name;
    context.addIssue({ code: 'custom', message: checked.reason });
    return z.NEVER;
  });

export const SYNC_METHODS = {
  syncStatus: method(none, typed<SyncStatus>()),
  /**
   * Sets this device's name, before another device is let in or a phrase is made. Creates the
   * household's key if there is none.
   */
  shareHousehold: method(z.tuple([z.object({ deviceName })]), z.null()),
  /** Starts joining: this device shows an offer. Further steps are announced as news. */
  beginJoin: method(z.tuple([z.object({ deviceName })]), z.null()),
  /** On the new device: whether the six words match. `false` cancels, at any step. */
  answerJoin: method(z.tuple([z.object({ same: z.boolean() })]), z.null()),
  /** On a device of the household: accepts an offer and returns the six words. */
  beginInvite: method(
    z.tuple([z.object({ offer: z.string().max(SYNC.slotChars) })]),
    typed<{ readonly words: readonly string[] }>(),
  ),
  /**
   * Whether the words match on both devices. Yes sends the keys, and resolves when the new device
   * has them. No ends the invitation.
   */
  answerInvite: method(z.tuple([z.object({ same: z.boolean() })]), typed<{ readonly joined: boolean }>()),
  /**
   * Creates a recovery phrase of 24 words. It takes effect once `keepPhrase` succeeds. An earlier
   * phrase stays valid until then.
   */
  makePhrase: method(none, typed<{ readonly words: readonly string[] }>()),
  /**
   * Verifies that the person has written the phrase down. `position` is 1–24. A wrong word rejects,
   * and can be retried.
   */
  keepPhrase: method<[{ readonly answers: readonly { readonly position: number; readonly word: string }[] }], null>(
    z.tuple([
      z.object({
        answers: z.array(z.object({ position: z.number().int().min(1).max(24), word: z.string().max(100) })).max(24),
      }),
    ]),
    z.null(),
  ),
  /** Whether this is the household's phrase. */
  checkPhrase: method(z.tuple([z.object({ phrase: z.string().max(1_000) })]), typed<{ readonly good: boolean }>()),
  /** Joins the household of the phrase with this device. */
  restore: method(z.tuple([z.object({ phrase: z.string().max(1_000), deviceName })]), z.null()),
  /** Turns sending sealed entries to the relay on or off. */
  keepAtRelay: method(z.tuple([z.object({ on: z.boolean() })]), z.null()),
  /**
   * Takes the mark of a team that this tab found in localStorage, and returns the mark to store
   * there. Null: none.
   */
  offerMark: method(z.tuple([z.object({ text: z.string().nullable() })]), typed<{ readonly text: string | null }>()),
  /** What was restored, reported once and to one tab. Null: nothing, or already reported. */
  takeReturned: method(none, typed<{ readonly documents: number; readonly lost: number } | null>()),
  /** Gives up a team that cannot be restored: nothing of it stays on this device. */
  beginAnew: method(none, z.null()),
  /** Accepts entries that wait because they are dated ahead of this device's clock. */
  takeAhead: method(none, z.null()),
  nameDevice: method(z.tuple([z.object({ name: deviceName })]), z.null()),
  /**
   * Removes a device at once, together with its dependent devices that are not in `keep`, and
   * renews the household key once. Rejects if the relay cannot be reached.
   */
  removeDevice: method(
    z.tuple([z.object({ deviceId: idOf<DeviceId>(z.string()), keep: z.array(z.string()).max(SYNC.devices) })]),
    typed<{ readonly removed: readonly string[] }>(),
  ),
  /** Resolves when the last sessions of these agents are on this device, or after `patience` ms. */
  caughtUp: method<[{ readonly agentIds: readonly AgentId[]; readonly patience: number }], CaughtUp>(
    z.tuple([z.object({ agentIds: z.array(idOf<AgentId>(z.string())), patience: z.number().min(0) })]),
    typed<CaughtUp>(),
  ),
  direct: method<[DirectReport], null>(
    z.tuple([
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('ready') }),
        z.object({ kind: z.literal('signal'), connection: z.string(), data: z.string() }),
        z.object({ kind: z.literal('opened'), connection: z.string() }),
        z.object({ kind: z.literal('frame'), connection: z.string(), frame: z.instanceof(Uint8Array) }),
        z.object({ kind: z.literal('sent'), connection: z.string(), bytes: z.number().int().min(0) }),
        z.object({ kind: z.literal('closed'), connection: z.string() }),
      ]),
    ]),
    z.null(),
  ),
  /** Without a relay: a text to paste on another device of this household. */
  makeDirectOffer: method(none, typed<{ readonly text: string }>()),
  /** Accepts such a text. Returns one to paste back, or null if the text was the answer. */
  takeDirectText: method(
    z.tuple([z.object({ text: z.string().max(SYNC.slotChars) })]),
    typed<{ readonly text: string | null }>(),
  ),
};

export type SyncCalls = CallsOf<typeof SYNC_METHODS>;
export type SyncAnswers = AnswersOf<typeof SYNC_METHODS>;

/**
 * What a tab may ask of synchronisation in the ledger's owner. All reject with an Error whose
 * message people can read.
 */
import { z } from 'zod';
import type { AgentId, DeviceId } from '../../domain/ids.ts';
import { checkName } from '../../domain/names.ts';
import { method, none, typed, type AnswersOf, type CallsOf } from '../../rpc/method.ts';
import type { DirectReport, SyncStatus } from './page.ts';
import { SYNC } from './settings.ts';
import { idOf } from '../ids.ts';

/** A person's word for a device. */
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
   * Before another device is let in, or a phrase is made: this device's name. The household's key
   * is made where there is none.
   */
  shareHousehold: method(z.tuple([z.object({ deviceName })]), z.null()),
  /** This device wants to join: shows an offer. What follows comes as news. */
  beginJoin: method(z.tuple([z.object({ deviceName })]), z.null()),
  /** On the new device: are the six words the same? `false` gives up, at every step. */
  answerJoin: method(z.tuple([z.object({ same: z.boolean() })]), z.null()),
  /** On a device of the household: takes an offer and answers the six words. */
  beginInvite: method(
    z.tuple([z.object({ offer: z.string().max(SYNC.slotChars) })]),
    typed<{ readonly words: readonly string[] }>(),
  ),
  /**
   * Are they the same on both? Yes sends the keys, and answers when the new device has them; no
   * ends it.
   */
  answerInvite: method(z.tuple([z.object({ same: z.boolean() })]), typed<{ readonly joined: boolean }>()),
  /**
   * A new recovery phrase of 24 words. It counts once `keepPhrase` has been passed; an earlier one
   * counts until then.
   */
  makePhrase: method(none, typed<{ readonly words: readonly string[] }>()),
  /** The drill: `place` 1–24. A wrong word rejects, and may be tried again. */
  keepPhrase: method<[{ readonly answers: readonly { readonly position: number; readonly word: string }[] }], null>(
    z.tuple([
      z.object({
        answers: z.array(z.object({ position: z.number().int().min(1).max(24), word: z.string().max(100) })).max(24),
      }),
    ]),
    z.null(),
  ),
  /** Is this the household's phrase? */
  checkPhrase: method(z.tuple([z.object({ phrase: z.string().max(1_000) })]), typed<{ readonly good: boolean }>()),
  /** Takes this device into the household of the phrase. */
  restore: method(z.tuple([z.object({ phrase: z.string().max(1_000), deviceName })]), z.null()),
  /** Hands sealed entries to the relay, or no more. */
  keepAtRelay: method(z.tuple([z.object({ on: z.boolean() })]), z.null()),
  /**
   * The mark of a team as this tab found it in localStorage, and as it is to stand there; null:
   * none.
   */
  offerMark: method(z.tuple([z.object({ text: z.string().nullable() })]), typed<{ readonly text: string | null }>()),
  /** What was brought back, told to one tab and once; null: nothing, or it was told. */
  takeReturned: method(none, typed<{ readonly documents: number; readonly lost: number } | null>()),
  /** Gives up a team that cannot be brought back: nothing of it is kept here any more. */
  beginAnew: method(none, z.null()),
  /** Takes what waits because it is dated ahead of this device's clock. */
  takeAhead: method(none, z.null()),
  nameDevice: method(z.tuple([z.object({ name: deviceName })]), z.null()),
  /**
   * Out at once, with those that go with it except what is to be kept, and the household key is
   * renewed, once. Rejects where the relay cannot be reached.
   */
  removeDevice: method(
    z.tuple([z.object({ deviceId: idOf<DeviceId>(z.string()), keep: z.array(z.string()).max(SYNC.devices) })]),
    typed<{ readonly removed: readonly string[] }>(),
  ),
  /**
   * Resolves when the last sessions of these agents are here, or after `patience` ms; those still
   * on their way. Where it is not known yet what other devices have, that is waited for up to
   * `comparePatience` ms; `compared`: it is known.
   */
  caughtUp: method<
    [{ readonly agentIds: readonly AgentId[]; readonly patience: number; readonly comparePatience: number }],
    { readonly arriving: readonly string[]; readonly compared: boolean }
  >(
    z.tuple([
      z.object({
        agentIds: z.array(idOf<AgentId>(z.string())),
        patience: z.number().min(0),
        comparePatience: z.number().min(0),
      }),
    ]),
    typed<{ readonly arriving: readonly string[]; readonly compared: boolean }>(),
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
  /** Without a relay: a text to be pasted on another device of this household. */
  makeDirectOffer: method(none, typed<{ readonly text: string }>()),
  /** Takes such a text; answers with one to be pasted back, or null where it was the answer. */
  takeDirectText: method(
    z.tuple([z.object({ text: z.string().max(SYNC.slotChars) })]),
    typed<{ readonly text: string | null }>(),
  ),
};

export type SyncCalls = CallsOf<typeof SYNC_METHODS>;
export type SyncAnswers = AnswersOf<typeof SYNC_METHODS>;

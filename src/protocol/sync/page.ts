/** What tabs and the ledger's owner say to each other about synchronisation, pairing and recovery. */
import { z } from 'zod';
import { checkName } from '../../domain/names.ts';
import { SYNC } from './settings.ts';

/** A device of the household. */
export interface DeviceView {
  readonly deviceId: string;
  readonly name: string;
  /** Is it this one? */
  readonly self: boolean;
  /** ms since the epoch. */
  readonly addedAt: number;
  /** When the relay heard of it last, ms since the epoch; null: not known now. */
  readonly lastSeen: number | null;
  readonly online: boolean;
  /** Is there a direct line to it, without the relay? */
  readonly direct: boolean;
}

/** Where this device stands on its way into a household. */
export type Joining =
  /** The offer is shown; nobody has taken it yet. `until`: ms since the epoch. */
  | { readonly step: 'offering'; readonly offer: string; readonly until: number }
  /** Another device has taken the offer: the person compares the words on both. */
  | { readonly step: 'comparing'; readonly words: readonly string[]; readonly until: number }
  /** The person said here that the words are the same; the other device has not said so yet. */
  | { readonly step: 'waiting'; readonly words: readonly string[]; readonly until: number }
  | { readonly step: 'failed'; readonly reason: string };

/** off: the person wants none; lost: the relay cannot be reached; locked-out: this browser is not signed in there. */
export type RelayLink = 'off' | 'connecting' | 'live' | 'lost' | 'locked-out';

/** Where everything is kept a second time, sealed. */
export interface KeptElsewhere {
  readonly link: RelayLink;
  /** Entries on this device that the relay does not have yet. */
  readonly toSend: number;
  /** Are there files beside the browser's database? */
  readonly files: boolean;
  /** What is wrong, as a sentence; null: nothing. */
  readonly trouble: string | null;
}

/** Who lived here, where their storage was lost. */
export interface LostTeam {
  readonly human: string | null;
  readonly lead: string | null;
  readonly agents: number;
  readonly documents: number;
}

export type SyncStatus =
  /** No other device, and no phrase. `kept`: null where nobody lives here yet. */
  | { readonly kind: 'alone'; readonly joining: Joining | null; readonly kept: KeptElsewhere | null }
  /** The browser lost what it stored for this page, and it is being brought back. */
  | {
      readonly kind: 'returning';
      readonly joining: Joining | null;
      readonly team: LostTeam;
      readonly link: RelayLink;
      /** Of what is read now: from this device's files, then from the relay; null: not known yet. */
      readonly progress: { readonly from: 'files' | 'relay'; readonly done: number; readonly of: number } | null;
      /** Agents whose last session is not whole here yet: they are not to be woken on this device. */
      readonly arriving: readonly string[];
      /** It was looked for in every place, and nobody was found. */
      readonly missing: boolean;
    }
  /** This device was removed from its household: what is here stays here, and nothing new comes. */
  | { readonly kind: 'removed'; readonly joining: Joining | null }
  | {
      readonly kind: 'shared';
      readonly household: string;
      readonly deviceId: string;
      readonly link: RelayLink;
      /** Are there files beside the browser's database? */
      readonly files: boolean;
      readonly devices: readonly DeviceView[];
      /** Entries on this device that the relay does not have yet. */
      readonly toSend: number;
      /** Fetching a backlog: entries that are here, of so many; null: nothing known is missing. */
      readonly backlog: { readonly done: number; readonly of: number } | null;
      /** Agents whose last session is not whole here yet: they are not to be woken on this device. */
      readonly arriving: readonly string[];
      /** Was a recovery phrase made, written down and tried? */
      readonly phrase: boolean;
      /** Entries written by a newer Roost: kept, and opened after an update. */
      readonly newer: number;
      /** Entries that wait because they are dated ahead of this device's clock, up to `latest`, ms since the epoch; null: none. `taken`: all of them can be taken. */
      readonly ahead: { readonly entries: number; readonly latest: number; readonly taken: boolean } | null;
      /** Entries that were refused since the page's start: changed, moved or forged by somebody. */
      readonly refused: number;
      /** What is wrong, as a sentence; null: nothing. */
      readonly trouble: string | null;
    };

/** Named by the tab that carries direct lines, from here to another device's browser. */
export type DirectOrder =
  /** Open a line. `offer`: ours to begin; otherwise a signal with an offer follows. */
  | { readonly kind: 'open'; readonly line: string; readonly offer: boolean }
  | { readonly kind: 'signal'; readonly line: string; readonly data: string }
  | { readonly kind: 'frame'; readonly line: string; readonly frame: Uint8Array }
  | { readonly kind: 'close'; readonly line: string };
/** What a tab tells of the lines it carries. */
export type DirectReport =
  /** This tab carries from now on: it has none yet. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'signal'; readonly line: string; readonly data: string }
  | { readonly kind: 'opened'; readonly line: string }
  | { readonly kind: 'frame'; readonly line: string; readonly frame: Uint8Array }
  /** So many bytes of the frames that were ordered have left this page since the line was opened. */
  | { readonly kind: 'sent'; readonly line: string; readonly bytes: number }
  | { readonly kind: 'closed'; readonly line: string };

/** Calls of a tab. All reject with an Error whose message people can read. */
export interface SyncCalls {
  syncStatus(): SyncStatus;
  /** Before another device is let in, or a phrase is made: this device's name. The household's key is made where there is none. */
  shareHousehold(request: { deviceName: string }): null;
  /** This device wants to join: shows an offer. What follows comes as news. */
  beginJoin(request: { deviceName: string }): null;
  /** On the new device: are the six words the same? `false` gives up, at every step. */
  answerJoin(request: { same: boolean }): null;
  /** On a device of the household: takes an offer and answers the six words. */
  beginInvite(request: { offer: string }): { readonly words: readonly string[] };
  /** Are they the same on both? Yes sends the keys, and answers when the new device has them; no ends it. */
  answerInvite(request: { same: boolean }): { readonly joined: boolean };
  /** A new recovery phrase of 24 words. It counts once `keepPhrase` has been passed; an earlier one counts until then. */
  makePhrase(): { readonly words: readonly string[] };
  /** The drill: `place` 1–24. A wrong word rejects, and may be tried again. */
  keepPhrase(request: { answers: readonly { readonly place: number; readonly word: string }[] }): null;
  /** Is this the household's phrase? */
  checkPhrase(request: { phrase: string }): { readonly good: boolean };
  /** Takes this device into the household of the phrase. */
  restore(request: { phrase: string; deviceName: string }): null;
  /** Hands sealed entries to the relay, or no more. */
  keepAtRelay(request: { on: boolean }): null;
  /** The mark of a team as this tab found it in localStorage, and as it is to stand there; null: none. */
  offerMark(request: { text: string | null }): { readonly text: string | null };
  /** What was brought back, told to one tab and once; null: nothing, or it was told. */
  takeReturned(): { readonly documents: number; readonly lost: number } | null;
  /** Gives up a team that cannot be brought back: nothing of it is kept here any more. */
  beginAnew(): null;
  /** Takes what waits because it is dated ahead of this device's clock. */
  takeAhead(): null;
  nameDevice(request: { name: string }): null;
  /** Out at once, and the household key is renewed. Rejects where the relay cannot be reached. */
  removeDevice(request: { deviceId: string }): null;
  /** Resolves when the last sessions of these agents are here, or after `patience` ms; those still on their way. */
  caughtUp(request: { agentIds: readonly string[]; patience: number }): { readonly arriving: readonly string[] };
  direct(report: DirectReport): null;
  /** Without a relay: a text to be pasted on another device of this household. */
  makeDirectOffer(): { readonly text: string };
  /** Takes such a text; answers with one to be pasted back, or null where it was the answer. */
  takeDirectText(request: { text: string }): { readonly text: string | null };
}

/** A person's word for a device. */
export const deviceName = z
  .string()
  .max(60)
  .transform((raw, context) => {
    const checked = checkName(raw, 'device');
    if (checked.ok) return checked.name;
    context.addIssue({ code: 'custom', message: checked.reason });
    return z.NEVER;
  });

/** What each call is given, as the owner reads it. */
export const SYNC_REQUESTS = {
  syncStatus: z.tuple([]),
  shareHousehold: z.tuple([z.object({ deviceName })]),
  beginJoin: z.tuple([z.object({ deviceName })]),
  answerJoin: z.tuple([z.object({ same: z.boolean() })]),
  beginInvite: z.tuple([z.object({ offer: z.string().max(SYNC.slotChars) })]),
  answerInvite: z.tuple([z.object({ same: z.boolean() })]),
  makePhrase: z.tuple([]),
  keepPhrase: z.tuple([
    z.object({
      answers: z.array(z.object({ place: z.number().int().min(1).max(24), word: z.string().max(100) })).max(24),
    }),
  ]),
  checkPhrase: z.tuple([z.object({ phrase: z.string().max(1_000) })]),
  restore: z.tuple([z.object({ phrase: z.string().max(1_000), deviceName })]),
  keepAtRelay: z.tuple([z.object({ on: z.boolean() })]),
  offerMark: z.tuple([z.object({ text: z.string().nullable() })]),
  takeReturned: z.tuple([]),
  beginAnew: z.tuple([]),
  takeAhead: z.tuple([]),
  nameDevice: z.tuple([z.object({ name: deviceName })]),
  removeDevice: z.tuple([z.object({ deviceId: z.string() })]),
  caughtUp: z.tuple([z.object({ agentIds: z.array(z.string()), patience: z.number().min(0) })]),
  direct: z.tuple([
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('ready') }),
      z.object({ kind: z.literal('signal'), line: z.string(), data: z.string() }),
      z.object({ kind: z.literal('opened'), line: z.string() }),
      z.object({ kind: z.literal('frame'), line: z.string(), frame: z.instanceof(Uint8Array) }),
      z.object({ kind: z.literal('sent'), line: z.string(), bytes: z.number().int().min(0) }),
      z.object({ kind: z.literal('closed'), line: z.string() }),
    ]),
  ]),
  makeDirectOffer: z.tuple([]),
  takeDirectText: z.tuple([z.object({ text: z.string().max(SYNC.slotChars) })]),
} as const satisfies { readonly [Name in keyof SyncCalls]: z.ZodType<Parameters<SyncCalls[Name]>> };

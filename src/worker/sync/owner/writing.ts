/**
 * What this device writes into entries: what waits in the ledger's outbox, what was there before,
 * and what devices tell each other.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { RandomBytes } from '../contract.ts';
import { newWriter, sealEntry } from '../crypto/index.ts';
import type { Ahead } from './ahead.ts';
import type { Backfill } from './backfill.ts';
import type { Beside } from './beside.ts';
import { type SyncDatabase, type SyncMeta, writeMeta } from './database.ts';
import type { DeviceEvents } from './events.ts';
import type { Exchange } from './exchange.ts';
import { createForks } from './forks.ts';
import type { Heard } from './heard.ts';
import type { Holding } from './holding.ts';
import type { Keys } from './keys.ts';
import type { Members } from './members.ts';
import { createOutgoing, type OutgoingPump } from './outgoing.ts';
import type { OwnWriters } from './own-writers.ts';
import { latestOf, writePayload, type Payload } from './payload.ts';
import type { LedgerPort, DocumentKey } from './ports.ts';
import type { FirstSeal } from './records.ts';
import { createSealer, type Sealer } from './sealer.ts';
import type { Standing } from './standing.ts';
import type { Unacknowledged } from './unacknowledged.ts';
import { SYNC_OWNER } from '../settings.ts';
import { sealingsOf } from './streams.ts';

/**
 * Tells the other devices which conversation is each agent's last, and how long it is, when a
 * session has ended and all of it is here: so that a device knows when it has enough to wake
 * somebody.
 */
interface TipTeller {
  /** Tells in a moment, unless another device has by then. */
  look(): void;
  tell(): Promise<void>;
  close(): void;
}

function createTipTeller({
  ledger,
  members,
  timers,
  now,
  random,
  isWhole,
  say,
  onTrouble,
}: {
  readonly ledger: Pick<LedgerPort, 'lastTalks'>;
  readonly members: Pick<Members, 'tips' | 'hear'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly random: () => number;
  /** Is everything here that is known of? Else what we would tell is less than what is. */
  readonly isWhole: () => boolean;
  readonly say: (payload: Payload) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}): TipTeller {
  let cancel: (() => void) | null = null;

  async function tell() {
    if (!isWhole()) return;
    const known = new Map(members.tips().map((tip) => [tip.agentId, tip]));
    const time = now();
    const tips = (await ledger.lastTalks()).flatMap((talk) => {
      const tip = known.get(talk.agentId);
      return tip?.sessionId === talk.sessionId && tip.messages >= talk.messages ? [] : [{ ...talk, time }];
    });
    if (tips.length === 0) return;
    await members.hear({ tips });
    await say({ tips });
  }

  return {
    look() {
      cancel?.();
      cancel = timers.after(
        SYNC_OWNER.tipsAfter + SYNC_OWNER.relayedWait + random() * SYNC_OWNER.relayedJitter,
        () => void tell().catch(onTrouble),
      );
    },
    tell,
    close: () => cancel?.(),
  };
}

/**
 * Seals what was here before this device began to share: everything, oldest first, so that the
 * newest has the highest counters and is fetched first. How far it came is remembered with each
 * step.
 */
interface FirstSealDeps {
  readonly db: SyncDatabase;
  readonly ledger: Pick<LedgerPort, 'betweenAppends' | 'keys' | 'documentsAt'>;
  readonly sealer: Pick<Sealer, 'seal'>;
  /** Documents that lie in entries already. */
  readonly sealed: () => Promise<ReadonlySet<string>>;
  readonly onProgress: (progress: { readonly done: number; readonly of: number } | null) => void;
  readonly isClosed: () => boolean;
}

const isAfter = (key: DocumentKey, through: FirstSeal['through']) =>
  through === null || key.at > through.at || (key.at === through.at && key.id > through.id);

/** From `state` on. Appends made since go through the outbox; what both bring is harmless. */
async function sealEverything(
  { db, ledger, sealer, sealed, onProgress, isClosed }: FirstSealDeps,
  state: FirstSeal,
): Promise<void> {
  const keys = await ledger.betweenAppends(() => ledger.keys());
  const known = keys.length === 0 ? new Set<string>() : await sealed();
  const left = keys.filter((key) => isAfter(key, state.through) && !known.has(key.id));
  for (let at = 0; at < left.length; at += SYNC_OWNER.firstSeal) {
    if (isClosed()) return;
    const some = left.slice(at, at + SYNC_OWNER.firstSeal);
    const last = some.at(-1);
    const firstSeal: FirstSeal = { done: false, through: last ? { at: last.at, id: last.id } : state.through };
    await sealer.seal(sealingsOf(await ledger.documentsAt(some)), { firstSeal });
    onProgress({ done: at + some.length, of: left.length });
  }
  await writeMeta(db, { firstSeal: { done: true, through: null } });
  onProgress(null);
}

export interface WritingDeps {
  readonly db: SyncDatabase;
  readonly ledger: LedgerPort;
  readonly timers: Timers;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms, only ever forward */
  readonly elapsed: () => number;
  readonly random: RandomBytes;
  readonly keys: Keys;
  readonly members: Members;
  readonly backfill: Backfill;
  readonly holding: Holding;
  readonly heard: Heard;
  readonly ahead: Ahead;
  readonly beside: Beside;
  readonly writers: OwnWriters;
  readonly exchange: Exchange;
  readonly unacknowledged: Unacknowledged;
  readonly standing: Standing;
  readonly events: DeviceEvents;
  /** How far what was here before is sealed. */
  readonly firstSeal: FirstSeal;
  readonly isClosed: () => boolean;
}

export interface Writing {
  readonly outgoing: OutgoingPump;
  readonly tipTeller: TipTeller;
  /** With the newest key, for this place. */
  seal(writer: string, counter: number, payload: Uint8Array): Uint8Array;
  /** To the other devices. Durable when it resolves. */
  say(payload: Payload, along?: Partial<SyncMeta>): Promise<void>;
  /**
   * Whatever was here before entries were, and lies in none. Never rejects: it is told as trouble.
   */
  sealRest(): Promise<void>;
  close(): Promise<void>;
}

export function createWriting(deps: WritingDeps): Writing {
  const { db, ledger, timers, keys, members, holding, writers, exchange, standing, events, random } = deps;
  const { entries } = holding;
  const onTrouble = standing.trouble('sealing');
  /** 0 to 1 */
  const chance = () => (random(1)[0] ?? 0) / 256;

  const seal = (writer: string, counter: number, payload: Uint8Array) =>
    sealEntry({ keys: keys.household(), writer, counter, payload, random });
  const sealer = createSealer({
    db,
    writers,
    entries,
    seal,
    newWriter: (stream) => newWriter(keys.household(), stream, random),
    // A relay that was put back as far as this profile was would agree: the files may know of more.
    agrees: (writer) => standing.now().filesRead && exchange.replica().agrees(writer),
    onSealed(fresh) {
      deps.beside.add(fresh);
      deps.unacknowledged.sealed(fresh.length);
      exchange.replica().wrote(fresh);
      standing.changed();
    },
  });
  const say = (payload: Payload, along?: Partial<SyncMeta>) =>
    sealer.seal([{ stream: 'people', payload: writePayload(payload) }], along);
  const outgoing = createOutgoing({
    ledger,
    sealer,
    heard: deps.heard,
    timers,
    elapsed: deps.elapsed,
    random: chance,
    // What is written in answer to it is dated after it.
    onOwn: (docs) => deps.ahead.takeUpTo(latestOf({ docs: [...docs] })),
    hasOthers: () => members.devices().some((one) => !one.removed && one.deviceId !== keys.membership().deviceId),
    onTrouble,
    onChange: standing.changed,
  });
  const tipTeller = createTipTeller({
    ledger,
    members,
    timers,
    now: deps.now,
    random: chance,
    isWhole: () => standing.now().backlog === null && deps.backfill.arriving().length === 0,
    say,
    onTrouble,
  });
  events.on('backlog', () => {
    if (standing.now().backlog === null) tipTeller.look();
  });
  const forks = createForks({
    entries,
    writers,
    sealer,
    open: holding.open,
    restart: exchange.restart,
    timers,
    onTrouble,
  });
  events.on('ahead', forks.ahead);
  events.on('conflict', forks.conflict);

  return {
    outgoing,
    tipTeller,
    seal,
    say,
    async sealRest() {
      if (deps.firstSeal.done) return;
      await sealEverything(
        {
          db,
          ledger,
          sealer,
          sealed: entries.documentIds,
          onProgress(sealing) {
            standing.set({ sealing });
            if (sealing === null) tipTeller.look();
          },
          isClosed: deps.isClosed,
        },
        deps.firstSeal,
      ).catch(onTrouble);
    },
    async close() {
      forks.close();
      tipTeller.close();
      await outgoing.close();
    },
  };
}

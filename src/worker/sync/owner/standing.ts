/**
 * How a device within its household stands, as its parts find it: what people are told is made of
 * this.
 */
import { errorMessage } from '../../../shared/domain/platform/error-message.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { DeviceSeen } from '../../../shared/protocol/sync/control.ts';
import type { RelayLink } from '../../../shared/protocol/sync/page.ts';

export interface Facts {
  /** What the relay said of the devices, by id. */
  readonly seen: ReadonlyMap<string, DeviceSeen>;
  readonly link: Exclude<RelayLink, 'locked-out'>;
  /**
   * Entries that are known to be missing, and how far it has come; null: none. `people`: those that
   * come before talk.
   */
  readonly backlog: { readonly done: number; readonly of: number; readonly people: number } | null;
  /**
   * Entries with bytes of pictures and files that are known to be missing: they come last, and no
   * agent waits for them.
   */
  readonly attachments: number;
  /** How far what was here before is sealed; null: all of it is. */
  readonly sealing: { readonly done: number; readonly of: number } | null;
  /** Was every file read? Before that, entries of ours may lie there that nobody else knows of. */
  readonly filesRead: boolean;
  /** Entries that cannot be opened yet. */
  readonly shut: number;
  /** Entries that wait because they are dated ahead, and up to when, in ms since the epoch. */
  readonly ahead: { readonly entries: number; readonly latest: number };
  /** Entries that were forged. */
  readonly refused: number;
}

export interface Standing {
  now(): Facts;
  set(part: Partial<Facts>): void;
  /** Something else that is told may have changed. */
  changed(): void;
  /** Takes what failed in this part; null: it works again. */
  trouble(from: string): (error: unknown) => void;
  /** The first of what fails now, in people's words. */
  firstTrouble(): string | null;
  /** Resolves when `holds`, or after `patience` ms. */
  until(holds: () => boolean, patience: number): Promise<void>;
}

export function createStanding({
  timers,
  onChange,
  onTrouble,
  ...given
}: {
  readonly timers: Timers;
  readonly filesRead: boolean;
  readonly onChange: () => void;
  /** Something failed, and is tried again. */
  readonly onTrouble: (error: unknown) => void;
}): Standing {
  let facts: Facts = {
    seen: new Map(),
    link: 'connecting',
    backlog: null,
    attachments: 0,
    sealing: null,
    filesRead: given.filesRead,
    shut: 0,
    ahead: { entries: 0, latest: 0 },
    refused: 0,
  };
  const troubles = new Map<string, string>();
  const watchers = new Set<() => void>();

  function changed() {
    for (const watcher of watchers) watcher();
    onChange();
  }

  return {
    now: () => facts,
    set(part) {
      facts = { ...facts, ...part };
      changed();
    },
    changed,
    trouble: (from) => (error) => {
      if (error === null) troubles.delete(from);
      else {
        onTrouble(error);
        troubles.set(from, errorMessage(error));
      }
      changed();
    },
    firstTrouble: () => [...troubles.values()][0] ?? null,
    until: (holds, patience) =>
      new Promise((resolve) => {
        const done = () => {
          watchers.delete(look);
          cancel();
          resolve();
        };
        const look = () => {
          if (holds()) done();
        };
        const cancel = timers.after(patience, done);
        watchers.add(look);
        look();
      }),
  };
}

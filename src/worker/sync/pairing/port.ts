/** What pairing needs of the world around it. */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { OfferSlot } from '../../../shared/protocol/sync/control.ts';
import type { RandomBytes } from '../contract.ts';

/**
 * gone: the offer was ended, is over, or was never made here. refused: asking again would not help;
 * a sentence why.
 */
export type SlotRead =
  | { readonly kind: 'data'; readonly data: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Where two devices that do not know each other leave what they say. Whoever carries it sees all of
 * it and may keep, swap or repeat it: nothing here is trusted. All reject with an Error whose
 * message people can read where it cannot be reached; a slot is then looked at again.
 */
export interface PairingSlots {
  /**
   * Makes the offer's slots; they live for `SYNC.offerMs`. Rejects where they were ended before.
   */
  open(offerId: string): Promise<void>;
  /**
   * Each is written once. Harmless where the same lies there already. taken: something else does.
   */
  putSlot(offerId: string, slot: OfferSlot, data: string): Promise<'kept' | 'taken' | 'gone'>;
  getSlot(offerId: string, slot: OfferSlot): Promise<SlotRead>;
  /** Ends the offer; it cannot be made again. */
  close(offerId: string): Promise<void>;
}

export interface PairingDeps {
  readonly slots: PairingSlots;
  readonly timers: Timers;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly random: RandomBytes;
}

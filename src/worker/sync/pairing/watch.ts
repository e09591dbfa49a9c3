/**
 * Looks at a slot again and again until something lies in it, the offer is gone, or nobody wants to
 * know any more.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { OfferSlot } from '../../../shared/protocol/sync/control.ts';
import type { PairingSlots, SlotRead } from './port.ts';
import { PAIRING } from './settings.ts';

export interface Watch {
  readonly slots: PairingSlots;
  readonly timers: Timers;
  readonly offerId: string;
  readonly slot: OfferSlot;
  /** Called once at most. */
  readonly found: (read: Exclude<SlotRead, { kind: 'empty' }>) => void;
}

/** Returns the way to stop. */
export function watchSlot({ slots, timers, offerId, slot, found }: Watch): () => void {
  let isOver = false;
  let callOff = () => {};
  const again = () => {
    if (!isOver) callOff = timers.after(PAIRING.lookMs, look);
  };
  function look(): void {
    slots.getSlot(offerId, slot).then((read) => {
      if (isOver) return;
      if (read.kind === 'empty') {
        again();
        return;
      }
      isOver = true;
      found(read);
    }, again); // Not reached just now. The offer's time is the limit, whoever is late.
  }
  look();
  return () => {
    isOver = true;
    callOff();
  };
}

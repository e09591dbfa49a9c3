import { writingStopped } from '../../state/relay-info.ts';
import { menuItem } from '../commands/command.ts';
import { useCommands } from '../commands/later.ts';
import { useHousehold, useInfo, useLive, usePending, useRoost } from '../context.tsx';
import type { MenuItem } from '../design/menu.tsx';
import { useRoute } from '../routes.ts';
import type { SeatView } from './seat-figure.tsx';

/**
 * The commands of a seat: the same in its cell, at the head of its conversation and in the palette.
 */
export function useSeatMenu(seat: SeatView): MenuItem[] {
  const roost = useRoost();
  const { go } = useRoute();
  // Dependencies of the commands besides the seat.
  usePending((pending) => pending.call !== null);
  useLive((live) => live.live !== null);
  useInfo(writingStopped);
  return (useCommands()?.seatCommands({ roost, go }, seat) ?? []).map(menuItem);
}

export function useLeadMenu(): MenuItem[] {
  const roost = useRoost();
  const { go } = useRoute();
  useHousehold((state) => state.roster.lead);
  return (useCommands()?.leadCommands({ roost, go }) ?? []).map(menuItem);
}

import { useEffect } from 'react';
import { isSeatPosition } from '../../../shared/domain/seat.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { usePageSeen } from '../hooks.ts';
import { POSITIONS, seatView } from './seat-figure.tsx';

/**
 * ms of one breath of a sleeping agent, and of one step in or out. All faces at one step share a
 * frame; a breath has four.
 */
const BREATH_MS = 8_000;
const STEP_MS = 220;

const STEPS = [
  { breath: '1', after: STEP_MS },
  { breath: '2', after: BREATH_MS / 2 - STEP_MS },
  { breath: '1', after: STEP_MS },
  { breath: '0', after: BREATH_MS / 2 - STEP_MS },
] as const;

/**
 * Lets all sleeping faces of the page breathe together, by one timer. An endless animation would be
 * computed for every frame of the screen.
 */
export default function Breath() {
  const { device } = useRoost();
  const roster = useHousehold((state) => state.roster);
  const somebodySleeps = useLive(
    (live) =>
      // The lead, too.
      live.live === null ||
      POSITIONS.some((position) => {
        return isSeatPosition(position) && seatView(position, roster, live).asleep;
      }),
  );
  const seen = usePageSeen();
  useEffect(() => {
    if (!somebodySleeps || !seen || matchMedia('(prefers-reduced-motion: reduce)').matches) return undefined;
    let stop: () => void = () => undefined;
    const step = (i: number) => {
      const { breath, after } = STEPS[i % STEPS.length] ?? STEPS[0];
      document.documentElement.dataset['breath'] = breath;
      stop = device.after(after, () => step(i + 1));
    };
    stop = device.after(BREATH_MS / 2, () => step(0));
    return () => stop();
  }, [somebodySleeps, seen, device]);
  return null;
}

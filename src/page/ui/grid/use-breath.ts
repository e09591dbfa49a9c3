import { useEffect, useRef, type RefObject } from 'react';
import { isSeatPosition } from '../../../shared/domain/seat.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { usePageSeen } from '../use-page-seen.ts';
import { POSITIONS, seatView } from './seat-view.ts';

/**
 * ms of one breath of who sleeps, and of a step on its way in or out. All faces in one step are one
 * frame: four of them in a breath.
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
 * Lets who sleeps breathe, wherever a face of theirs stands in the element that has this: all
 * together, by one timer. An animation without an end is worked out anew for every frame of the
 * screen.
 */
export function useBreath(): RefObject<HTMLElement | null> {
  const { device } = useRoost();
  const element = useRef<HTMLElement>(null);
  const roster = useHousehold((state) => state.roster);
  const somebodySleeps = useLive(
    (live) =>
      // The lead, too.
      live.live === null ||
      POSITIONS.some((position) => {
        if (!isSeatPosition(position)) return false;
        const { state, working } = seatView(position, roster, live);
        return state === 'sleeping' && !working;
      }),
  );
  const seen = usePageSeen();
  useEffect(() => {
    if (!somebodySleeps || !seen || matchMedia('(prefers-reduced-motion: reduce)').matches) return undefined;
    let stop: () => void = () => undefined;
    const step = (i: number) => {
      const { breath, after } = STEPS[i % STEPS.length] ?? STEPS[0];
      if (element.current) element.current.dataset['breath'] = breath;
      stop = device.after(after, () => step(i + 1));
    };
    stop = device.after(BREATH_MS / 2, () => step(0));
    return () => stop();
  }, [somebodySleeps, seen, device]);
  return element;
}

import { useEffect, useState } from 'react';
import { useRoost } from './context.tsx';

/** ms between looks where nothing is shown that changes sooner: "Today", "12 min". */
const EVERY_MINUTE = 60_000;

/** The time, in ms, again every `every` ms: for "12 min" and "slept 9 h". */
export function useNow(every = EVERY_MINUTE): number {
  const { device } = useRoost();
  const [now, setNow] = useState(() => device.now());
  useEffect(() => {
    let stop: () => void = () => undefined;
    const tick = () => {
      setNow(device.now());
      stop = device.after(every, tick);
    };
    tick();
    return () => stop();
  }, [device, every]);
  return now;
}

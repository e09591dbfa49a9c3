import { useEffect, useState } from 'react';
import { useRoost } from './context.tsx';

/** The time, in ms, again every `every` ms: for "12 min" and "slept 9 h". */
export function useNow(every: number): number {
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

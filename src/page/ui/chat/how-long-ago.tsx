import { useState } from 'react';
import { useRoost } from '../context.tsx';
import { ago, clockTime, isYoung } from '../text/time.ts';
import { useNow } from '../use-now.ts';

function Ago({ time }: { time: number }) {
  return ago(time, useNow());
}

/** Watches the clock while it changes with it, alone: nothing else of a message does. */
export function HowLongAgo({ time }: { time: number }) {
  const { device } = useRoost();
  // Looked at once: what was old then stays so, and what was young watches the time itself.
  const [young] = useState(() => isYoung(time, device.now()));
  return young ? <Ago time={time} /> : clockTime(time);
}

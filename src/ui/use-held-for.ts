import { useEffect, useState } from 'react';
import { useRoost } from './context.tsx';

/** Has this been so for `ms` without a break? Whatever passes sooner is not worth a word. */
export function useHeldFor(holds: boolean, ms: number): boolean {
  const { device } = useRoost();
  const [held, setHeld] = useState(false);
  if (!holds && held) setHeld(false);
  useEffect(() => (holds ? device.after(ms, () => setHeld(true)) : undefined), [holds, ms, device]);
  return holds && held;
}

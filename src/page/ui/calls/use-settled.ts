import { useEffect, useState } from 'react';

/**
 * ms in which a question takes no yes after it came, or another came or went: a press may be meant
 * for what stood there before.
 */
const SETTLES_MS = 600;

/** Whether `waiting`, which names all that stands there, is what it was a moment ago. */
export function useSettled(waiting: string): boolean {
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(waiting), SETTLES_MS);
    return () => clearTimeout(timer);
  }, [waiting]);
  return settled === waiting;
}

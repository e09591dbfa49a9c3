import { startTransition, useEffect, useState } from 'react';

/** Counts up to `most`, from `first`, one a frame: for what is too long to be put on the page at once. */
export function useGrowing(most: number, first: number): number {
  const [count, setCount] = useState(Math.min(most, first));
  useEffect(() => {
    if (count >= most) return undefined;
    const frame = requestAnimationFrame(() => startTransition(() => setCount(count + 1)));
    return () => cancelAnimationFrame(frame);
  }, [count, most]);
  return count;
}

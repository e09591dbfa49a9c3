import { useLayoutEffect, type RefObject } from 'react';
import type { VirtualizerHandle } from 'virtua';

/** px of what was read already that stay in sight above the line where new begins. */
const ABOVE = 72;

/** Opens a log at a row, once; -1: it opens at its end. */
export function useOpensAt(index: number, list: RefObject<VirtualizerHandle | null>): void {
  useLayoutEffect(() => {
    if (index >= 0) list.current?.scrollToIndex(index, { align: 'start', offset: -ABOVE });
  }, [index, list]);
}

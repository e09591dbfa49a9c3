/** Shows something the relay keeps, and says that somebody looks for as long as the component is on the screen. */
import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { Kept, KeptState } from '../state/kept.ts';

export function useKept<Value>(kept: Kept<Value>): KeptState<Value> {
  useEffect(() => kept.look(), [kept]);
  return useStore(kept.store);
}

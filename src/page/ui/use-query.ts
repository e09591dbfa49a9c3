/**
 * Shows something the relay keeps, and says that somebody looks for as long as the component is on
 * the screen.
 */
import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { Query, QueryState } from '../state/query.ts';

export function useQuery<Value>(query: Query<Value>): QueryState<Value> {
  useEffect(() => query.subscribe(), [query]);
  return useStore(query.store);
}

import { useCallback } from 'react';
import { t } from '../language/t.ts';
import { authorName } from '../state/people.ts';
import { useHousehold } from './context.tsx';

/** What people read for an id that stands in a message or a wake. */
export function useNames(): (id: string) => string {
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  return useCallback((id) => (id === 'human' ? t`You` : authorName(id, roster, settings)), [roster, settings]);
}

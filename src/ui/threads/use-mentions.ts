import { useMemo } from 'react';
import type { Teammate, Teammates } from '../use-teammates.ts';

/** Whoever is mentioned by these ids; the same list for the same ids, so that what shows it is not rendered anew. */
export function useMentions(team: Teammates): (ids: readonly string[]) => readonly Teammate[] {
  return useMemo(() => {
    const lists = new Map<string, readonly Teammate[]>();
    return (ids) => {
      const key = ids.join(' ');
      const list = lists.get(key) ?? ids.map(team.find);
      lists.set(key, list);
      return list;
    };
  }, [team]);
}

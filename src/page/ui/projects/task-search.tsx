/** The search of a board: what the relay finds beyond the cards, and how far it is. */
import { useEffect, useMemo, useState } from 'react';
import type { ProjectId } from '../../../shared/domain/ids.ts';
import { PROJECT_LIMITS } from '../../../shared/protocol/projects.ts';
import { t } from '../../language/t.ts';
import { problemText } from '../../state/ports.ts';
import { createTaskSearch, SEARCH_AFTER_MS } from '../../state/task-search.ts';
import { useRoost } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { plural } from '../text/sizes.ts';

export type Search =
  /** Nothing is looked for. */
  | { readonly kind: 'none' }
  /** Only the cards have been searched so far. */
  | { readonly kind: 'searching' }
  | { readonly kind: 'found'; readonly taskIds: ReadonlySet<string>; readonly more: boolean }
  | { readonly kind: 'failed'; readonly reason: string; readonly again: () => void };
const NONE: Search = { kind: 'none' };
const SEARCHING: Search = { kind: 'searching' };

/**
 * Asks the relay when no key was pressed for a moment. Each text is a search of its own, so an
 * answer to an earlier text is never shown for a later one.
 */
export function useTaskSearch(projectId: ProjectId, typed: string): Search {
  const roost = useRoost();
  const text = typed.trim().slice(0, PROJECT_LIMITS.search);
  const [askedText, setAskedText] = useState('');
  useEffect(() => roost.device.after(SEARCH_AFTER_MS, () => setAskedText(text)), [roost.device, text]);
  const query = useMemo(() => createTaskSearch(roost, projectId, askedText), [roost, projectId, askedText]);
  const state = useQuery(query);
  return useMemo(() => {
    if (text === '') return NONE;
    if (text !== askedText || state.kind === 'loading') return SEARCHING;
    if (state.kind === 'failed')
      return { kind: 'failed', reason: problemText(state.problem), again: () => void query.again() };
    return { kind: 'found', taskIds: new Set(state.value.taskIds), more: state.value.more };
  }, [text, askedText, state, query]);
}

/** How far the search is; nothing where all is said by the tasks that are shown. */
export function SearchNote({ search }: { search: Search }) {
  return (
    <p className="board-search text-2 break ink-2" role="status">
      {search.kind === 'searching' && <span>{t`Loading…`}</span>}
      {search.kind === 'failed' && (
        <>
          <span>{t`The search failed. ${search.reason}`}</span>{' '}
          <button type="button" className="link-button" onClick={search.again}>{t`Try again`}</button>
        </>
      )}
      {search.kind === 'found' && search.more && (
        <span>{t`More than ${plural(PROJECT_LIMITS.found, 'task')} match. Add a word.`}</span>
      )}
    </p>
  );
}

import { t } from '../../language/t.ts';
import type { Searched } from './use-search.ts';

/** What there is to say besides what was found. */
function noteOf({ answer, waits, problem }: Searched, searches: boolean, isEmpty: boolean): string | null {
  if (problem !== null) return t`What was said could not be searched: ${problem}`;
  if (answer?.state.kind === 'building') {
    const { done, of } = answer.state;
    const how = of > 0 ? ` (${Math.floor((100 * done) / of)} %)` : '';
    return t`What was said before is still being made ready for search${how}. More is found as it goes on.`;
  }
  if (answer?.state.kind === 'unavailable')
    return answer.state.why === 'no-room'
      ? t`The browser has no room for searching what was said. Nothing that was said is lost; free some disk space, and it comes back by itself.`
      : t`What was said cannot be searched just now. Nothing that was said is lost; it is tried again by itself.`;
  if (!isEmpty) return null;
  if (waits) return t`Looking…`;
  return searches ? t`Nothing here is called so, and nobody said it.` : t`Nothing here is called so.`;
}

export function SearchNote(props: {
  readonly searched: Searched;
  readonly searches: boolean;
  readonly isEmpty: boolean;
}) {
  const note = noteOf(props.searched, props.searches, props.isEmpty);
  return (
    <p className="palette-none" role="status" hidden={note === null}>
      {note}
    </p>
  );
}

import type { ReactNode } from 'react';
import { t } from '../../language/t.ts';
import type { Passage, SearchHit } from '../../../shared/protocol/search.ts';
import { since } from '../text/time.ts';

/** Whose words they are, and where they stand. */
export function whereOf({ kind, agentId, author, title }: SearchHit, nameOf: (id: string) => string): string {
  const name = nameOf(author);
  switch (kind) {
    case 'message':
      return agentId === null || author === agentId ? name : t`${name} to ${nameOf(agentId)}`;
    case 'thread-message':
      return title === null ? t`${name} in a thread` : t`${name} in ${title}`;
    case 'thread':
      return t`Thread`;
    case 'schedule':
      return title === null
        ? t`Planned for ${nameOf(agentId ?? '')}`
        : t`${title}, planned for ${nameOf(agentId ?? '')}`;
    case 'soul':
      return t`${name}’s soul`;
    default:
      return kind satisfies never;
  }
}

/** A passage with what was found in it. */
function Marked({ passage: { text, marks } }: { passage: Passage }) {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [from, to] of marks) {
    if (from > at) parts.push(<span key={`before ${from}`}>{text.slice(at, from)}</span>);
    parts.push(<mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  parts.push(<span key="rest">{text.slice(at)}</span>);
  return <>{parts}</>;
}

/** One result: who said it, when, and the words around. */
export function Hit({ hit, nameOf, now }: { hit: SearchHit; nameOf: (id: string) => string; now: number }) {
  return (
    <span className="palette-hit">
      <span className="palette-hit-head">
        <span className="palette-hit-who" dir="auto">
          {whereOf(hit, nameOf)}
        </span>
        <time dateTime={new Date(hit.time).toISOString()}>{since(hit.time, now)}</time>
      </span>
      <span className="palette-passage" dir="auto">
        <Marked passage={hit.passage} />
      </span>
    </span>
  );
}

import { useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';
import type { SearchHit } from '../../../shared/protocol/search.ts';
import { createListeners } from '../../../shared/domain/platform/events.ts';
import { t } from '../../language/t.ts';
import { PATHS } from '../routes.ts';
import { BackIcon, CloseIcon } from '../design/icons.tsx';
import { ChevronIcon } from '../design/more-icons.tsx';
import './found-bar.css';

// The last search results, to step through by a key as long as the page is open.

/** The address of a result. */
export function pathOf({ kind, agentId, messageId, threadId }: SearchHit): string {
  switch (kind) {
    case 'message':
      return messageId === null ? PATHS.agent(agentId ?? '') : PATHS.message(agentId ?? '', messageId);
    case 'thread-message':
      return threadId === null || messageId === null ? PATHS.threads : PATHS.threadMessage(threadId, messageId);
    case 'thread':
      return threadId === null ? PATHS.threads : PATHS.thread(threadId);
    case 'schedule':
      return PATHS.schedule(agentId);
    case 'soul':
      return PATHS.about(agentId ?? '');
    default:
      return kind satisfies never;
  }
}

interface Found {
  /** Address of the shown result. */
  readonly path: string;
  /** Its position, from 1. */
  readonly at: number;
  readonly of: number;
  /** There are more results than were requested. */
  readonly more: boolean;
}

let hits: readonly SearchHit[] = [];
let at = -1;
let more = false;
let shown: Found | null = null;
const shownChanged = createListeners();

function tell(): void {
  const hit = hits[at];
  shown = hit ? { path: pathOf(hit), at: at + 1, of: hits.length, more } : null;
  shownChanged.tell();
}

/** Stores the results and the one that is shown; `hasMore`: there are more. */
export function keepFound(found: readonly SearchHit[], hit: SearchHit, hasMore: boolean): void {
  hits = found;
  at = found.indexOf(hit);
  more = hasMore;
  tell();
}

/** Clears the results. */
function dropFound(): void {
  hits = [];
  at = -1;
  tell();
}

export const hasFound = (): boolean => hits.length > 1;

/** The result shown last; null: there are no results. */
const shownFound = (): Found | null => shown;
/** Calls it whenever another is shown. Returns the way to stop. */
const watchFound = shownChanged.subscribe;

/**
 * The address of the next result, or with -1 of the previous one, wrapping around; null: there are
 * no results.
 */
export function nextFound(step: 1 | -1): string | null {
  at = (at + step + hits.length) % hits.length;
  tell();
  return shown?.path ?? null;
}

/**
 * The position of the shown search result, and links to the others. Visible while one of them is
 * shown.
 */
export function FoundBar() {
  const [path, go] = useLocation();
  const found = useSyncExternalStore(watchFound, shownFound);
  if (found === null || found.path !== path) return null;
  const to = (step: 1 | -1) => {
    const next = nextFound(step);
    if (next !== null) go(next);
  };
  const { at, of, more } = found;
  return (
    <div
      className="found-bar framed-strong rounded text-2 line gap-1 figures ink-2 ground-2"
      role="group"
      aria-label={t`Results`}
    >
      <span role="status">{more ? t`${at} of more than ${of}` : t`${at} of ${of}`}</span>
      {of > 1 && (
        <>
          <button
            type="button"
            className="icon-button"
            aria-label={t`Previous result`}
            title="P"
            onClick={() => to(-1)}
          >
            <BackIcon />
          </button>
          <button type="button" className="icon-button" aria-label={t`Next result`} title="N" onClick={() => to(1)}>
            <ChevronIcon />
          </button>
        </>
      )}
      <button type="button" className="icon-button" aria-label={t`End search`} onClick={dropFound}>
        <CloseIcon />
      </button>
    </div>
  );
}

/**
 * Captures what is typed after the palette's shortcut until its field has the focus. Those keys are
 * meant for the palette, not for the field that still has the focus.
 */
import { createContext } from 'react';
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import type { After } from '../../../shared/domain/platform/timers.ts';
import type { Route } from '../routes.ts';
import { keyOf } from '../design/keys.ts';

/** The place to which the search is restricted until the person widens it. */
export type Within = { readonly agentId: AgentId } | { readonly threadId: ThreadId };

/** Opens the palette restricted to this place. */
export const OpensFind = createContext<(within: Within) => void>(() => undefined);

/** The place on screen; null: one without messages. */
export function withinOf(route: Route): Within | null {
  if (route.kind === 'agent') return { agentId: route.agentId };
  return route.kind === 'threads' && route.threadId !== null ? { threadId: route.threadId } : null;
}

/** ms after which a palette that has not appeared is given up. */
const WAITS_MS = 1_500;

let text = '';
let stop: (() => void) | null = null;

function keep(event: KeyboardEvent): void {
  const key = keyOf(event);
  if (key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
  text += key;
  event.preventDefault();
  event.stopPropagation();
}

export function keepTyped(after: After): void {
  end();
  const forget = after(WAITS_MS, end);
  addEventListener('keydown', keep, true);
  stop = () => {
    forget();
    removeEventListener('keydown', keep, true);
  };
}

function end(): string {
  stop?.();
  stop = null;
  const taken = text;
  text = '';
  return taken;
}

/** Ends the capture. Passes the captured text to `to`, if there is any. */
export function giveTyped(to: (typed: string) => void): void {
  const taken = end();
  if (taken !== '') to(taken);
}

/**
 * What is typed between the press that opens the palette and its field's focus: it is meant for the
 * palette, not for the field that still has it.
 */
import { createContext } from 'react';
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import type { After } from '../../../shared/domain/platform/timers.ts';
import type { Route } from '../routes.ts';
import { keyOf } from '../parts/keys.ts';

/** Where alone is looked until the person widens it. */
export type Within = { readonly agentId: AgentId } | { readonly threadId: ThreadId };

/** Opens the palette on what was said there. */
export const OpensFind = createContext<(within: Within) => void>(() => undefined);

/** What is on the screen; null: nothing that was said. */
export function withinOf(route: Route): Within | null {
  if (route.kind === 'agent') return { agentId: route.agentId };
  return route.kind === 'threads' && route.threadId !== null ? { threadId: route.threadId } : null;
}

/** ms: a palette that is not there by then will not come for now. */
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

/** From here on keys go where they go; `to` is given what was typed by now, where anything was. */
export function giveTyped(to: (typed: string) => void): void {
  const taken = end();
  if (taken !== '') to(taken);
}

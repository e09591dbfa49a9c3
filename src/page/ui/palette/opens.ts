import { createContext } from 'react';
import type { AgentId, ThreadId } from '../../../shared/domain/ids.ts';
import type { Route } from '../routes.ts';

/** Where alone is looked until the person widens it. */
export type Within = { readonly agentId: AgentId } | { readonly threadId: ThreadId };

/** Opens the palette on what was said there. */
export const OpensFind = createContext<(within: Within) => void>(() => undefined);

/** What is on the screen; null: nothing that was said. */
export function withinOf(route: Route): Within | null {
  if (route.kind === 'agent') return { agentId: route.agentId };
  return route.kind === 'threads' && route.threadId !== null ? { threadId: route.threadId } : null;
}

/** Whether a browser has begun a household, and the refusal where it has not. */
import { problem } from '../http/problem.ts';

/** `beside`: it needs a second sign-in for that, because its own belongs to another household. */
export type Begun =
  | { readonly ok: true; readonly beside?: true }
  | { readonly ok: false; readonly reason: 'others' | 'full' };

export function notBegun(reason: Extract<Begun, { ok: false }>['reason']) {
  return reason === 'others'
    ? problem(
        409,
        'not-begun',
        'Another household lives at this relay. Join it from one of its devices, or begin a household of your own beside it.',
      )
    : problem(
        409,
        'households-full',
        'This relay keeps as many households as it may. Its owner can set --households higher.',
      );
}

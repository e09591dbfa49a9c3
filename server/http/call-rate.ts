/** How often a caller may call. The relay’s access counts each call that it lets in by itself. */
import type { Context } from 'hono';
import type { Env } from './endpoint.ts';
import { tooManyCalls } from './problem.ts';

/** Counts a call, and throws where there were too many of this caller. */
export function countCall(context: Context<Env>, caller: string): void {
  const seconds = context.get('limit')?.(caller) ?? 0;
  if (seconds > 0) throw tooManyCalls(seconds);
}
export const strangersOf = (context: Context<Env>): string => context.get('strangers') ?? '';

/** Whose address a call comes from, for limits by address. */
import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';

/**
 * `proxied`: our own proxy adds the address that it sees at the end of `X-Forwarded-For`; what stands before that
 * came with the call, and anybody can write it. Without a proxy the whole of it is anybody's.
 */
export function addressOf(context: Context, proxied: boolean): string {
  const own = getConnInfo(context).remote.address ?? '';
  if (!proxied) return own;
  const added = context.req.header('x-forwarded-for')?.split(',').at(-1)?.trim() ?? '';
  return isIP(added) === 0 ? own : added;
}

/** The page key as a call brings it. It never stands in an address: those are logged, and lie in histories. */
import type { Context } from 'hono';
import { PAGE_KEY } from '../../src/protocol/page-key.ts';

export function pageKeyOf({ req }: Context): string | undefined {
  const header = req.header(PAGE_KEY.header);
  if (header !== undefined) return header;
  const offered = req
    .header('sec-websocket-protocol')
    ?.split(',')
    .map((name) => name.trim());
  return offered?.find((name) => name.startsWith(PAGE_KEY.offered))?.slice(PAGE_KEY.offered.length);
}

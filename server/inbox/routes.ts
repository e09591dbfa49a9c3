/** What the page reads of inboxes. */
import type { z } from 'zod';
import type { inboxSchema, unreadSchema } from '../../src/protocol/inbox.ts';
import type { Inbox } from '../contracts.ts';
import { idOf, numberOf, type Routes } from '../route.ts';

/** Messages on one page of an inbox. */
export const INBOX_PAGE = { min: 1, max: 200, otherwise: 50 } as const;

export function createInboxRoutes({ inbox }: { readonly inbox: Inbox }): Routes {
  return (route) => {
    route('/api/inbox', {
      async GET(context) {
        const answer: z.infer<typeof unreadSchema> = { unread: Object.fromEntries(await inbox.unread()) };
        return context.json(answer);
      },
    });
    route('/api/agents/:id/inbox', {
      async GET(context) {
        const { messages, more } = await inbox.list(idOf(context), {
          before: context.req.query('before') ?? null,
          limit: numberOf(context, 'limit', INBOX_PAGE),
        });
        const answer: z.infer<typeof inboxSchema> = { messages: [...messages], more };
        return context.json(answer);
      },
    });
  };
}

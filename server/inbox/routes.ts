/** What the page reads of inboxes. */
import { inboxEndpoints } from '../../src/protocol/endpoints/team.ts';
import type { Inbox } from '../contracts.ts';
import { answer, type Handled } from '../endpoint.ts';

export function createInboxRoutes({ inbox }: { readonly inbox: Inbox }): readonly Handled[] {
  return answer(inboxEndpoints, {
    unread: async () => ({ unread: Object.fromEntries(await inbox.unread()) }),
    async inbox({ agentId, before, limit }) {
      const { messages, more } = await inbox.list(agentId, { before, limit });
      return { messages: [...messages], more };
    },
  });
}

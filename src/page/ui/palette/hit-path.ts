import type { SearchHit } from '../../../shared/protocol/search.ts';
import { PATHS } from '../routes.ts';

/** Where a result leads. */
export function pathOf({ kind, agentId, messageId, threadId }: SearchHit): string {
  switch (kind) {
    case 'message':
      return messageId === null ? PATHS.agent(agentId ?? '') : PATHS.message(agentId ?? '', messageId);
    case 'thread-message':
      return threadId === null || messageId === null ? PATHS.threads : PATHS.threadMessage(threadId, messageId);
    case 'thread':
      return threadId === null ? PATHS.threads : PATHS.thread(threadId);
    case 'schedule':
      return PATHS.night(agentId);
    case 'soul':
      return PATHS.soul(agentId ?? '');
    default:
      return kind satisfies never;
  }
}

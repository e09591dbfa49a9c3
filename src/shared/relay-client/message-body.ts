import type { SentAttachment } from '../domain/attachment.ts';
import type { AgentId } from '../domain/ids.ts';
import { LEAD_ID } from '../domain/seat.ts';
import type { PostMessage } from '../protocol/http.ts';

/** The body with which a message of the person is posted to an agent. */
export const messageBody = (
  agentId: AgentId,
  { text, clientId, replaces }: Pick<PostMessage, 'text' | 'clientId'> & { readonly replaces?: string | null },
  attachments: readonly SentAttachment[],
): PostMessage => ({
  text,
  clientId,
  ...(attachments.length === 0 ? {} : { attachments: [...attachments] }),
  ...(agentId === LEAD_ID ? {} : { to: agentId }),
  ...(replaces === null || replaces === undefined ? {} : { replaces }),
});

import type { MessageId } from './ids.ts';

/**
 * The id of a message of the person, derived from the page's client id. A repeated request yields
 * the same message.
 */
export const messageIdOf = (clientId: string): MessageId => `h-${clientId}` as MessageId;

import type { MessageId } from './ids.ts';

/**
 * The id of what the person wrote, from the id that the page gave it: a repeat is the same message.
 */
export const messageIdOf = (clientId: string): MessageId => `h-${clientId}` as MessageId;

/** What agents are told of their inboxes. */

/** What was given is not all. */
export const moreWait = (count: number): string =>
  `${count} more ${count === 1 ? 'message waits' : 'messages wait'} for you; read_inbox gives the next`;

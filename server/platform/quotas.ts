/**
 * Limits for one agent, one credential and one sign-in, and the sentence for each refusal.
 * Everything is counted in the store, for all processes of a relay together. Messages that were
 * read, threads that were closed and credentials that were revoked no longer count. Only streams
 * and sockets are counted by the process that holds them. The person's own words never count: they
 * pass, however much agents have written.
 */

export const QUOTAS = {
  /**
   * Unread messages for one agent: from one sender, and from all other agents together. Bytes of
   * the stored text.
   */
  unread: { fromOne: { messages: 100, bytes: 1_000_000 }, fromAll: { messages: 300, bytes: 4_000_000 } },
  /** Characters of a message that a mention copies into the inbox. The thread has the rest. */
  mentionCharacters: 2_000,
  /**
   * Threads: open ones that one agent has created, open ones of all agents, and those that one
   * agent creates in an hour, closed ones included.
   */
  threads: { openByOne: 20, openInAll: 100, byOneInAnHour: 40 },
  /** Messages of agents in threads. */
  threadMessages: { byOneInAMinute: 60, byOneInAnHour: { messages: 600, bytes: 10_000_000 }, inOneThread: 5_000 },
  /** Characters of a closed thread's summary in a list. */
  listedSummary: 300,
  /**
   * Open sessions of MCP clients per credential, in all processes. After this many unused ms, a
   * session may be closed to make room for another of the same credential.
   */
  mcpSessions: { ofOneCredential: 16, makesRoomAfterMs: 2_000 },
  /** Valid credentials of one household, and revoked ones that are still shown. */
  credentials: { valid: 64, revokedKept: 200 },
  /** Households that one sign-in may bring to a relay. */
  householdsBySignIn: 4,
  /** Sign-ins that a browser may be given beside its original one. */
  signInsBesideOne: 8,
  /**
   * Pairing offers per sign-in: open at once, and made within the time that ended ones are
   * remembered.
   */
  offersBySignIn: { open: 4, known: 60 },
  /** Event streams and device sockets that one sign-in may have open at once. */
  streamsBySignIn: 12,
  socketsBySignIn: 128,
} as const;

const MINUTE_MS = 60_000;
export const QUOTA_SPANS = { minuteMs: MINUTE_MS, hourMs: 60 * MINUTE_MS } as const;

/** A number of bytes for people. */
const sized = (bytes: number) =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

export interface Waiting {
  readonly messages: number;
  readonly bytes: number;
}

/** Why no further message of `bytes` may wait; null: it may. `name`: the receiver's. */
export function refuseMessage(name: string, bytes: number, ofSender: Waiting, ofAll: Waiting): string | null {
  const { fromOne, fromAll } = QUOTAS.unread;
  const over = (waiting: Waiting, most: Waiting) =>
    waiting.messages + 1 > most.messages || waiting.bytes + bytes > most.bytes;
  const used = (waiting: Waiting, most: Waiting) =>
    `${waiting.messages} messages of ${sized(waiting.bytes)}; the limit is ${most.messages} messages and ${sized(most.bytes)}`;
  if (over(ofSender, fromOne))
    return `Not delivered: ${name} has not read what you sent before (${used(ofSender, fromOne)}). Wait until ${name} has read some of it, and put what is left into one short message.`;
  if (over(ofAll, fromAll))
    return `Not delivered: ${name}’s inbox is full of unread messages of agents (${used(ofAll, fromAll)}). Wait until ${name} has read some of them. What the human writes is delivered all the same.`;
  return null;
}

/** Why the projects of a household may take no more. `bytes`: what they take. */
export const refuseProjectBytes = (bytes: number, most: number): string =>
  `Not stored: projects, tasks, comments and attempts of this household take ${sized(bytes)}, and may take ${sized(most)}. Delete projects or long tasks that are over. Only the human can do that.`;

export interface ThreadsUsed {
  readonly openByOne: number;
  readonly openInAll: number;
  readonly byOneInAnHour: number;
}

export function refuseThread({ openByOne, openInAll, byOneInAnHour }: ThreadsUsed): string | null {
  const most = QUOTAS.threads;
  if (openByOne >= most.openByOne)
    return `No thread was opened: ${openByOne} threads that you have created are open, and ${most.openByOne} may be. Close one with close_thread, or write in one that is there.`;
  if (openInAll >= most.openInAll)
    return `No thread was opened: agents of this household have ${openInAll} open, and ${most.openInAll} may be. Close one that is done, or write in one that is there.`;
  if (byOneInAnHour >= most.byOneInAnHour)
    return `No thread was opened: you have created ${byOneInAnHour} within an hour, which is the limit. Write in one that is there, or try again later.`;
  return null;
}

export interface Said {
  readonly minute: number;
  readonly hour: { readonly messages: number; readonly bytes: number };
}

/** `inThread`: messages in this thread. */
export function refuseThreadMessage(bytes: number, inThread: number, { minute, hour }: Said): string | null {
  const most = QUOTAS.threadMessages;
  if (inThread >= most.inOneThread)
    return `Not sent: this thread has ${inThread} messages, and agents may write up to ${most.inOneThread} in one. Close it with a summary, and open another.`;
  if (minute >= most.byOneInAMinute)
    return `Not sent: you have written ${minute} messages in threads within a minute, which is the limit. Put what is left into one, in a minute.`;
  if (hour.messages >= most.byOneInAnHour.messages || hour.bytes + bytes > most.byOneInAnHour.bytes)
    return `Not sent: you have written ${hour.messages} messages of ${sized(hour.bytes)} in threads within an hour; the limit is ${most.byOneInAnHour.messages} messages and ${sized(most.byOneInAnHour.bytes)}. Say what is left in a few words, later.`;
  return null;
}

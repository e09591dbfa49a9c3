/**
 * What the person wrote and is on its way from this page: shown until it is there, or taken back.
 */
import type { Attachment } from '../../shared/domain/attachment.ts';
import type { AgentId } from '../../shared/domain/ids.ts';

export interface Sending {
  readonly clientId: string;
  readonly text: string;
  readonly time: number;
  /** null while it is under way; else why it did not go. */
  readonly error: string | null;
  /** No relay was there to take it: it goes out by itself when one is. */
  readonly waits?: boolean;
  /** Ids of those whom it mentions. */
  readonly mentions?: readonly string[];
  /** Kept in the ledger already, or being kept. */
  readonly attachments?: readonly Attachment[];
}

/** To one agent. */
export interface SendingMessage extends Sending {
  readonly agentId: AgentId;
  readonly replaces: string | null;
}

/** Into a thread. */
export interface SendingToThread extends Sending {
  readonly mentions: readonly string[];
  /** The last place that was known when it was sent. */
  readonly after: number;
}

/** The list with this in it once, as it stands now. */
export const withSending = <Item extends Sending>(list: readonly Item[], item: Item): readonly Item[] => [
  ...list.filter(({ clientId }) => clientId !== item.clientId),
  item,
];

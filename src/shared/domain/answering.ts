/**
 * Who answers for an agent, and with that, where words to it go. The relay and the page ask the
 * same function.
 */

/**
 * A program elsewhere that plays an agent by its credential: over MCP, or with its model requests.
 */
export interface JoinedClient {
  /** As the person named its credential. */
  readonly name: string;
  /** It has Roost's tools, and can read the agent's inbox. */
  readonly readsInbox: boolean;
}

/**
 * `nobody`: words wait until it is woken. `mind`: they are put before it. `client`: they wait in
 * its inbox, until the client looks.
 */
export type Answering =
  | { readonly by: 'nobody' }
  | { readonly by: 'mind' }
  | ({ readonly by: 'client' } & JoinedClient);

export interface Company {
  /** A mind of the relay's sits in its seat, and has answered in this session. */
  readonly mind: boolean;
  /** Null: none has joined. */
  readonly client: JoinedClient | null;
  /** Its sleeping flag is set: what either of them asks for is held. */
  readonly paused: boolean;
}

const NOBODY: Answering = { by: 'nobody' };
const MIND: Answering = { by: 'mind' };

/** The mind before the client: whoever talks to a seat talks to who answers there. */
export function whoAnswers({ mind, client, paused }: Company): Answering {
  if (paused) return NOBODY;
  if (mind) return MIND;
  return client ? { by: 'client', ...client } : NOBODY;
}

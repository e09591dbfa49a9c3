/**
 * MCP servers that the person has attached, as this page shows them. Fetched with the part of the
 * page that shows them.
 */
import type { AttachedServer, Attachment } from '../../shared/protocol/attached.ts';
import type { Runner } from '../../shared/protocol/runners.ts';
import type { ReachClient } from '../../shared/relay-client/reach-client.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { doneOf, type Done } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQuery, type Query } from './query.ts';

export interface AttachedServers {
  readonly servers: readonly AttachedServer[];
  /** The relay runs programs for this household, in the sandbox at least. */
  readonly programs: boolean;
  /** Why none runs outside of it, as a sentence of the relay's; left out: they may. */
  readonly why?: string | undefined;
  /** Those in the sandbox may be shown folders of the machine. */
  readonly folders: boolean;
  /** Programs can be held in a sandbox there. */
  readonly sandbox: boolean;
}
type Calls = Pick<ReachClient, 'attach' | 'lookAtAttached' | 'changeAttached' | 'detach' | 'signOutOfAttached'>;

interface Attached {
  readonly list: Query<AttachedServers>;
  attach(name: string, attachment: Attachment): Promise<Done>;
  /**
   * What the relay's machine has set for programs that fetch others; empty where the relay does not
   * say.
   */
  runners(): Promise<readonly Runner[]>;
  /** Begins a sign-in: the page on which the person allows it. */
  signIn(
    serverId: string,
  ): Promise<{ readonly ok: true; readonly url: string } | { readonly ok: false; readonly reason: string }>;
  /** Makes one of these calls, and shows how it stands after it. */
  change<Value>(call: (calls: Calls) => Promise<RelayResult<Value>>): Promise<Done>;
}

function createAttached({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): Attached {
  const list = createQuery<AttachedServers>({
    ask: () => reach((client) => client.attached()),
    changes,
    device,
    what: ['attached'],
  });
  const change: Attached['change'] = async (call) => {
    const result = await reach(call);
    await list.again();
    return doneOf(result);
  };
  return {
    list,
    attach: (name, attachment) => change((client) => client.attach({ body: { name, attachment } })),
    async runners() {
      const result = await reach((client) => client.runners());
      return result.ok ? result.value.runners : [];
    },
    async signIn(serverId) {
      const result = await reach((client) => client.signInToAttached({ serverId }));
      await list.again();
      return result.ok ? { ok: true, url: result.value.url } : { ok: false, reason: problemText(result.problem) };
    },
    change,
  };
}

export const attachedOf = onePerPage(createAttached);

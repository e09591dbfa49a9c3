/** MCP servers that the person has connected. Loaded with the part of the page that shows them. */
import type { Attachment, McpServer } from '../../shared/protocol/mcp.ts';
import type { Runner } from '../../shared/protocol/runners.ts';
import type { DeferredClient } from '../../shared/relay-client/deferred-client.ts';
import { newerOf, type RelayResult } from '../../shared/relay-client/result.ts';
import { type Done, doneOf } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { type Query, relayQuery } from './query.ts';

interface McpServerList {
  readonly servers: readonly McpServer[];
  /** The relay runs programs for this household, at least in the sandbox. */
  readonly programs: boolean;
  /**
   * Why programs outside the sandbox are not allowed, in the relay's words; left out: they are
   * allowed.
   */
  readonly why?: string | undefined;
  /** Sandboxed programs may be granted folders of the machine. */
  readonly folders: boolean;
  /** The relay's machine has a sandbox. */
  readonly sandbox: boolean;
}
type Calls = Pick<
  DeferredClient,
  'addMcpServer' | 'retryMcpServer' | 'changeMcpServer' | 'removeMcpServer' | 'signOutOfMcpServer'
>;

interface McpServers {
  readonly list: Query<McpServerList>;
  add(name: string, attachment: Attachment): Promise<Done>;
  /**
   * Settings on the relay's machine for programs that download others; empty if the relay does not
   * say.
   */
  runners(): Promise<readonly Runner[]>;
  /** Starts a sign-in. Returns the page on which the person allows it. */
  signIn(
    serverId: string,
  ): Promise<{ readonly ok: true; readonly url: string } | { readonly ok: false; readonly reason: string }>;
  /** Makes one of these calls, then shows the resulting state. */
  change<Value>(call: (calls: Calls) => Promise<RelayResult<Value>>): Promise<Done & { readonly newer?: Value }>;
}

function createMcpServers({
  callRelay,
  changes,
  device,
}: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): McpServers {
  const list = relayQuery<McpServerList>({ callRelay, changes, device }, ['mcp-servers'], (client) =>
    client.mcpServers(),
  );
  const change: McpServers['change'] = async (call) => {
    const result = await callRelay(call);
    await list.again();
    const newer = newerOf(result);
    return newer === undefined ? doneOf(result) : { ...doneOf(result), newer };
  };
  return {
    list,
    add: (name, attachment) => change((client) => client.addMcpServer({ body: { name, attachment } })),
    async runners() {
      const result = await callRelay((client) => client.runners());
      return result.ok ? result.value.runners : [];
    },
    async signIn(serverId) {
      const result = await callRelay((client) => client.signInToMcpServer({ serverId }));
      await list.again();
      return result.ok ? { ok: true, url: result.value.url } : { ok: false, reason: problemText(result.problem) };
    },
    change,
  };
}

export const mcpServersOf = onePerPage(createMcpServers);

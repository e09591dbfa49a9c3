/** A server that the person took away: what they let of it is not let of the next one by its name, and what waits of it waits no more. */
import { ATTACHED_PREFIX, type Grant } from '../../src/domain/toolsets.ts';
import type { Configs, Directory } from '../contracts.ts';

export interface LetGoDeps {
  readonly configs: Pick<Configs, 'agent' | 'setAgent' | 'household' | 'setHousehold'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly calls: { withdrawToolsOf(prefix: string): Promise<void> };
}

/** Null: none of these is of the server. */
function without(prefix: string, tools: Readonly<Record<string, Grant>> = {}): Record<string, Grant> | null {
  const left = Object.entries(tools).filter(([tool]) => !tool.startsWith(prefix));
  return left.length === Object.keys(tools).length ? null : Object.fromEntries(left);
}

export async function letGoOfServer({ configs, directory, calls }: LetGoDeps, name: string): Promise<void> {
  const prefix = `${ATTACHED_PREFIX}${name}__`;
  const { own: household } = await configs.household();
  const ofAll = without(prefix, household.coordination.tools);
  if (ofAll) await configs.setHousehold({ ...household, coordination: { ...household.coordination, tools: ofAll } });
  for (const { agentId } of await directory.all()) {
    const { own } = await configs.agent(agentId);
    const tools = without(prefix, own.coordination.tools);
    if (tools) await configs.setAgent(agentId, { ...own, coordination: { ...own.coordination, tools } });
  }
  await calls.withdrawToolsOf(prefix);
}

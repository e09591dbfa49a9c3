/**
 * Groups of agents that the person has named, to be woken together. Each is a `setting` document of
 * its own, so that two that are changed on two devices both stay; the newest holds, and one without
 * anybody is a group that was removed.
 */
import type { AgentId } from './ids.ts';

/** Characters of a name, and agents of one group: as many as there are seats. */
export const GROUPS = { name: 40, agents: 8 } as const;

const PREFIX = 'group:';

export interface AgentGroup {
  readonly groupId: string;
  readonly name: string;
  /** Who is in it; some may live here no more. */
  readonly agentIds: readonly AgentId[];
}

/** The setting that such a group is. */
export const groupSetting = ({ groupId, name, agentIds }: AgentGroup) => ({
  key: `${PREFIX}${groupId}`,
  value: { name, agentIds: [...agentIds] },
});

/**
 * The group that a setting is; null where it is another one, or has a value that this app cannot
 * take.
 */
export function groupOf({ key, value }: { readonly key: string; readonly value: unknown }): AgentGroup | null {
  const groupId = key.startsWith(PREFIX) ? key.slice(PREFIX.length) : '';
  if (groupId === '' || typeof value !== 'object' || value === null || !('name' in value && 'agentIds' in value))
    return null;
  const { name, agentIds } = value;
  if (typeof name !== 'string' || name.trim() === '' || name.length > GROUPS.name || !Array.isArray(agentIds))
    return null;
  const ids = agentIds.filter((id): id is AgentId => typeof id === 'string' && id !== '');
  return ids.length === agentIds.length && ids.length <= GROUPS.agents && new Set(ids).size === ids.length
    ? { groupId, name, agentIds: ids }
    : null;
}

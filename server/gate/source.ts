/** Who asks for a wake, as rows know it. */
import type { Day } from '../../src/domain/zone-days.ts';
import type { WakeSource } from '../../src/protocol/wakes.ts';
import type { WakeRequest } from '../contracts.ts';

/** The same text for the same source, whatever the order of its fields. */
export function sourceKey(source: WakeSource): string {
  switch (source.kind) {
    case 'person':
      return JSON.stringify({ kind: source.kind });
    case 'agent':
      return JSON.stringify({ kind: source.kind, agentId: source.agentId });
    case 'schedule':
    case 'script':
    case 'api':
      return JSON.stringify({ kind: source.kind, name: source.name });
  }
}

/** For people: "person", an agent's id, or a name. */
export function sourceLabel(source: WakeSource): string {
  switch (source.kind) {
    case 'person':
      return 'person';
    case 'agent':
      return source.agentId;
    case 'schedule':
    case 'script':
    case 'api':
      return source.name;
  }
}

/**
 * Whose budget of `wake_agent` in which session this would use; null: none. Where the caller has no session, its
 * day is one: it may not call without end.
 */
export function budgetKey(
  { way, source, callerSession }: Pick<WakeRequest, 'way' | 'source' | 'callerSession'>,
  day: Day,
): string | null {
  if (way !== 'wake_agent') return null;
  return `${sourceKey(source)} ${callerSession === null ? `day ${day.start}` : JSON.stringify(callerSession)}`;
}

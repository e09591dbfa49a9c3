/** Who asks for a wake, as rows know it. */
import type { WakeSource } from '../../src/protocol/wakes.ts';

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

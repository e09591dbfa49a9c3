import type { AgentId } from '../../../shared/domain/ids.ts';
import { useSomebody } from '../use-somebody.ts';
import { Face } from './face.tsx';

/** The face of this agent, asleep or not; nothing if it has none. Decorative, like `Face`. */
export function FaceOf({ agentId }: { agentId: AgentId }) {
  const somebody = useSomebody(agentId);
  if (somebody.kind === 'nobody' || somebody.kind === 'egg') return null;
  return <Face agentId={somebody.agentId} face={somebody.face} color={somebody.color} awake={false} />;
}

import { Face } from '../grid/face.tsx';
import type { Teammate } from '../use-teammates.ts';

/** How many faces stand side by side before the rest is a number. */
const MOST = 4;

/** Whoever takes part, as faces. Decoration: their names stand beside them. */
export function Faces({ people }: { people: readonly Teammate[] }) {
  const shown = people.length > MOST ? people.slice(0, MOST - 1) : people;
  return (
    <span className="faces" aria-hidden="true">
      {shown.map(({ agentId, face, color }) => (
        <Face key={agentId} agentId={agentId} face={face} color={color} awake={false} />
      ))}
      {shown.length < people.length && <i>+{people.length - shown.length}</i>}
    </span>
  );
}

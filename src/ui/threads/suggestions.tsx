import { Face } from '../grid/face.tsx';
import type { Teammate } from '../use-teammates.ts';

interface Props {
  readonly id: string;
  readonly people: readonly Teammate[];
  readonly active: number;
  readonly onPick: (index: number) => void;
  readonly onPoint: (index: number) => void;
}

export const optionId = (id: string, index: number): string => `${id}-${index}`;

/** Who may be meant by what is typed after an `@`. The focus stays in the field, which says which one is active. */
export function Suggestions({ id, people, active, onPick, onPoint }: Props) {
  return (
    <div id={id} className="suggestions" role="listbox" aria-label="Who is meant">
      {people.map((who, i) => (
        // The field has the keys; this is for the pointer.
        // eslint-disable-next-line jsx-a11y/click-events-have-key-events
        <div
          key={who.agentId}
          id={optionId(id, i)}
          role="option"
          tabIndex={-1}
          aria-selected={i === active}
          className="tint"
          style={{ '--c': who.color }}
          onMouseDown={(event) => event.preventDefault()}
          onMouseMove={() => onPoint(i)}
          onClick={() => onPick(i)}
        >
          <Face agentId={who.agentId} birthName={who.birthName} color={who.color} awake={false} />
          <span dir="auto">{who.name}</span>
        </div>
      ))}
    </div>
  );
}

import type { Room } from '../../protocol/http.ts';
import { relayRoom } from '../../state/relay-room.ts';
import { useRoost } from '../context.tsx';
import { bytes } from '../text/sizes.ts';
import { useQuery } from '../use-query.ts';

/** Of what a household may keep, from this part on it is said. */
const NEARLY_FULL = 0.9;

/** What is short, and what to do about it. */
function shortages({ free, keepFree, part }: Room): readonly string[] {
  return [
    ...(free < keepFree
      ? [
          `The relay’s disk has ${bytes(free)} left, so agents store nothing more there; what you write is still kept. Make room on that disk, and they go on by themselves.`,
        ]
      : []),
    ...(part && part.bytes >= part.most * NEARLY_FULL
      ? [
          `Your household keeps ${bytes(part.bytes)} of the ${bytes(part.most)} that it may at this relay${part.bytes >= part.most ? ', so the relay takes no more of it' : ''}. Your devices keep everything all the same. Whoever runs the relay can allow more (--household-gb).`,
        ]
      : []),
  ];
}

/** What the relay has on its disk, in one line, and what is short there. Nothing is drawn until it is known. */
export function RelayRoom() {
  const room = useQuery(relayRoom(useRoost()));
  if (room.kind !== 'ready') return null;
  return (
    <>
      <p className="setting-hint">The relay’s home takes {bytes(room.value.bytes)} on its own disk.</p>
      {shortages(room.value).map((line) => (
        <p key={line} className="setting-hint" role="status">
          {line}
        </p>
      ))}
    </>
  );
}

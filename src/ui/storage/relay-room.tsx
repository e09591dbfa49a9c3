import { relayRoom } from '../../state/relay-room.ts';
import { useRoost } from '../context.tsx';
import { shortages } from '../text/room.ts';
import { bytes } from '../text/sizes.ts';
import { useQuery } from '../use-query.ts';

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

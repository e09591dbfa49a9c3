import { relayRoom } from '../../state/relay-room.ts';
import { useRoost } from '../context.tsx';
import { bytes } from '../text/sizes.ts';
import { useKept } from '../use-kept.ts';

/** What the relay has on its disk, in one line. Nothing is drawn until it is known. */
export function RelayRoom() {
  const room = useKept(relayRoom(useRoost()));
  if (room.kind !== 'ready') return null;
  return <p className="setting-hint">The relay’s home takes {bytes(room.value.bytes)} on its own disk.</p>;
}

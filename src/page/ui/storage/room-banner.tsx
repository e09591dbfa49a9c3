import { useEffect } from 'react';
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { relayRoom } from '../../state/records.ts';
import { useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { shortages } from '../text/room.ts';
import { useQuery } from '../hooks.ts';

/** ms between requests. A disk fills slowly, and the relay counts its files for each request. */
const CHECK_EVERY_MS = 5 * 60_000;

/**
 * Shown across the page while the relay's disk is nearly full. Read errors are shown on the storage
 * page only.
 */
export default function RoomBanner() {
  const roost = useRoost();
  const { device } = roost;
  const query = relayRoom(roost);
  const room = useQuery(query);
  useEffect(() => {
    let stop: () => void = () => undefined;
    const wait = () => {
      stop = device.after(CHECK_EVERY_MS, () => {
        void query.again();
        wait();
      });
    };
    wait();
    return () => stop();
  }, [device, query]);
  if (room.kind !== 'ready') return null;
  return shortages(room.value).map((line) => (
    <div key={line} className="banner banner-quiet" role="status">
      <p>{line}</p>
      <Link href={PATHS.settings('storage')}>{t`Show`}</Link>
    </div>
  ));
}

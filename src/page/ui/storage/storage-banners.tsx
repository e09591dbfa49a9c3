/** What the storage here and at the relay needs the person for. */
import { useEffect } from 'react';
import { Link } from 'wouter';
import type { StorageProblem } from '../../../shared/protocol/worker.ts';
import { t } from '../../language/t.ts';
import { relayRoom } from '../../state/records.ts';
import { useInfo, useLive, useRoost, useUpkeep } from '../context.tsx';
import { useQuery } from '../hooks.ts';
import { Banner } from '../parts/banner.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { storageTrouble } from './trouble.ts';
import { shortages } from '../text/room.ts';

/** ms between requests. A disk fills slowly, and the relay counts its files for each request. */
const CHECK_EVERY_MS = 5 * 60_000;

/**
 * Shown across the page while the relay's disk is nearly full. Read errors are shown on the storage
 * page only.
 */
function RoomBanner() {
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
    <div key={line} className="banner text-2 line gap-5 ink-2 banner-quiet apart" role="status">
      <p className="fill">{line}</p>
      <Link href={PATHS.settings('storage')}>{t`Show`}</Link>
    </div>
  ));
}

/** A storage problem, with help beyond its own text. */
function StorageBanner({ problem }: { problem: StorageProblem }) {
  const { route, go } = useRoute();
  const trouble = storageTrouble(problem);
  switch (problem.kind) {
    case 'quota':
    case 'damaged': {
      const tone = problem.kind === 'quota' ? 'danger' : 'warn';
      const there = route.kind === 'settings' && route.section === 'storage';
      return (
        <Banner
          trouble={trouble}
          tone={tone}
          {...(there ? {} : { act: { label: t`Show`, run: () => go(PATHS.settings('storage')) } })}
        />
      );
    }
    case 'unsupported':
      return <Banner trouble={trouble} tone="danger" />;
    case 'broken':
    case 'unreadable':
    case 'blocked':
    case 'no-owner':
      return <Banner trouble={trouble} tone="danger" act={{ label: t`Reload`, run: () => location.reload() }} />;
    default:
      return problem.kind satisfies never;
  }
}

/** A rebuild concerns every tab and is shown in each. */
function Rebuilding() {
  const progress = useUpkeep((state) => state.progress);
  const { route } = useRoute();
  if (progress?.task !== 'rebuild' || (route.kind === 'settings' && route.section === 'storage')) return null;
  const { done, of } = progress;
  return (
    <p className="banner text-2 line gap-5 ink-2 banner-quiet apart">
      <span>{t`Rebuilding the storage${of > 0 ? `: ${Math.min(100, Math.floor((done / of) * 100))} %` : '…'}`}</span>
      <Link href={PATHS.settings('storage')}>{t`Show`}</Link>
    </p>
  );
}

/** The storage page shows it itself. Without a connection it cannot be requested. */
function RelayRoom() {
  const isLive = useLive((state) => state.link.kind === 'live');
  const { route } = useRoute();
  return isLive && !(route.kind === 'settings' && route.section === 'storage') ? <RoomBanner /> : null;
}

export default function StorageBanners() {
  const problem = useInfo((state) => state.problem);
  return (
    <>
      {problem && <StorageBanner problem={problem} />}
      <Rebuilding />
      <RelayRoom />
    </>
  );
}

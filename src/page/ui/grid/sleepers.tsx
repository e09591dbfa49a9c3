/** How many agents sleep, and how much they will remember when they wake. */
import { useEffect } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { answeringOf } from '../../../shared/domain/lifecycle.ts';
import { t } from '../../language/t.ts';
import { arrivingOf } from '../../state/devices.ts';
import { useDevices, useHousehold, useLive, useRoost } from '../context.tsx';
import { PATHS } from '../routes.ts';
import { bytes } from '../text/sizes.ts';
import { useSleepers } from './hearth.tsx';

/** Keeps the context sizes up to date while any agent sleeps. */
export default function Sleepers() {
  const { wakeSizes } = useRoost();
  const sleepers = useSleepers({ withPaused: false });
  const cap = useHousehold((state) => state.settings.transcriptCap);
  const { status, shares } = useStore(wakeSizes.store);
  const ranUntil = useLive((state) => state.ranUntil);
  const key = sleepers.map(({ agentId }) => `${agentId} ${ranUntil.get(agentId) ?? ''}`).join();
  useEffect(() => {
    if (sleepers.length > 0) void wakeSizes.refresh(sleepers);
    // The key identifies the sleeping agents; the list itself is new on every render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [wakeSizes, key, cap]);
  const resting = useSleepers({ withPaused: true }).length - sleepers.length;
  const live = useLive((state) => state.live);
  const driven = sleepers.filter(({ agentId }) => answeringOf(agentId, live).by === 'client').length;
  const arriving = useDevices(arrivingOf);
  const late = sleepers.filter(({ agentId }) => arriving.includes(agentId)).length;
  if (sleepers.length === 0) return resting === 0 ? null : <span>{t`${resting} set to sleep`}</span>;
  const ids = new Set(sleepers.map((agent) => agent.agentId));
  const size = shares
    .filter((share) => ids.has(share.agent.agentId))
    .reduce((sum, share) => sum + share.soulBytes + share.transcriptBytes, 0);
  const known = [
    sleepers.length > driven ? t`${sleepers.length - driven} sleeping` : null,
    driven > 0 ? t`${driven} driven by programs` : null,
    resting > 0 ? t`${resting} set to sleep` : null,
    late > 0 ? t`${late} on the way` : null,
    status === 'ready' ? t`${bytes(size)} to remember` : null,
    status === 'failed' ? t`their memory cannot be read` : null,
  ];
  return (
    <>
      <span>{known.filter((part) => part !== null).join(' · ')}</span>
      <Link href={PATHS.preview}>{t`Preview the wake`}</Link>
    </>
  );
}

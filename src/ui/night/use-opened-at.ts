import { useEffect, useState } from 'react';
import { useRoost } from '../context.tsx';

/** ms out of sight, after which coming back is as good as opening the page. */
const AWAY_MS = 10 * 60_000;

/** When the person opened the page, or came back to it after a while; ms since the epoch. */
export function useOpenedAt(): number {
  const { device } = useRoost();
  const [opened, setOpened] = useState(() => device.now());
  useEffect(() => {
    let hiddenAt: number | null = null;
    const look = () => {
      if (document.hidden) {
        hiddenAt = device.now();
        return;
      }
      if (hiddenAt !== null && device.now() - hiddenAt >= AWAY_MS) setOpened(device.now());
      hiddenAt = null;
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, [device]);
  return opened;
}

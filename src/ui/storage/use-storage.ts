import { useCallback, useEffect, useState } from 'react';
import type { StorageStatus } from '../../protocol/worker.ts';
import { useRoost } from '../context.tsx';

/** ms between looks at the storage while its page is open. */
const LOOK_EVERY = 2000;

export interface Storage {
  /** null until it was looked at once. */
  readonly status: StorageStatus | null;
  /** Why the last look failed, or null. */
  readonly failed: string | null;
  look(): Promise<void>;
}

/** How the storage stands, again and again while somebody looks. */
export function useStorage(): Storage {
  const { owner, device } = useRoost();
  const [status, setStatus] = useState<StorageStatus | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const look = useCallback(
    () =>
      owner.call('storage').then(
        (now) => {
          setStatus(now);
          setFailed(null);
        },
        (error: unknown) => setFailed(error instanceof Error ? error.message : String(error)),
      ),
    [owner],
  );
  useEffect(() => {
    let stopped = false;
    let stop: () => void = () => undefined;
    const again = async () => {
      // What nobody sees is not looked at.
      if (!document.hidden) await look();
      if (!stopped) stop = device.after(LOOK_EVERY, () => void again());
    };
    void again();
    return () => {
      stopped = true;
      stop();
    };
  }, [device, look]);
  return { status, failed, look };
}

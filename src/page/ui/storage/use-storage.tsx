/** How the storage of this device stands, for the two sections that tell of it. */
import { errorText } from '../../state/ports.ts';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { t } from '../../language/t.ts';
import type { StorageStatus } from '../../../shared/protocol/worker.ts';
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
        (error: unknown) => setFailed(errorText(error)),
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

/** Did a check find something wrong? */
export const faulty = ({ volumes }: StorageStatus): boolean =>
  volumes.some(({ state, faults }) => state === 'damaged' || faults.length > 0);

export function Block({ title, state, children }: { title: string; state?: 'good' | 'warn'; children: ReactNode }) {
  return (
    <section className="store-block" aria-label={title}>
      <h3>
        {state && <i className="store-dot" data-state={state} aria-hidden="true" />}
        <span>{title}</span>
      </h3>
      {children}
    </section>
  );
}

/** That it was not looked at yet, or could not be. */
export function NotRead({ storage: { status, failed, look } }: { storage: Storage }) {
  return (
    <>
      {failed !== null && (
        <div className="wrong-note" role="alert">
          <p>
            <strong>{t`The storage could not be looked at.`}</strong> {failed}{' '}
            {status && <span>{t`What stands below is from before.`}</span>}
          </p>
          <button type="button" className="ghost" onClick={() => void look()}>{t`Look again`}</button>
        </div>
      )}
      {!status && failed === null && <p className="settings-note" role="status">{t`Looking…`}</p>}
    </>
  );
}

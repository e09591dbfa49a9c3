import { useCallback, useEffect, useState } from 'react';
import type { StorageStatus } from '../../protocol/worker.ts';
import { useInfo, useRoost } from '../context.tsx';
import { storageTrouble } from '../text/reasons.ts';
import { bytes, count, plural } from '../text/sizes.ts';

/** What is kept on this device, how safely, and how much room it takes. */
export function StorageSection() {
  const { owner, device, notices } = useRoost();
  const problem = useInfo((state) => state.problem);
  const [status, setStatus] = useState<StorageStatus | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const read = useCallback(
    () =>
      owner.call('storage').then(setStatus, (error: unknown) => {
        setFailed(error instanceof Error ? error.message : String(error));
      }),
    [owner],
  );
  useEffect(() => void read(), [read]);

  if (failed !== null)
    return (
      <p className="settings-note" role="alert">
        The storage could not be looked at: {failed}
      </p>
    );
  if (!status) return <p className="settings-note">Looking…</p>;

  const ask = async () => {
    const granted = await device.persist();
    if (granted) notices.info('The browser will keep what is stored here.');
    else notices.error('The browser did not promise to keep it. It often does once a page is bookmarked, installed, or used for a while.');
    await read();
  };
  const { persisted, usedBytes, quotaBytes, journalRows, documents, volumes } = status;
  return (
    <>
      {problem && (
        <p className="settings-note" role="alert">
          <strong>{storageTrouble(problem).title}.</strong> {storageTrouble(problem).advice}
        </p>
      )}
      <dl className="storage">
        <dt>Kept for good</dt>
        <dd>
          {persisted === null ? 'The browser does not say' : persisted ? 'Yes: the browser keeps it until you clear it' : 'Not promised: the browser may clear it when the disk runs full'}
          {persisted !== true && (
            <button type="button" className="ghost" onClick={() => void ask()}>
              Ask the browser to keep it
            </button>
          )}
        </dd>
        <dt>Used</dt>
        <dd>{usedBytes === null ? 'The browser does not say' : `${bytes(usedBytes)}${quotaBytes === null ? '' : ` of ${bytes(quotaBytes)}`}`}</dd>
        <dt>Documents</dt>
        <dd>
          {count(documents)} in {plural(volumes.length, 'volume')}
        </dd>
        <dt>On the way into the ledger</dt>
        <dd>{journalRows === 0 ? 'Nothing: all is filed' : `${plural(journalRows, 'document')}, safe in the journal`}</dd>
      </dl>
    </>
  );
}

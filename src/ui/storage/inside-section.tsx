/** For who builds Roost: the journal, the volumes and their checks. */
import { count, plural } from '../text/sizes.ts';
import { useNow } from '../use-now.ts';
import { Block, faulty, NotRead, useStorage } from './use-storage.tsx';
import { Volumes } from './volumes.tsx';
import './storage.css';

export function InsideSection() {
  const storage = useStorage();
  const { status } = storage;
  const now = useNow();
  return (
    <div className="store">
      <NotRead storage={storage} />
      {status && (
        <>
          <Block title="On the way into the ledger">
            <p>
              {status.journalRows === 0
                ? 'Nothing: all is filed.'
                : `${plural(status.journalRows, 'document')}, safe in the journal; ${count(status.journalRows) === '1' ? 'it is' : 'they are'} filed by and by.`}
            </p>
          </Block>
          <Block title="Volumes" {...(faulty(status) ? { state: 'warn' as const } : {})}>
            <Volumes volumes={status.volumes} now={now} />
          </Block>
        </>
      )}
    </div>
  );
}

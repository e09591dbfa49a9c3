/** For who builds Roost: the journal, the volumes and their checks. */
import { t } from '../../language/t.ts';
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
          <Block title={t`On the way into the volumes`}>
            <p>
              {status.journalRows === 0
                ? t`Nothing: all is filed.`
                : t`${plural(status.journalRows, 'entry', 'entries')}, safe in the journal; ${count(status.journalRows) === '1' ? t`it is` : t`they are`} filed by and by.`}
            </p>
          </Block>
          <Block title={t`Volumes`} {...(faulty(status) ? { state: 'warn' as const } : {})}>
            <Volumes volumes={status.volumes} now={now} />
          </Block>
        </>
      )}
    </div>
  );
}

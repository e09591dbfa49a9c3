/** For developers of Roost: the journal, the volumes and their checks. */
import { retold, t } from '../../language/t.ts';
import type { VolumeStatus } from '../../../shared/protocol/worker.ts';
import { WarnIcon } from '../parts/icons.tsx';
import { count, plural } from '../text/sizes.ts';
import { clockTime, dayWithin } from '../text/time.ts';
import { useNow } from '../hooks.ts';
import { Block, faulty, NotRead, useStorage } from './storage-section.tsx';
import './storage.css';

/** Volumes shown at first. The rest are collapsed. */
const SHOWN = 3;

const STATES: Record<VolumeStatus['state'], string> = {
  writing: t`being written`,
  sealed: t`full, sealed`,
  damaged: t`damaged, kept`,
};
const isWrong = (volume: VolumeStatus) => volume.state === 'damaged' || volume.faults.length > 0;
const when = (time: number | null, now: number) =>
  time === null ? t`not checked yet` : t`checked ${dayWithin(time, now)} ${clockTime(time)}`;

function Volume({ volume, now }: { volume: VolumeStatus; now: number }) {
  const wrong = isWrong(volume);
  return (
    <li className="volume" data-state={wrong ? 'damaged' : volume.state}>
      {wrong && <WarnIcon />}
      <span className="volume-name">{volume.name}</span>
      <span className="volume-about">
        {STATES[volume.state]} · {plural(volume.documents, 'entry', 'entries')} · {when(volume.checkedAt, now)}
      </span>
      {volume.faults.length > 0 && (
        <ul className="volume-faults">
          {volume.faults.map((fault) => (
            <li key={fault}>{retold(fault)}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

function summary(volumes: readonly VolumeStatus[], now: number): string {
  const documents = volumes.reduce((sum, volume) => sum + volume.documents, 0);
  const checks = volumes.flatMap((volume) => volume.checkedAt ?? []);
  const oldest = checks.length < volumes.length ? null : Math.min(...checks);
  const wrong = volumes.filter(isWrong).length;
  const state =
    wrong > 0
      ? t`${plural(wrong, 'volume')} with faults`
      : checks.length === 0
        ? t`none checked yet`
        : checks.length < volumes.length
          ? t`${count(checks.length)} checked, nothing wrong`
          : t`all checked, nothing wrong`;
  return `${plural(volumes.length, 'volume')}, ${plural(documents, 'entry', 'entries')}: ${state}${oldest === null || wrong > 0 ? '' : t`, the longest ago ${dayWithin(oldest, now)} ${clockTime(oldest)}`}.`;
}

/** The volumes and their checks. Faulty ones are visible, a long list is collapsed. */
function Volumes({ volumes, now }: { volumes: readonly VolumeStatus[]; now: number }) {
  const wrong = volumes.filter(isWrong);
  const fine = volumes.filter((volume) => !isWrong(volume));
  const list = (rows: readonly VolumeStatus[]) => (
    <ul className="volumes">
      {rows.map((volume) => (
        <Volume key={volume.name} volume={volume} now={now} />
      ))}
    </ul>
  );
  if (volumes.length === 0) return <p>{t`No volume yet: the first one comes with the first entry that is filed.`}</p>;
  return (
    <>
      <p>{summary(volumes, now)}</p>
      {wrong.length > 0 && (
        <>
          {list(wrong)}
          <p className="setting-hint">{t`A damaged volume is kept as it is. What it held is taken from the journal, the views and other copies where they have it: Rebuild does that.`}</p>
        </>
      )}
      {fine.length > 0 && fine.length <= SHOWN && list(fine)}
      {fine.length > SHOWN && (
        <details className="volumes-more">
          <summary>{wrong.length > 0 ? t`The other ${count(fine.length)}` : t`Each volume`}</summary>
          {list(fine)}
        </details>
      )}
    </>
  );
}

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

import { Link } from 'wouter';
import type { ExportNote } from '../../protocol/worker.ts';
import { PATHS } from '../places.ts';
import { plural } from '../text/sizes.ts';
import { clockTime, dayWithin, duration } from '../text/time.ts';

/** A copy older than this is worth another one: 30 days, in ms. */
const OLD_AFTER = 30 * 24 * 60 * 60 * 1000;

/** When a whole copy last left this device, and a nudge where that is long ago or never was. */
export function LastCopy({ note, now }: { note: ExportNote | null; now: number }) {
  const due = note === null || now - note.time > OLD_AFTER;
  return (
    <>
      <p>
        {note === null ? (
          <>
            <strong>Never: no copy has left this device.</strong> What the relay keeps is sealed with a key that lies on
            your devices. If this browser’s data is cleared or the disk breaks, and there is no other device and no
            phrase, your agents are gone. One file keeps them.
          </>
        ) : (
          <>
            <strong>
              {dayWithin(note.time, now).replace(/^./, (letter) => letter.toUpperCase())} {clockTime(note.time)}
            </strong>
            : {plural(note.documents, 'document')}, {note.sealed ? 'under a passphrase' : 'without a passphrase'}.
            {due ? ` That is ${duration(now - note.time)} ago: what came since is only here.` : ''}
          </>
        )}
      </p>
      <Link className={due ? 'solid solid-link' : 'ghost'} href={PATHS.settings('copies')}>
        {note === null ? 'Make the first copy' : 'Make a copy'}
      </Link>
    </>
  );
}

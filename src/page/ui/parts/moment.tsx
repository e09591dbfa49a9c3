import { useState, type ReactNode } from 'react';
import { fullTime } from '../text/time.ts';
import './moment.css';

interface Props {
  /** ms since the epoch */
  readonly time: number;
  /** It stands among many, and the keyboard comes to its exact time by another way. */
  readonly passedBy?: boolean;
  /** As it is said at first: how long ago it was, say. */
  readonly children: ReactNode;
}

/**
 * When something was: exactly on pointing, and once it is pressed, which is all that a finger can.
 */
export function Moment({ time, passedBy = false, children }: Props) {
  const [exact, setExact] = useState(false);
  return (
    <time dateTime={new Date(time).toISOString()} title={fullTime(time)}>
      <button type="button" className="moment" tabIndex={passedBy ? -1 : 0} onClick={() => setExact(!exact)}>
        {exact ? fullTime(time) : children}
      </button>
    </time>
  );
}

import { useState, type ReactNode } from 'react';
import { fullTime } from '../text/time.ts';
import './moment.css';

interface Props {
  /** ms since the epoch */
  readonly time: number;
  /** One of many. Keyboard users find the exact time elsewhere. */
  readonly passedBy?: boolean;
  /** The initial text, such as how long ago it was. */
  readonly children: ReactNode;
}

/** A time that becomes exact on hover, and on a press, for touch screens. */
export function Moment({ time, passedBy = false, children }: Props) {
  const [exact, setExact] = useState(false);
  return (
    <time className="ink-3 regular text-1" dateTime={new Date(time).toISOString()} title={fullTime(time)}>
      <button
        type="button"
        className="moment plain-button no-pad"
        tabIndex={passedBy ? -1 : 0}
        onClick={() => setExact(!exact)}
      >
        {exact ? fullTime(time) : children}
      </button>
    </time>
  );
}

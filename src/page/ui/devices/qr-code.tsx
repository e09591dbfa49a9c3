import { useMemo } from 'react';
import { t } from '../../language/t.ts';
import { useNow } from '../use-now.ts';
import { modulesOf, pathOf } from './qr.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** `4:07` */
const clock = (ms: number) =>
  `${Math.floor(ms / MINUTE)}:${String(Math.floor((ms % MINUTE) / SECOND)).padStart(2, '0')}`;

/** How long is left until `until` (ms since the epoch); 0 once it is over. */
export function useLeft(until: number): number {
  const now = useNow(SECOND);
  return Math.max(0, until - now);
}

/**
 * How long a code is good for. Its last minute is said once to those who listen; the seconds are
 * not.
 */
export function Countdown({ left }: { left: number }) {
  return (
    <p className="countdown">
      {t`Good for`}{' '}
      <span role="timer" aria-live="off">
        {clock(left)}
      </span>
      <span className="visually-hidden" role="status">
        {left <= MINUTE && left > 0 ? t`Less than a minute is left.` : ''}
      </span>
    </p>
  );
}

/** A QR code, dark on light in both themes: that is what cameras look for. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const modules = modulesOf(text);
    return { size: modules.length, path: pathOf(modules) };
  }, [text]);
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#0a0c14" />
    </svg>
  );
}

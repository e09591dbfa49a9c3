import { useId } from 'react';
import './used-bar.css';
import './progress.css';

interface UsedBarProps {
  /** The used part, 0 to 1. */
  readonly share: number;
  /** For screen readers; left out if text beside the bar says the same. */
  readonly meter?: { readonly label: string; readonly now: number; readonly most: number; readonly text: string };
}

/** The used part of a day's limit. */
export function UsedBar({ share, meter }: UsedBarProps) {
  const spoken = meter
    ? {
        role: 'meter',
        'aria-label': meter.label,
        'aria-valuemin': 0,
        'aria-valuemax': meter.most,
        'aria-valuenow': Math.min(meter.now, meter.most),
        'aria-valuetext': meter.text,
      }
    : { 'aria-hidden': true };
  return (
    <div className="used-bar" data-full={share >= 1} {...spoken}>
      <i style={{ '--share': share }} />
    </div>
  );
}

interface Props {
  /** The activity in words. */
  readonly label: string;
  readonly done: number;
  /** 0: unknown yet. */
  readonly of: number;
  /** The progress in words, beside the bar. */
  readonly text?: string;
}

/** The progress of long work. */
export function Progress({ label, done, of, text }: Props) {
  const id = useId();
  const isMeasured = of > 0;
  const percent = isMeasured ? Math.min(100, Math.floor((done / of) * 100)) : 0;
  return (
    <div className="progress">
      <div className="progress-line">
        <span id={id}>{label}</span>
        <span className="progress-figure">{isMeasured ? `${percent} %` : ''}</span>
      </div>
      <progress aria-labelledby={id} {...(isMeasured ? { value: Math.min(done, of), max: of } : {})} />
      {text && <p className="progress-text">{text}</p>}
    </div>
  );
}

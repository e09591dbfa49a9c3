import { useId } from 'react';
import './used-bar.css';
import './progress.css';

interface UsedBarProps {
  /** How much of it is used, 0 to 1. */
  readonly share: number;
  /** For those who listen; left out where words beside the bar say the same. */
  readonly meter?: { readonly label: string; readonly now: number; readonly most: number; readonly text: string };
}

/** How much of a day's limit is used. */
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
  /** What is being done, in words. */
  readonly label: string;
  readonly done: number;
  /** 0: not known yet. */
  readonly of: number;
  /** How far it is, in words; beside the bar. */
  readonly text?: string;
}

/** How far something long is. */
export function Progress({ label, done, of, text }: Props) {
  const id = useId();
  const known = of > 0;
  const percent = known ? Math.min(100, Math.floor((done / of) * 100)) : 0;
  return (
    <div className="progress">
      <div className="progress-line">
        <span id={id}>{label}</span>
        <span className="progress-figure">{known ? `${percent} %` : ''}</span>
      </div>
      <progress aria-labelledby={id} {...(known ? { value: Math.min(done, of), max: of } : {})} />
      {text && <p className="progress-text">{text}</p>}
    </div>
  );
}

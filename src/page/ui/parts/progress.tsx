import { useId } from 'react';
import './progress.css';

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

import './used-bar.css';

interface Props {
  /** How much of it is used, 0 to 1. */
  readonly share: number;
  /** For those who listen; left out where words beside the bar say the same. */
  readonly meter?: { readonly label: string; readonly now: number; readonly most: number; readonly text: string };
}

/** How much of a day's limit is used. */
export function UsedBar({ share, meter }: Props) {
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

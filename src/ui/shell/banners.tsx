import { useActions, useInfo, useLive } from '../context.tsx';
import { WarnIcon } from '../parts/icons.tsx';
import { linkTrouble, storageTrouble, type Trouble } from '../text/reasons.ts';
import './banners.css';

function Banner({ trouble, tone, act }: { trouble: Trouble; tone: 'danger' | 'warn'; act?: { label: string; run: () => void } }) {
  return (
    <div className="banner" data-tone={tone} role="alert">
      <WarnIcon />
      <p>
        <strong>{trouble.title}.</strong> {trouble.advice}
      </p>
      {act && (
        <button type="button" className="ghost" onClick={act.run}>
          {act.label}
        </button>
      )}
    </div>
  );
}

/** What stands in the way of everything, with what to do: across the page, until it is gone. */
export function Banners() {
  const actions = useActions();
  const link = useLive((state) => state.link);
  const problem = useInfo((state) => state.problem);
  const lost = linkTrouble(link);
  return (
    <>
      {problem && <Banner trouble={storageTrouble(problem)} tone="danger" act={{ label: 'Reload', run: () => location.reload() }} />}
      {lost && <Banner trouble={lost} tone="warn" act={{ label: 'Try now', run: () => void actions.reconnect() }} />}
    </>
  );
}

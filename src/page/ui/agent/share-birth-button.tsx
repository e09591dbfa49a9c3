import { lazy, Suspense, useState } from 'react';
import type { Agent } from '../../../shared/domain/agent.ts';
import { t } from '../../language/t.ts';

const ShareBirth = lazy(() => import('./share-birth.tsx'));

/** Opens the picture of this agent's birth. The lead was not born, and has none. */
export function ShareBirthButton({ agent }: { agent: Agent }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="link-button text-start"
        onClick={() => setOpen(true)}
      >{t`Share this birth`}</button>
      {open && (
        <Suspense fallback={null}>
          <ShareBirth agent={agent} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
